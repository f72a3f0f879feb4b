"""Variants: components that are `like` another, written out with all that they take over from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NoReturn

from aspenpy.language import nodes
from aspenpy.language.diagnostics import AspenError, Diagnostic, Related, fail, join_chain, suggest_nearest
from aspenpy.language.source import Span

MOST_LIKE = 100  # variants of each other, and in each the items of all before: a longer chain is not read by anybody
MOST_ITEMS = 200_000  # that all variants of a machine have together: each may have those of a long component


def write_out_variants(node: nodes.Machine) -> nodes.Machine:
    """The machine without `like`. A machine that another is like is no longer there, and neither is one that the file
    includes beside its own. Raises AspenError."""
    components = {component.name: component for component in node.components}  # of two with one name the later holds
    written_out: dict[str, nodes.Component] = {}
    written: list[nodes.Component] = []
    errors: list[Diagnostic] = []
    left = MOST_ITEMS
    for component in node.components:
        try:
            if component.base is None:
                _refuse_replacements(component)
            else:
                component = _write_out(component, components, written_out)
                left -= len(component.items)
                if left < 0:
                    fail("too-large", f"the variants have more than {MOST_ITEMS:,} items together", component.name_span)
        except AspenError as error:
            errors += error.diagnostics
        written.append(component)
    if errors:
        raise AspenError(*dict.fromkeys(errors))
    models = {component.base for component in node.components if component.type == "machine"}
    if any(item.type == "machine" and not is_included(item.span) for item in node.components):
        models |= {item.name for item in node.components if item.type == "machine" and is_included(item.span)}
    return node.replace(components=tuple(item for item in written if item.name not in models))


def is_included(span: Span | None) -> bool:
    """Whether a place is in a file that another includes."""
    return span is not None and span.resolve().source is not span.source


def bases_of(node: nodes.Machine) -> dict[str, str]:
    """The component that each variant is like."""
    return {component.name: component.base for component in node.components if component.base is not None}


def _write_out(
    variant: nodes.Component, components: Mapping[str, nodes.Component], written_out: dict[str, nodes.Component]
) -> nodes.Component:
    """A variant with what it takes over; the chain is read from its end. `written_out` are those written out before."""
    chain = [variant]
    while chain[-1].base is not None and not (
        chain[-1].name in written_out and components[chain[-1].name] is chain[-1]
    ):
        base = _base_of(chain[-1], components)
        names = [component.name for component in chain]
        if base.name in names:
            circle = names[names.index(base.name) :]
            first = circle.index(min(circle))  # the same words for each component of the circle
            message = "a component is like itself: " + join_chain([*circle[first:], *circle[:first], circle[first]])
            hint = "give the variant a name of its own" if len(circle) == 1 else None
            fail("component-cycle", message, components[circle[first]].base_span, hint=hint)
        if len(chain) > MOST_LIKE:
            fail("too-deep", f"more than {MOST_LIKE} components are like each other in a row", variant.base_span)
        chain.append(base)
    result = written_out.get(chain[-1].name, chain[-1])
    for component in reversed(chain[:-1]):
        result = component.replace(items=tuple(_merge(result, component)), base=None)
        if components[component.name] is component:
            written_out[component.name] = result
    return result


def _base_of(variant: nodes.Component, components: Mapping[str, nodes.Component]) -> nodes.Component:
    """The component that a variant is like. Raises AspenError where there is none of its type."""
    base = components.get(variant.base or "")
    if base is None:
        alike = [name for name, other in components.items() if other.type == variant.type and name != variant.name]
        hint = suggest_nearest(variant.base or "", alike) or "include the file that declares it"
        fail("unknown-component", f"unknown component `{variant.base}`", variant.base_span, hint=hint)
    if base.type != variant.type:
        message = f"`{base.name}` is a {base.type}, and a {variant.type} cannot be like it"
        related = Related(base.name_span, f"declared as a {base.type} here")
        raise AspenError(Diagnostic("wrong-type", message, variant.base_span, (related,)))
    return base


def _merge(base: nodes.Component, variant: nodes.Component) -> Iterator[nodes.Item]:
    """The items of a base in their order, with those of the variant in the places of what they replace, then the
    others of the variant."""
    own: dict[tuple[type, str], list[nodes.Item]] = {}
    for item in variant.items:
        own.setdefault(_slot_of_item(item), []).append(item)
    left = dict(own)
    for item in base.items:
        if _slot_of_item(item) in own:
            yield from _replace_item(item, left.pop(_slot_of_item(item), ()))
        else:
            yield item
    for items in left.values():
        for item in items:
            if isinstance(item, nodes.Part) and (item.replaced is not None or _is_left_out(item)):
                _refuse_part(item, base)
            yield item


WATTS: dict[str, str] = {"idle": "static", "tdp": "dynamic"}
"""Properties that say what a statement of power does, by its kind: of both forms the one of the variant is left."""


def _slot_of_item(item: nodes.Item) -> tuple[type, str]:
    """Slot of a component that an item fills: an item of a variant replaces the item of its base with the same slot."""
    if isinstance(item, nodes.Conflict):
        return nodes.Conflict, f"{item.first}, {item.second}"
    if isinstance(item, nodes.PowerDraw):
        return nodes.PowerDraw, item.kind
    if isinstance(item, nodes.Property) and item.name in WATTS:
        return nodes.PowerDraw, WATTS[item.name]
    return type(item), item.replaced or item.name if isinstance(item, nodes.Part) else item.name


def _replace_item(item: nodes.Item, new: list[nodes.Item] | tuple[()]) -> Iterator[nodes.Item]:
    """Items of a variant in the place of an item of its base; a part of quantity 0 is left out."""
    for replacing in new:
        if not isinstance(replacing, nodes.Part):
            yield replacing
            continue
        if isinstance(item, nodes.Part) and replacing.type != item.type:
            message = f"`{item.name}` is a {item.type}, and a {replacing.type} cannot take its place"
            related = Related(item.span, "the part is here")
            raise AspenError(Diagnostic("wrong-type", message, replacing.replaced_span or replacing.span, (related,)))
        if not _is_left_out(replacing):
            yield replacing.replace(replaced=None)


def _is_left_out(part: nodes.Part) -> bool:
    return isinstance(part.quantity, nodes.Number) and part.quantity.value == 0


def _refuse_part(part: nodes.Part, base: nodes.Component) -> NoReturn:
    """Refuses a part that the base does not have: nothing can be replaced or left out."""
    name = part.replaced or part.name
    parts = [item.name for item in base.items if isinstance(item, nodes.Part)]
    hint = suggest_nearest(name, parts) or (f"its parts are {', '.join(parts)}" if parts else "it has no parts")
    message = f"{base.type} `{base.name}` has no part `{name}`"
    fail("unknown-component", message, part.replaced_span or part.name_span or part.span, hint=hint)


def _refuse_replacements(component: nodes.Component) -> None:
    for item in component.items:
        if isinstance(item, nodes.Part) and item.replaced is not None:
            message = f"`{component.name}` is like no other component: there is no part to replace"
            hint = f"write `{component.type} {component.name} like OTHER {{`, or leave `instead of {item.replaced}` out"
            fail("no-base", message, item.replaced_span or item.span, hint=hint)
