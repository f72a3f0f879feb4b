"""Layout of Fortran for a run: in front of each statement a call on a line of its own, of which gcov counts how often
it ran.

gcov's counts of the statements themselves would not do: a line that has a loop of its own, as an assignment of arrays,
is counted with that, and the end of a loop is counted at its last statement.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Any

from aspenpy.extract.fortran_nodes import ReaderItem, Syntax, list_arguments, type_name
from aspenpy.extract.fortran_operations import close_parentheses, find_mask
from aspenpy.extract.fortran_text import FortranText
from aspenpy.language.source import Span
from aspenpy.record import NamedTuple

MODULE = "aspenpy_recorder"
"""The module that a counted program unit uses, and those that it contains."""

MARK = "call aspenpy_mark()"

UNCOUNTED = frozenset("Format_Stmt Data_Stmt Entry_Stmt Comment Include_Stmt Contains_Stmt Namelist_Stmt str".split())
PROCEDURES = ("Subroutine_Subprogram", "Function_Subprogram", "Main_Program", "Main_Program0")
PLAIN_INSIDE = ("Where_Construct", "Forall_Construct")
"""Constructs in which there is no call of a subroutine."""

_STATEMENT_LABEL = re.compile(r"\A\s*+(\d++)")
_JUNCTION = re.compile(r"\.(?:and|or)\.", re.IGNORECASE)
_ELSE = re.compile(r"\s*+else(?=\s*+if\b)", re.IGNORECASE)
_WHILE = re.compile(r"\bdo\b(?:[ \t]++\d++)?[ \t]*+,?[ \t]*+(?=while[ \t]*+\()", re.IGNORECASE)
_CLAUSE = re.compile(r"\b(?:collapse|ordered)\s*+\(\s*+(\d++)\s*+\)", re.IGNORECASE)
_OPENING_DIRECTIVE = re.compile(r"\s*+[!cC*]\$(?:omp|acc)\s*+(?!end\b)", re.IGNORECASE)
_CONTINUATION = re.compile(r"[ \t]*+(?:&[ \t]*+(?:![^\n]*+)?\n(?:[ \t]*+(?:![^\n]*+)?\n)*+[ \t]*+&?+)?+")
_FIXED_CONTINUATION = re.compile(r"[ \t]*+(?:\n(?:[cC*!][^\n]*+\n)*+ {5}[^ 0\n][ \t]*+)?+")


class Mark(NamedTuple):
    """A mark and the statement that it counts."""

    span: Span
    number: int


class MaskValue(NamedTuple):
    """A mask: Fortran that gives all its outcomes in front of the `statement` with all masks around it, or the share
    of the elements left by these for which it holds."""

    mask: Span
    statement: Span
    value: str
    is_share: bool = True


class FortranLayout:
    """The text of a file with marks. `before` are texts on lines in front of those of the file, `changed` what stands
    in place of some of them."""

    def __init__(self, text: FortranText) -> None:
        self.text = text
        self.marks: list[Mark] = []
        self.masks: list[MaskValue] = []
        self.modules: set[str] = set()
        self.used: set[str] = set()
        self._last_lines: dict[int, int] = {}  # of statements, by their marks
        self.before: dict[int, list[tuple[str, int | None]]] = {}
        self.changed: dict[int, list[tuple[str, int | None]]] = {}
        self.lines: dict[int, int] = {}  # of marks, by number
        self.after: dict[int, list[str]] = {}  # texts on lines behind those of marks, by number
        self.behind: dict[int, list[str]] = {}  # texts on lines behind those of the file
        self._made = 0
        tree = text.parse()
        for node in tree.children:
            self._lay_out_unit(node, is_outermost=True)
        self._places: dict[str, list[tuple[int, int, int]]] = {}
        for mark in self.marks:
            places = self._places.setdefault(mark.span.source.path or "", [])
            places.append((mark.span.start, mark.span.end, mark.number))
        for places in self._places.values():
            places.sort()

    # -- result ------------------------------------------------------------------------------------

    def write(self) -> str:
        """The text, and on which of its lines the marks are."""
        lines: list[str] = []

        def add(pieces: Iterable[tuple[str, int | None]]) -> None:
            for piece, number in pieces:
                if number is not None:
                    self.lines[number] = len(lines) + 1
                lines.extend(piece.split("\n"))
                lines.extend(self.after.get(-1 if number is None else number, ()))

        for place, line in enumerate(self.text.lines, start=1):
            add(self.before.get(place, ()))
            add(self.changed.get(place, ((line.text, None),)))
            lines.extend(self.behind.get(place, ()))
        return "\n".join(lines) + "\n"

    def find_marks(self, span: Span) -> list[int]:
        """The marks that count what stands at a span: several where a file is included more than once."""
        places = self._places.get(span.source.path or "", [])
        at = bisect_right(places, (span.start, 1 << 62, 0)) - 1
        if at < 0 or places[at][1] <= span.start:
            return []
        start, end, _ = places[at]
        return [number for low, high, number in places if (low, high) == (start, end)]

    def call(self, called: str, span: Span, *, is_behind: bool = False, guard: str = "") -> None:
        """Calls a procedure before the statement of a span or behind it, where the condition `guard` holds."""
        text = f"if ({guard}) call {called}" if guard else f"call {called}"
        width = 66 if self.text.is_fixed else len(text)  # columns 7 to 72
        pieces = [text[at : at + width] for at in range(0, len(text), width)]
        lines = [f"{'     &' if place else ' ' * 6}{piece}" for place, piece in enumerate(pieces)]
        for mark in self.find_marks(span):
            if not is_behind:
                self.after.setdefault(mark, []).extend(lines)
            elif (line := self._last_lines.get(mark)) is not None:
                self.behind.setdefault(line, []).extend(lines)

    # -- program units -----------------------------------------------------------------------------

    def _lay_out_unit(self, node: Syntax, is_outermost: bool = False) -> None:
        kind = type_name(node)
        if kind not in (*PROCEDURES, "Module", "Submodule"):
            return
        head = node.children[0]
        first = _first_item(node)
        if first is None:
            return
        if kind == "Module":
            self.modules.add(str(head.children[1]).lower())
        elif kind == "Submodule":
            module, parent = (str(name or "").lower() for name in head.children[0].children)
            self.modules.add(f"{module}:{str(head.children[1]).lower()}")
            self.used.add(f"{module}:{parent}" if parent else module)
        if is_outermost:
            text = f"use {MODULE}" if not self.text.is_fixed else f"      use {MODULE}"
            at = first.span[0] if kind == "Main_Program0" else first.span[1] + 1
            self.before.setdefault(at, []).insert(0, (text, None))
        for part in node.children:
            if type_name(part).startswith("Specification_Part"):
                self.used |= set(_list_used(part))
            elif type_name(part) == "Execution_Part":
                self._lay_out_procedure(part.children[_count_definitions(node, part) :], first)
            elif type_name(part) in ("Module_Subprogram_Part", "Internal_Subprogram_Part"):
                for child in part.children:
                    self._lay_out_unit(child)

    def _lay_out_procedure(self, nodes: Sequence[Syntax], head: ReaderItem) -> None:
        """Marks a procedure's entry and its statements."""
        first = next((item for node in nodes if type_name(node) not in UNCOUNTED and (item := _first_item(node))), None)
        if first is None:
            return
        number = self._add_mark(self._find_front(first.span[0]))
        if (span := self.text.span(*head.span)) is not None:
            self.marks.append(Mark(span, number))
        for node in nodes:
            item = _first_item(node) if type_name(node) == "Entry_Stmt" else None
            if item is not None and (span := self.text.span(*item.span)) is not None:
                self.marks.append(Mark(span, self._add_mark(item.span[1] + 1)))
        self._lay_out_all(nodes, frozenset())

    # -- statements --------------------------------------------------------------------------------

    def _lay_out_all(self, nodes: Sequence[Syntax], ending: frozenset[str]) -> None:
        for node in nodes:
            self._lay_out(node, ending)

    def _lay_out(self, node: Syntax, ending: frozenset[str], nested: int = 0) -> None:
        """Marks a statement or construct. `ending` are labels of statements that end loops, `nested` how many loops
        have to stand in each other without anything between."""
        kind = type_name(node)
        item = _first_item(node)
        if item is None or kind in UNCOUNTED:
            return
        if kind.endswith(("_Construct", "_Program")):
            if not nested and not _is_end(item, ending):
                self._mark_statement(item)
            if kind in PLAIN_INSIDE:
                self._list_masks(node, item)
                return
            if kind == "If_Construct":
                self._split_alternatives(node)
            if "Do_Construct" in kind:
                self._list_masks(node, item)
                self._lay_out_test(item)
                clause = _CLAUSE.search(self._directives_above(item.span[0]))
                depth = max(int(clause[1]) if clause else 1, nested)
                label = _do_label(node.children[0])
                inner = ending | {label} if label else ending
                for child in node.children[1:]:
                    self._lay_out(child, inner, depth - 1)
                return
            self._lay_out_all([child for child in node.children if not _is_part(child)], ending)
            return
        if kind in ("Execution_Part", "Block"):
            self._lay_out_all(node.children, ending)
            return
        if kind == "Label_Do_Stmt":
            self._mark_statement(item)
        elif kind == "Specification_Part" or kind.startswith("End_") or _is_end(item, ending) or nested:
            return
        elif kind == "If_Stmt":
            self._mark_statement(item)
            self._lay_out_branch(item)
        elif not (kind == "Comment" or _is_part(node)):
            self._mark_statement(item)
            self._list_masks(node, item)

    def _list_masks(self, node: Syntax, outermost: ReaderItem, around: str = "") -> None:
        """The masks of a `where`, which has those of others `around` it, and of headers of loops."""
        if type_name(node) == "Where_Stmt":
            self._add_mask(node, outermost, around)
        elif (header := _find_header(node)) is not None:
            self._add_header_mask(header, outermost)
        elif type_name(node) == "Where_Construct":
            within = left = around
            for child in node.children:
                if type_name(child) in ("Where_Construct_Stmt", "Masked_Elsewhere_Stmt"):
                    mask = self._add_mask(child, outermost, left)
                    before = f"{left} .and. " if left else ""
                    within, left = f"{before}({mask})", f"{before}.not. ({mask})"
                elif type_name(child) == "Elsewhere_Stmt":
                    within = left
                else:
                    self._list_masks(child, outermost, within)

    def _add_mask(self, node: Syntax, outermost: ReaderItem, around: str) -> str:
        mask, item = str(node.children[0]), _first_item(node)
        here = None if item is None else self.text.span(*item.span)
        statement = self.text.span(*outermost.span)
        if here is not None and statement is not None:
            all_masks, elements = (
                (f"{around} .and. ({mask})", f"count({around})") if around else (mask, f"size({mask})")
            )
            value = f"real(count({all_masks}), 8)/max(1, {elements})"
            self.masks.append(MaskValue(find_mask(here), statement, value))
        return mask

    def _add_header_mask(self, header: Syntax, item: ReaderItem) -> None:
        """The mask of a `forall` or `do concurrent`, over all that its indices go through."""
        statement, value = self.text.span(*item.span), header.children[1]
        if value is None or statement is None:
            return
        for triplet in list_arguments(header.children[0]):
            name, *bounds = (str(part) for part in triplet.children if part is not None)
            value = f"({value}, {name} = {', '.join(bounds)})"
        self.masks.append(MaskValue(find_mask(statement), statement, f"[{value}]", is_share=False))

    def _mark_statement(self, item: ReaderItem) -> None:
        first, last = item.span
        label = str(item.label) if item.label else ""
        span = self.text.span(first, last)
        if span is None:
            return
        number = self._add_mark(self._find_front(first) if not label else first, label)
        self.marks.append(Mark(span, number))
        self._last_lines[number] = last
        if label:
            line = self.text.lines[first - 1].text
            text = _STATEMENT_LABEL.sub(lambda match: " " * len(match[0]), line, count=1)
            self.changed[first] = [(text, None)]

    def _add_mark(self, line: int, label: str = "") -> int:
        number, self._made = self._made, self._made + 1
        self.before.setdefault(line, []).append((f"{label:<5} {MARK}", number))
        return number

    def _lay_out_branch(self, item: ReaderItem) -> None:
        """`if (condition) statement` with its statement on lines of its own."""
        first, last = item.span
        whole = self.text.span(first, last)
        pieces = [self.changed.get(place, [(self.text.lines[place - 1].text, None)])[0][0]
                  for place in range(first, last + 1)]  # fmt: skip
        text = "\n".join(pieces)
        opening = re.search(r"\bif\b", text, re.IGNORECASE)
        if opening is None or whole is None:
            return
        end = close_parentheses(text, opening.end(), len(text))
        pattern = _FIXED_CONTINUATION if self.text.is_fixed else _CONTINUATION
        rest = pattern.sub("", text[end:], count=1)
        source = whole.source.text
        inner = close_parentheses(source, source.lower().index("if", whole.start) + 2, whole.end)
        number, self._made = self._made, self._made + 1
        self.marks.append(Mark(Span(whole.source, inner, max(inner + 1, whole.end)), number))
        begin = " " * 6
        self.changed[first] = [
            (f"{text[:end]} then", None),
            (f"{begin}{MARK}", number),
            (f"{begin}{rest}", None),
            (f"{begin}end if", None),
        ]
        for place in range(first + 1, last + 1):
            self.changed[place] = []

    def _split_alternatives(self, node: Syntax) -> None:
        """Lets each `else if` whose condition has parts begin an `if` of its own behind `else`, with a mark between."""
        last = getattr(node.children[-1], "item", None)
        if last is None or getattr(node.children[0].item, "name", None):
            return
        for child in node.children:
            item = getattr(child, "item", None)
            if type_name(child) != "Else_If_Stmt" or item is None or not _JUNCTION.search(str(child)):
                continue
            line, span = self.text.lines[item.span[0] - 1].text, self.text.span(*item.span)
            if span is None or (head := _ELSE.match(line)) is None:
                continue
            number, self._made = self._made, self._made + 1
            self.marks.append(Mark(span, number))
            self.changed[item.span[0]] = [
                (head[0], None),
                (f"      {MARK}", number),
                (" " * head.end() + line[head.end() :], None),
            ]
            self.before.setdefault(last.span[0], []).append(("      end if", None))

    def _lay_out_test(self, item: ReaderItem) -> None:
        """`do while (condition)` with its condition on lines of its own inside, if that has parts."""
        first, last = item.span
        whole = self.text.span(first, last)
        text = "\n".join(
            self.changed.get(place, [(self.text.lines[place - 1].text, None)])[0][0] for place in range(first, last + 1)
        )
        opening = _WHILE.search(text)
        if whole is None or opening is None or not _JUNCTION.search(text):
            return
        start = text.index("(", opening.end())
        condition = text[start : close_parentheses(text, start, len(text))]
        number, self._made = self._made, self._made + 1
        at = whole.source.text.lower().index("while", whole.start)
        self.marks.append(Mark(Span(whole.source, at, whole.end), number))
        test = f"      if (.not. {condition}) exit"
        if self.text.is_fixed:  # no column may move
            test = f"      if (.not.\n     &{' ' * (start - 6)}{condition}\n     &) exit"
        head = text[: opening.end()].rstrip(" ,\t")
        self.changed[first] = [(head, None), (f"      {MARK}", number), (test, None)]
        for place in range(first + 1, last + 1):
            self.changed[place] = []

    # -- directives --------------------------------------------------------------------------------

    def _find_front(self, line: int) -> int:
        """The line in front of which a statement begins, with the directives that belong to it."""
        at, first = line - 1, line
        while at >= 1 and self.text.is_comment(at):
            if _OPENING_DIRECTIVE.match(self.text.lines[at - 1].text):
                first = at
            at -= 1
        return first

    def _directives_above(self, line: int) -> str:
        return " ".join(self.text.lines[at - 1].text for at in range(self._find_front(line), line))


