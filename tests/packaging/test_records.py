"""Fields of records: up to Python 3.13 the body of a class holds its annotations, from 3.14 on a function of them."""

from aspenpy.record import annotated_names


def test_annotations_that_the_body_holds():
    assert annotated_names({"__annotations__": {"first": "int", "second": "str"}}) == ("first", "second")


def test_annotations_behind_a_function():
    assert annotated_names({"__annotate_func__": lambda form: {"first": int, "second": str}}) == ("first", "second")


def test_a_body_without_annotations():
    assert annotated_names({}) == ()
