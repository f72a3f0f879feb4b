"""Meaning: what a model says once it is read: what is wrong with it, its values, and where its time goes.

It is worked out in another process (`MeaningWorker`), whose answers are plain values: tuples, texts and numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from fractions import Fraction
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess

from aspenpy.answers.checks.files import check_source
from aspenpy.answers.profile import profile
from aspenpy.language import nodes
from aspenpy.language.diagnostics import AspenError, Diagnostic
from aspenpy.language.files import Reader
from aspenpy.language.parser import parse_file
from aspenpy.language.source import Source, Span
from aspenpy.models.application.load import link_application
from aspenpy.models.application.model import Application
from aspenpy.models.library import find_source
from aspenpy.models.machine.load import read_machine as load_machine_source
from aspenpy.models.machine.model import Machine
from aspenpy.models.machine.variants import write_out_variants
from aspenpy.record import NamedTuple
from aspenpy.report import application as application_report
from aspenpy.report import machine as machine_report
from aspenpy.report.listings import Declared, range_text, value_text
from aspenpy.tables.numbers import Amount, format_setting_with_unit, format_share, seconds


class FileStretch(NamedTuple):
    """A stretch of a file, from `start` to `end`."""

    path: str
    start: int
    end: int


class Remark(NamedTuple):
    """A diagnostic: `severity` is error, warning or note; `related` are other places with what they are."""

    place: FileStretch
    severity: str
    code: str
    message: str
    hint: str
    related: tuple[tuple[FileStretch, str], ...]


class KnownFact(NamedTuple):
    """Known facts about a name: its value in words, with `computed` for one that is not written so, and its range."""

    value: str
    computed: bool
    range: str


class Lens(NamedTuple):
    """Times of the blocks of a kernel, in the order written, and of the kernel itself."""

    kernel: str
    whole: str
    blocks: tuple[str, ...]


class ResourceOffer(NamedTuple):
    """A resource that a machine offers: the component, the seconds of an amount as a formula, and its traits."""

    component: str
    time: str
    traits: tuple[str, ...]


class MeaningRequest(NamedTuple):
    """A file to be understood, texts that are not on the disk by their paths, and the machine that was chosen."""

    path: str
    text: str
    unsaved: Mapping[str, str]
    machine: str | None


class FileMeaning(NamedTuple):
    """The meaning of a file. `sound` says whether the model could be loaded: without, there are remarks and no more."""

    remarks: tuple[Remark, ...]
    sound: bool
    known: Mapping[str, KnownFact]
    lenses: tuple[Lens, ...]
    offers: Mapping[str, ResourceOffer]
    machine_path: str | None
    trouble: str


MOST_ENTRIES = 8  # kernels without a caller whose runs are worked out, in a model without `main`

NOTHING = FileMeaning((), False, {}, (), {}, None, "")


def meaning_of(question: MeaningRequest) -> FileMeaning:
    """Everything that is to be said about a file."""
    reader = Reader(unsaved=question.unsaved)
    machine, trouble = _machine(question)
    source = Source(question.text, question.path, question.path)
    try:
        remarks = check_source(source, None, reader, part_allowed=True)
    except AspenError as error:
        remarks = list(error.diagnostics)
    shown = tuple(_remark(item, question.path) for item in remarks)
    offers = _offers(machine) if machine else {}
    place = machine.root.span.resolve().source.path if machine and machine.root.span else None
    result = FileMeaning(shown, False, {}, lenses=(), offers=offers, machine_path=place, trouble=trouble)
    try:
        model = _model(Source(question.text, question.path, question.path), reader)
    except AspenError:
        return result
    lenses: tuple[Lens, ...] = ()
    if isinstance(model, Application) and machine is not None:
        with suppress(AspenError):  # a model that does not run there has no times
            lenses = tuple(_lenses(model, machine, question.path))
    return result._replace(sound=True, known=_known_values(model), lenses=lenses)


def _model(source: Source, reader: Reader) -> Application | Machine:
    """The model in a source; one that is to be included need not be a whole machine."""
    node = parse_file(source, reader)
    if isinstance(node, nodes.Application):
        return link_application(node, source, [], reader)
    return Machine(write_out_variants(node))


def _machine(question: MeaningRequest) -> tuple[Machine | None, str]:
    """The machine that was chosen; what is wrong with the choice, if anything."""
    if not question.machine:
        return None, ""
    reader = Reader(unsaved=question.unsaved)
    try:
        return load_machine_source(find_source("machines", question.machine, reader), reader), ""
    except AspenError as error:
        return None, error.diagnostics[0].message


# -- what is wrong ---------------------------------------------------------------------------------


def _remark(item: Diagnostic, path: str) -> Remark:
    related = tuple((_stretch(other.span, path), other.label) for other in item.related)
    message = "\n".join([item.message, *item.parents])
    return Remark(
        _stretch(item.span, path), item.severity, item.code, message=message, hint=item.hint or "", related=related
    )


def _stretch(span: Span | None, path: str) -> FileStretch:
    """A place; that of a diagnostic without one is the beginning of the file."""
    if span is None:
        return FileStretch(path, 0, 0)
    source, start, end = span.resolve()
    return FileStretch(source.path or path, start, end)


# -- values ----------------------------------------------------------------------------------------


def _known_values(model: Application | Machine) -> dict[str, KnownFact]:
    """Parameters, properties under their full names, data."""
    if isinstance(model, Machine):
        return _describe_members([*machine_report.parameters_of(model), *machine_report.properties_of(model)], {})
    members = {name: node.members for name, node in model.enums.items()}
    known = _describe_members(application_report.parameters_of(model), members)
    sizes = application_report.sizes_of(model)
    return known | {
        name: KnownFact(format_setting_with_unit(Amount(size, "B")), True, "")
        for name, size, _ in sizes
        if size is not None
    }


def _describe_members(declarations: Iterable[Declared], members: Mapping[str, tuple[str, ...]]) -> dict[str, KnownFact]:
    known = {}
    for item in declarations:
        value = item.node.value
        text = value_text(item) or ""
        enum = members.get(item.node.member_of or "", ()) if isinstance(item.node, nodes.Parameter) else ()
        if isinstance(item.value, int) and 0 <= item.value < len(enum):
            text = enum[item.value]
        elif isinstance(item.value, Fraction) and not item.unit and not isinstance(value, nodes.Number):
            text = f"{float(item.value):.4g}"
        written = "" if value is None or value.span is None else " ".join(value.span.text().split())
        known[item.name] = KnownFact(text, bool(text) and text != written, range_text(item) or "")
    return known


# -- on a machine ----------------------------------------------------------------------------------


def _offers(machine: Machine) -> dict[str, ResourceOffer]:
    """The cost of each resource of a machine, on the first component that offers it."""
    offers: dict[str, ResourceOffer] = {}
    for node in machine.node.components:
        component = machine.components[node.name]
        for name, resource in component.resources.items():
            written = resource.span.text() if resource.span else ""
            offers.setdefault(name, ResourceOffer(component.name, " ".join(written.split()), tuple(resource.traits)))
    return offers


def _lenses(application: Application, machine: Machine, path: str) -> Iterable[Lens]:
    """Times of the kernels of a file, and of their blocks, on the machine."""
    times: dict[str, list[tuple[int, str]]] = {}
    whole: dict[str, str] = {}
    entries = application.entry_kernels()[:MOST_ENTRIES]
    for entry in entries:
        profiled = profile(application, machine, kernel=entry)
        where = f"on {machine.name}" + ("" if len(entries) == 1 else f", run of {entry}")
        for use in profiled.kernels:
            if use.name in application.kernels:
                part = format_share(use.inclusive / profiled.runtime) if profiled.runtime else "0 %"
                bound = f", bound by {use.bound_by}" if use.bound_by else ""
                whole.setdefault(use.name, f"{seconds(use.inclusive)} ({part}) {where}{bound}")
        for block in profiled.blocks:
            place = block.span.resolve() if block.span else None
            if place is not None and place.source.path == path and block.kernel in application.kernels:
                text = f"{format_share(block.share)} of the runtime, {seconds(block.time)} {where}"
                times.setdefault(block.kernel, []).append((place.start, text))
    for name, text in whole.items():
        blocks = dict(sorted(times.get(name, []), reverse=True))
        yield Lens(name, text, tuple(blocks[start] for start in sorted(blocks)))


LONGEST = 30.0  # seconds that one model is worked on; then the process is ended, and a new one begun for the next


class MeaningWorker:
    """Answers the questions of one thread in their order, in a process of its own."""

    def __init__(self, longest: float = LONGEST) -> None:
        self.longest = longest
        self._process: SpawnProcess | None = None
        self._connection: Connection | None = None

    def answer(self, question: MeaningRequest) -> FileMeaning:
        """The meaning of the file; where that takes too long or ends the process, what went wrong."""
        connection = self._start()
        try:
            connection.send(question)
            if connection.poll(self.longest):
                answer: FileMeaning = connection.recv()
                return answer
            trouble = f"the model was not checked: it takes more than {self.longest:g} s"
        except (EOFError, OSError):
            trouble = "the model was not checked: the process that does so has ended"
        self.stop()
        return NOTHING._replace(trouble=trouble)

    def stop(self) -> None:
        """Ends the process, whatever it does. Another thread may call this, which ends a question that is worked on."""
        process, connection = self._process, self._connection
        self._process = self._connection = None
        if process is not None and connection is not None:
            process.kill()
            process.join()
            connection.close()

    def _start(self) -> Connection:
        if self._connection is None or self._process is None or not self._process.is_alive():
            self.stop()
            context = get_context("spawn")
            connection, theirs = context.Pipe()
            process = context.Process(target=work, args=(theirs,), daemon=True)
            process.start()
            theirs.close()
            # Kept once it runs: `stop`, which another thread may call meanwhile, can end no process that has not begun.
            self._process, self._connection = process, connection
        return self._connection


def work(connection: Connection) -> None:
    """Answers questions until nobody asks any more."""
    while True:
        try:
            question = connection.recv()
        except EOFError:
            return
        try:
            answer = meaning_of(question)
        except (ArithmeticError, LookupError, MemoryError, RecursionError, TypeError, ValueError) as error:
            answer = NOTHING._replace(trouble=f"the model was not checked: {type(error).__name__}")
        connection.send(answer)
