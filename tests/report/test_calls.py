"""Which kernel calls which, how often."""

from aspenpy.report.application import Called, call_trees
from aspenpy.report.listings import ListingTree
from tests.tiny import application

KERNELS = """
kernel leaf { execute { flops [1] } }
kernel middle(param n) { iterate [n] { call leaf } }
"""


def shape(tree: ListingTree[Called]) -> object:
    called = tree.item
    return (called.kernel, called.times, called.above, *[shape(branch) for branch in tree.branches])


def test_loops_and_arguments() -> None:
    # 3 * 2 calls of leaf below the first middle, 5 below the second; the calls of a kernel stand below its first.
    body = "iterate [3] { call middle(2) } call leaf call middle(5)"
    (tree,) = call_trees(application(body, kernels=KERNELS))
    assert shape(tree) == (
        "main", 1, False,
        ("middle", 4, False, ("leaf", 11, False)),
        ("leaf", 1, False),
    )  # fmt: skip


def test_choices_and_probabilities() -> None:
    body = "if (1 > 2) { call leaf } else { probability { [0.25] { call middle(8) } } }"
    (tree,) = call_trees(application(body, kernels=KERNELS))
    assert shape(tree) == ("main", 1, False, ("leaf", 0, False), ("middle", 0.25, False, ("leaf", 2, False)))


def test_kernel_that_is_called_from_two() -> None:
    kernels = KERNELS + "kernel other { call middle(1) call middle(1) }"
    (tree,) = call_trees(application("call middle(3) call other", kernels=kernels))
    assert shape(tree) == (
        "main", 1, False,
        ("middle", 1, False, ("leaf", 5, False)),
        ("other", 1, False, ("middle", 2, True)),
    )  # fmt: skip


def test_what_only_a_machine_knows() -> None:
    (tree,) = call_trees(application("iterate [cores] { call leaf } call middle(2)", kernels=KERNELS))
    assert shape(tree) == ("main", 1, False, ("leaf", None, False), ("middle", 1, False, ("leaf", 2, False)))
