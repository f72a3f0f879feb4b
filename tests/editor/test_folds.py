"""What an editor can fold: blocks in brackets over several lines, and comments on lines of their own that touch."""

from aspenpy.editor.structure import folds

TEXT = """\
// one
// two

// alone
model m {
  param n = {1,
    2}  // behind a value
  // three
  // four
  kernel main { execute { flops [n] } }
}
"""


def test_folds() -> None:
    found = [(TEXT[fold.start : fold.end], fold) for fold in folds(TEXT)]
    texts = {text for text, _ in found}
    assert "// one\n// two" in texts
    assert "// three\n  // four" in texts
    assert not any("alone" in text and text.startswith("//") for text in texts)
    assert "{1,\n    2" in texts
    assert all("\n" in text for text in texts)
    assert not any(text.startswith("{ execute") for text in texts)
