"""`python -m aspenpy` is the command `aspenpy`."""

import atexit
import gc
import os
import sys
from _signal import SIG_DFL, SIGINT, default_int_handler, getsignal, signal  # type: ignore[import-not-found]

OBJECTS = 100_000
"""New ones after which Python looks for garbage. A short command makes no more, and nearly all of them stay."""


def main() -> int:
    """The command, which Ctrl-C ends quietly from its first moment on: while modules are imported, and once its work
    is done, by the system's own means; in between as `cli.main` says. Returns its status only where `leave` does."""
    gc.set_threshold(OBJECTS)
    interruptible = getsignal(SIGINT) is default_int_handler  # not where the shell has it ignored
    if interruptible:
        signal(SIGINT, SIG_DFL)
    from aspenpy.shell.failure import INTERRUPTED
    from aspenpy.shell.main import main as run

    try:
        if interruptible:
            signal(SIGINT, default_int_handler)
        status = run()
        if interruptible:
            signal(SIGINT, SIG_DFL)
    except KeyboardInterrupt:
        return INTERRUPTED
    leave(status)
    return status


def leave(status: int) -> None:
    """Ends the process, once all is written and what others registered for its end has run, without taking apart what
    it made: 4 ms of 75. Returns where threads may run, or where writing fails: Python then ends it as ever."""
    if "threading" in sys.modules or sys.stdout is None or sys.stderr is None:
        return
    try:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        return
    os._exit(status)


if __name__ == "__main__":
    sys.exit(main())
