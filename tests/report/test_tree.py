"""Lines that lead from a name to the one it hangs on."""

from aspenpy.report.listings import ListingTree, tree_lines


def leaf(name: str) -> ListingTree[str]:
    return ListingTree(name, [])


def test_lines() -> None:
    tree = ListingTree("a", [ListingTree("b", [leaf("c"), leaf("d")]), leaf("e"), ListingTree("f", [leaf("g")])])
    assert [prefix + name for prefix, name in tree_lines(tree)] == [
        "a",
        "├── b",
        "│   ├── c",
        "│   └── d",
        "├── e",
        "└── f",
        "    └── g",
    ]


def test_deep_trees_do_not_recurse() -> None:
    tree = leaf("end")
    for _ in range(5000):
        tree = ListingTree("step", [tree])
    assert sum(1 for _ in tree_lines(tree)) == 5001