def _count_definitions(unit: Syntax, body: Syntax) -> int:
    """How many functions of one statement stand in front of those that run: assignments to names of numbers that have
    arguments."""
    specification = [part for part in unit.children if type_name(part) == "Specification_Part"]
    declared = [node for part in specification for node in part.children if type_name(node) == "Type_Declaration_Stmt"]
    numbers = {
        str(item.children[0]).lower()
        for node in declared
        if "dimension" not in str(node.children[1]).lower()
        for item in list_arguments(node.children[2])
        if item.children[1] is None
    }
    shaped = " ".join(str(node).lower() for part in specification for node in part.children if node not in declared)
    for place, node in enumerate(body.children):
        target: Any = node.children[0] if type_name(node) == "Assignment_Stmt" else None
        name = str(target.children[0]).lower() if type_name(target) == "Part_Ref" else ""
        if name not in numbers or re.search(rf"\b{re.escape(name)}\s*\(", shaped):
            return place
    return len(body.children)


def _find_header(node: Syntax) -> Syntax | None:
    """The header of a `forall` or `do concurrent`."""
    if type_name(node) == "Forall_Header":
        return node
    if type_name(node).endswith("_Construct"):
        return _find_header(node.children[0])
    parts = getattr(node, "children", ()) if re.search("Do_Stmt|Forall|Loop_Control", type_name(node)) else ()
    return next((header for part in parts or () if (header := _find_header(part)) is not None), None)


