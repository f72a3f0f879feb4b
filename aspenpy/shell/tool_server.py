"""A server of the Model Context Protocol (https://modelcontextprotocol.io): programs ask what the commands answer.

Each call is a command of its own with `--format json` in a process of its own, so that it has the limits of that
command besides those here: time, memory, length of the answer, and no file outside of one folder.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

from aspenpy.record import Record
from aspenpy.version import VERSION

SECONDS = 60
MEMORY = 4 << 30
LONGEST = 1 << 20  # characters of an answer
MOST_NAMES = 50

PLAIN_NAME = re.compile(r"[A-Za-z0-9_]{1,100}\Z")
AXIS = re.compile(r"[A-Za-z_][A-Za-z0-9_.]{0,200}=[^/\\]{1,1000}\Z")

START = """
import sys
most = int(sys.argv.pop(1))
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
except (ImportError, ValueError, OSError):
    pass
from aspenpy.__main__ import main
sys.exit(main())
"""

Settings = dict[str, float | str]
Names = list[str]


class CommandTools(Record):
    """The tools, which read models and machines in a folder and in the library."""

    folder: Path

    def eval(self, model: str, machine: str, settings: Settings | None = None, kernel: str | None = None) -> Any:
        """Predict the runtime of an application on a machine, by kernel and resource, with the error to expect."""
        words = self._words_of_case("eval", model, [machine], settings)
        return self._run_command([*words, *([f"--kernel={_require_name(kernel)}"] if kernel else [])])

    def compare(self, model: str, machines: Names, settings: Settings | None = None) -> Any:
        """Compare machines for one application: runtimes, the fastest, and which cannot be told apart from it."""
        return self._run_command(self._words_of_case("compare", model, machines, settings))

    def explain(self, model: str, machine: str, settings: Settings | None = None, kernel: str | None = None) -> Any:
        """Explain a prediction step by step, from the line in the model to the seconds; of one kernel, or of all."""
        words = self._words_of_case("explain", model, [machine], settings)
        return self._run_command([*words, *([_require_name(kernel)] if kernel else [])])

    def sweep(
        self, model: str, machine: str, over: Names, metrics: Names | None = None, settings: Settings | None = None
    ) -> Any:
        """Evaluate metrics (runtime, energy, flops, ...) at many points; `over` are axes such as `n=1e3..1e6:log:5`."""
        for axis in over:
            if not AXIS.match(axis) or axis.startswith("machine="):
                raise ValueError(f"an axis is NAME=LOW..HIGH, NAME=LOW..HIGH:log:5 or NAME=1,2,4, not `{axis}`")
        words = self._words_of_case("sweep", model, [machine], settings)
        named = [f"--metric={','.join(map(_require_name, metrics))}"] if metrics else []
        return self._run_command([*words, *(f"--over={axis}" for axis in over), *named])

    def check(self, models: Names) -> Any:
        """Check models and machines of the folder or the library for errors and likely mistakes."""
        return self._run_command(["check", *map(self._require_model, models)])

    def list(self, kind: Literal["apps", "machines", "networks"]) -> Any:
        """List the applications, machines or networks of the library."""
        return self._run_command(["list", _require_name(kind)])

    def _words_of_case(self, command: str, model: str, machines: Sequence[str], settings: Settings | None) -> Names:
        if not 0 < len(machines) <= MOST_NAMES:
            raise ValueError(f"expected 1 to {MOST_NAMES} machines, not {len(machines)}")
        named = (f"--machine={self._require_model(machine)}" for machine in machines)
        stated = (f"--set={_require_name(name, '._:')}={value}" for name, value in (settings or {}).items())
        return [command, self._require_model(model), *named, *stated]

    def _require_model(self, name: str) -> str:
        """The name, of the library or of a file in the folder. Raises ValueError."""
        if PLAIN_NAME.match(name):
            return name
        path = Path(os.path.realpath(self.folder / name)) if "\0" not in name else self.folder
        if not path.is_relative_to(os.path.realpath(self.folder)) or name.startswith("-"):
            raise ValueError(f"`{name}` is neither a name of the library nor a file in the folder of this server")
        return str(path)

    def _run_command(self, words: Sequence[str]) -> Any:
        """The JSON that a command answers with. Raises ValueError with what it says instead."""
        line = [sys.executable, "-c", START, str(MEMORY), *words, "--format", "json"]
        environment = {**os.environ, "NO_COLOR": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        try:
            ran = subprocess.run(
                line, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                timeout=SECONDS, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise ValueError(f"`aspenpy {words[0]}` takes longer than {SECONDS} s: ask for less") from None
        if len(ran.stdout) > LONGEST:
            raise ValueError(f"the answer has {len(ran.stdout):,} characters, {LONGEST:,} at most: ask for less")
        try:
            answer = json.loads(ran.stdout)
        except ValueError:
            raise ValueError(ran.stderr.strip()[-LONGEST:] or f"`aspenpy {words[0]}` gave no answer") from None
        return answer


def _require_name(text: str | None, more: str = "._") -> str:
    """A name of letters, digits and `more`. Raises ValueError."""
    if not text or text.startswith("-") or not all(sign.isalnum() or sign in more for sign in text):
        raise ValueError(f"`{text}` is no name")
    return text


TOOLS = ("eval", "compare", "explain", "sweep", "check", "list")


def make_server(folder: Path) -> Any:
    """The server, whose tools are those of `CommandTools`; their arguments and descriptions follow from the methods."""
    from mcp.server.mcpserver import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError

    def as_tool(method: Callable[..., Any]) -> Callable[..., Any]:
        from functools import wraps

        @wraps(method)
        def tool(*arguments: Any, **options: Any) -> Any:
            try:
                return method(*arguments, **options)
            except ValueError as error:
                raise ToolError(str(error)) from None

        return tool

    about = "Predict runtime and energy of applications on machines from models in the Aspen language."
    server = MCPServer("aspenpy", instructions=about, version=VERSION)
    tools = CommandTools(folder)
    for name in TOOLS:
        server.add_tool(as_tool(getattr(tools, name)), name=name, structured_output=False)
    return server
