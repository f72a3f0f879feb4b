"""Changes: the commands that lead to another state, and back."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Callable
from typing import cast

from aspenpy.expr.arithmetic import aspen_numeral
from aspenpy.language.diagnostics import AspenError, fail
from aspenpy.language.nodes import Expression
from aspenpy.language.parser import parse_value
from aspenpy.language.source import Span, split_at_commas, split_at_sign
from aspenpy.models.library import load_machine
from aspenpy.shell.option import Option, positive
from aspenpy.shell.session.conversation import Answer, Conversation, runtime_line, whole_line
from aspenpy.shell.session.question import (
    first_word,
    is_declared,
    metrics_of,
    names_in,
    place_errors,
    read_identifier,
    read_question,
    refuse_line,
    replace_names,
    symbol_at,
    tree_of,
)
from aspenpy.shell.session.state import SessionHistory, SessionState
from aspenpy.tables.numbers import seconds
from aspenpy.tables.table import Column, Paragraph, Table, Title

SET = "set NAME=EXPR, ..."
UNSET = "unset NAME, ..."
LET = "let NAME = EXPR"
MACHINE = "machine M [SOCKET]"


def set_(session: Conversation, rest: Span) -> Answer:
    """Gives parameters other values."""
    state = session.state
    settings = dict(state.set)
    for part in split_at_commas(rest) or [rest]:
        sides = split_at_sign(part, "=")
        if sides is None or not sides[0].text() or not sides[1].text():
            refuse_line("NAME=EXPR", part, SET)
        name, value = sides
        _require_parameter(name, state)
        tree = tree_of(value, state)
        own = _present_meaning(name, state) if name.text() in names_in(tree) else {}
        settings[name.text()] = replace_names(tree, own, value)
    return session.change(rest, state.changed(set=settings))


def _present_meaning(name: Span, state: SessionState) -> dict[str, Expression]:
    """The present value of a name by that name, so that `set n = 2*n` doubles it; empty where it has no value yet."""
    text = name.text()
    if text in state.set:
        return {text: cast(Expression, state.set[text])}
    scope = state.prediction.scope
    try:
        (value,) = scope.values([scope.symbol(text)], state.seed)
    except AspenError:
        return {}  # what has no value yet cannot stand in its own
    return {} if isinstance(value, tuple) else {text: parse_value(aspen_numeral(value)[0], f"<{text}>")}


def _require_parameter(name: Span, state: SessionState) -> None:
    if name.text() in state.names:
        hint = f"let {name.text()} = ... redefines it"
        fail("own-name", f"`{name.text()}` is a name of this session", name, hint=hint)
    symbol_at(name, state)  # for its error alone


def unset(session: Conversation, rest: Span) -> Answer:
    """Gives parameters the values of the models again."""
    settings = dict(session.state.set)
    for part in split_at_commas(rest) or [rest]:
        if not part.text():
            refuse_line("the name of a parameter", part, UNSET)
        if part.text() not in settings:
            known = f"these are set: {', '.join(settings)}" if settings else "nothing is set"
            fail("not-set", f"`{part.text()}` is not set", part, hint=f"write `{UNSET}`; {known}")
        del settings[part.text()]
    return session.change(rest, session.state.changed(set=settings))


def let(session: Conversation, rest: Span) -> Answer:
    """Defines a name for the lines behind."""
    state = session.state
    sides = split_at_sign(rest, "=")
    if sides is None or not sides[1].text():
        refuse_line("NAME = EXPR", rest, LET)
    name = read_identifier(sides[0], "a name", LET)
    if is_declared(state, name) or name in metrics_of(state.prediction):
        taken = "is a name of the models" if is_declared(state, name) else "is a metric"
        fail("name-taken", f"`{name}` {taken}", sides[0], hint="choose another name; `set` changes parameters")
    read_question(sides[1], state)  # for its error alone
    names = {**state.names, name: tree_of(sides[1], state)}
    _go_to_state(session, rest, state.changed(names=names))
    return Answer((Title(f"{name} is {' '.join(sides[1].text().split())} from here on"),))


def free(session: Conversation, rest: Span) -> Answer:
    """Chooses the parameters that formulas keep."""
    state = session.state
    parts = split_at_commas(rest)
    for part in parts:
        _require_parameter(part, state)
    names = tuple(dict.fromkeys(part.text() for part in parts))
    _go_to_state(session, rest, state.changed(free=names))
    return Answer((Title(f"free: {', '.join(names)}" if names else "nothing is free"),))


def machine(session: Conversation, rest: Span) -> Answer:
    """Goes to another machine."""
    name, socket = first_word(rest)
    if not name.text():
        refuse_line("a machine", rest, MACHINE)
    with place_errors(name):
        machine_of = load_machine(name.text())
    if not socket.text() and len(machine_of.sockets) > 1:
        message = f"machine `{machine_of.name}` has several kinds of sockets"
        fail("which-socket", message, name, hint=f"say which behind it: {', '.join(machine_of.sockets)}")
    state = session.state.changed(machine=machine_of, socket=socket.text() or None)
    bare = state.changed(set={}).prediction
    for setting in state.set:
        try:
            bare.scope.symbol(setting)
        except AspenError:
            message = f"`{setting}` is set, and `{machine_of.name}` has no such parameter"
            fail("unknown-parameter", message, name, hint=f"`unset {setting}` first")
    return session.change(rest, state.changed(socket=bare.socket))


def socket(session: Conversation, rest: Span) -> Answer:
    """Goes to another kind of socket of the machine."""
    machine = session.state.required_machine
    if rest.text() not in machine.sockets:
        known = f"the sockets of `{machine.name}` are {', '.join(machine.sockets)}"
        message = f"machine `{machine.name}` has no socket `{rest.text()}`"
        fail("unknown-socket", message, rest, hint=known if machine.sockets else "it has no sockets")
    return session.change(rest, session.state.changed(socket=rest.text()))


def kernel(session: Conversation, rest: Span) -> Answer:
    """Predicts another kernel."""
    kernels = session.state.application.kernels
    if not rest.text():
        refuse_line("a kernel", rest, f"kernel NAME`; the kernels are `{', '.join(kernels)}")
    return session.change(rest, session.state.changed(kernel=rest.text()))


def usage(item: Option) -> str:
    """The usage of a command that places ranks as an option of the shell does."""
    value = item.more.get("metavar") or "|".join(item.more["choices"])
    return f"{item.names[0].lstrip('-')} [{value}]"


def placement(item: Option) -> Callable[[Conversation, Span], Answer]:
    """Changes where ranks run, as options of the shell say it; without a value, back to what the machine says."""

    def change(session: Conversation, rest: Span) -> Answer:
        text = rest.text()
        value: int | str | None = text or None
        if text and item.more.get("type") is positive:
            try:
                value = positive(text)
            except ArgumentTypeError:
                refuse_line("a whole number from 1 on", rest, usage(item))
        return session.change(rest, session.state.changed(**{item.destination: value}))

    return change


def baseline(session: Conversation, rest: Span) -> Answer:
    """Makes what is predicted now what is compared with from here on."""
    state = session.state
    _go_to_state(session, rest, state.changed(baseline=state.changed(baseline=None)))
    return Answer((Title(f"baseline: runtime {seconds(state.prediction.runtime)}"),))


def undo(session: Conversation, rest: Span) -> Answer:
    """Takes the last change back."""
    undone = session.history.past[-1].line
    return _go_through_history(session, session.history.undo(), f"undone `{undone}`", rest, "there is nothing to undo")


def redo(session: Conversation, rest: Span) -> Answer:
    """Makes the change again that was taken back last."""
    done = session.history.undone[-1].line if session.history.undone else ""
    return _go_through_history(
        session, session.history.redo(), f"done again `{done}`", rest, "there is nothing to redo"
    )


def history(session: Conversation, rest: Span) -> Answer:
    """Lists the changes that `undo` takes back, the last one first."""
    lines = [step.line for step in reversed(session.history.past) if step.line]
    if not lines:
        return Answer((Paragraph("nothing was changed"),))
    return Answer((Table((Column("", wrapped=True),), tuple((line,) for line in lines)),))


def _go_through_history(
    session: Conversation, there: SessionHistory | None, said: str, rest: Span, refusal: str
) -> Answer:
    if there is None:
        fail("no-history", refusal, rest)
    session.history = there
    (now,) = runtime_line(session.state)
    return Answer((Title(f"{said}: {now.text}"),))


def _go_to_state(session: Conversation, rest: Span, state: SessionState) -> None:
    session.history = session.history.step(whole_line(rest), state)
