"""The serial time of a requirement: what its amount takes on one component, each of its traits in turn."""

from __future__ import annotations

from collections.abc import Sequence

from aspenpy.cost.instances import Instances
from aspenpy.cost.occupancy import OCCUPANCY, TOGETHER, find_block, latency_of_block, waves_of
from aspenpy.cost.operations import InterpretedRequirement, classify_requirement, is_priced_without, read_operation
from aspenpy.cost.paths import MESSAGE
from aspenpy.cost.prices import AppliedTrait, Offer, RequirementCost
from aspenpy.cost.sharing import Sharing, sharing
from aspenpy.cost.target import Target
from aspenpy.cost.trait_names import ATTAINED, CACHE_TRAITS, SWEEP, VARIES, is_exchange, is_part
from aspenpy.cost.waiting import CHAIN, LOAD, MISPREDICTED, SIDE_BY_SIDE, Wait, independent_chains
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import Diagnostic
from aspenpy.language.lower import Origins, carry_origin
from aspenpy.models.application import flow
from aspenpy.models.machine.model import BASE


class SerialTime:
    """The time of one instance's amount on one component, while one trait after the other changes it."""

    def __init__(
        self,
        requirement: flow.Requirement,
        instances: Instances,
        where: Target,
        offer: Offer,
        origins: Origins,
        wait: Wait | None,
    ) -> None:
        self.requirement, self.instances, self.where, self.offer, self.wait = requirement, instances, where, offer, wait
        self.carry = carry_origin(origins)
        self.amount = instances.share(requirement.amount)
        self.reading = read_operation(requirement, self.amount, offer.place.component, offer.resource)
        self.ignored = [*self.reading.ignored]
        self.applied: list[AppliedTrait] = []
        self.is_assumed = _is_assumed(self.reading, self.amount, offer, where)
        block = find_block(requirement)
        place = offer.place if block is None else waves_of(offer.place, block)
        self.shared = sharing(instances, place, where.drawing, where.line, requirement.resource)
        self.is_between_ranks = where.between_ranks.serves(offer.place)
        self.base = self.time = self._time_without_traits()

    def _time_without_traits(self) -> Expr:
        operation = self.reading.operation
        if operation is not None:
            self.applied.append(AppliedTrait(operation.name, (), operation.seconds, operation.seconds))
            return operation.seconds
        if self.is_between_ranks:
            from aspenpy.cost.messages import message_of

            message = message_of(self.requirement, self.instances.count, self.where.between_ranks)
            return self._let_all_take_part(message)
        if self.reading.refused is not None:
            return graph.failure(self.reading.refused)
        resource = self.offer.resource
        return graph.substitute([resource.time], {resource.argument: self.amount}, self.carry)[0]

    def apply(self, trait: flow.Trait) -> None:
        """Changes the time as a trait says, or takes down that it is ignored."""
        operation, resource, requirement = self.reading.operation, self.offer.resource, self.requirement
        if is_exchange(trait.name, resource, self.where.machine, inner=self.is_between_ranks):
            from aspenpy.cost.messages import exchange_of

            self.applied = [item for item in self.applied if item.name != MESSAGE]
            ranks = self.where.between_ranks
            exchange = exchange_of(trait, requirement, self.instances.count, self.offer, ranks)
            self.time = self._let_all_take_part(exchange)
        elif operation is not None and trait.name in operation.traits:
            pass
        elif trait.name in resource.traits:
            self._apply_trait_of_resource(trait)
        elif trait.name == SIDE_BY_SIDE and requirement.resource == CHAIN:
            self._set_time(trait, graph.div(self.time, independent_chains(requirement)))
        elif trait.name == ATTAINED:
            self._set_time(trait, graph.div(self.time, _trait_argument(trait, requirement.resource)))
        elif trait.name == OCCUPANCY and requirement.resource == CHAIN:
            latency = latency_of_block(requirement, self.amount, self.offer.place.component)
            self._set_time(trait, graph.add(self.time, latency))
        elif trait.name in (VARIES, SWEEP, TOGETHER) or (self.wait is not None and trait.name in CACHE_TRAITS):
            pass
        elif not is_priced_without(requirement, trait.name):
            self.ignored.append(trait.name)

    def _set_time(self, trait: flow.Trait, time: Expr) -> None:
        """Takes down the time that a trait leads to, which is its formula as well."""
        self.time = time
        self.applied.append(AppliedTrait(trait.name, trait.arguments, time, time))

    def _let_all_take_part(self, message: AppliedTrait) -> Expr:
        """The time of a message, which is that of all instances: nothing is left to share out."""
        self.shared = Sharing(graph.ONE, graph.ONE)
        self.applied.append(message)
        return message.time

    def _apply_trait_of_resource(self, trait: flow.Trait) -> None:
        self.is_assumed = self.is_assumed or trait.name in self.offer.assumed
        rule = self.offer.resource.traits[trait.name]
        argument = {} if rule.argument is None else {rule.argument: _trait_argument(trait, self.offer.resource.name)}
        time = graph.substitute([rule.time], {BASE: self.time, **argument}, self.carry)[0]
        applied = AppliedTrait(trait.name, trait.arguments, rule.time, time)
        if self.wait is not None and trait.name in (LOAD, MISPREDICTED):
            applied = _with_wait(applied, trait, self.wait, self.amount, self.offer)
            self.is_assumed = self.is_assumed or self.wait.assumed
        self.applied.append(applied)
        self.time = applied.time

    def cost(self) -> RequirementCost:
        """The time of all instances, shared out over the cores that serve them."""
        unit = "" if self.reading.operation is None else self.reading.operation.unit
        return RequirementCost(
            self.requirement,
            self.offer,
            self.base,
            tuple(self.applied),
            tuple(self.ignored),
            self.time,
            self.shared.instances,
            *self.shared.seconds(self.time),
            self.shared.saturation,
            unit=unit,
            together=self.instances.together,
            assumed=self.is_assumed,
        )


def _is_assumed(reading: InterpretedRequirement, amount: Expr, offer: Offer, where: Target) -> bool:
    """Whether the time of a requirement follows from a rule for cores, and not from what this one states."""
    if reading.operation is None or where.core is None or not offer.rule:
        return offer.resource.name in offer.assumed
    return classify_requirement(reading.requirement, amount, where.core.component, offer.resource) is None


def own_traits(traits: Sequence[flow.Trait]) -> list[flow.Trait]:
    """Traits that are no part of an exchange beside them."""
    names = [trait.name for trait in traits]
    return [trait for trait in traits if not is_part(trait.name, names)]


def _with_wait(applied: AppliedTrait, trait: flow.Trait, wait: Wait, amount: Expr, offer: Offer) -> AppliedTrait:
    """A trait whose loads lie beyond the first cache."""
    core = offer.place.component
    formula, time = (wait.lengthen(trait, near, amount, core) for near in (applied.formula, applied.time))
    return applied.replace(formula=formula, time=time)


def _trait_argument(trait: flow.Trait, resource: str) -> Expr:
    if trait.arguments and isinstance(trait.arguments[0], graph.Expr):
        return trait.arguments[0]
    message = f"the trait `{trait.name}` of `{resource}` needs an argument"
    return graph.failure(Diagnostic("missing-argument", message, trait.span, hint=f"write `as {trait.name}(value)`"))