def _first_item(node: Syntax) -> ReaderItem | None:
    """The reader's item of the first statement of a node; None without one."""
    item: ReaderItem | None = getattr(node, "item", None)
    if item is not None:
        return item
    for child in getattr(node, "children", None) or ():
        if child is not None and not isinstance(child, str | tuple) and (item := _first_item(child)) is not None:
            return item
    return None


def _is_end(item: ReaderItem, ending: frozenset[str]) -> bool:
    return bool(item.label) and str(item.label) in ending


def _is_part(node: Syntax) -> bool:
    """Whether a statement is a part of a construct, such as `else`."""
    kind = type_name(node)
    return kind.startswith("End_") or kind in (
        "If_Then_Stmt", "Else_If_Stmt", "Else_Stmt", "Select_Case_Stmt", "Case_Stmt", "Associate_Stmt", "Block_Stmt",
        "Select_Type_Stmt", "Type_Guard_Stmt", "Critical_Stmt", "Specification_Part", "Nonlabel_Do_Stmt",
    )  # fmt: skip


def _do_label(head: Syntax) -> str:
    return str(head.children[1]) if type_name(head) == "Label_Do_Stmt" else ""


def _list_used(part: Syntax) -> Iterable[str]:
    for node in part.children:
        if type_name(node) == "Use_Stmt":
            yield str(node.children[2]).lower()
