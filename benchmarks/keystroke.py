"""What an editor is told after a keystroke in a model of 100 kB, compared with reading that model once.

Measured are the mistakes in the syntax, the names, a completion and the colours of the new text. Reading the
model takes some 150 ms; a third of that is the 50 ms that people do not notice.
"""

from itertools import count

from aspenpy.editor.completion import suggestions
from aspenpy.editor.documents import DocumentText, OpenDocument
from aspenpy.editor.meaning import NOTHING
from aspenpy.editor.project import Project
from aspenpy.editor.structure import colour_words
from aspenpy.language.parser import parse_file
from aspenpy.language.source import Source
from benchmarks.measure import Benchmark, Subject, seconds
from benchmarks.models import application_text


def subject() -> Subject:
    text = application_text(100_000)
    document = OpenDocument("untitled:model", DocumentText(text), 1)
    middle = text.index("flops [", len(text) // 2) + len("flops [")
    digits = count(1)

    def keystroke() -> tuple[int, int, int]:
        document.replace_text(middle, middle, str(next(digits) % 10))
        document.note_edit(2)
        project = Project({document.path: document.text.text})
        found = suggestions(project, document.path, middle, NOTHING)
        words = list(colour_words(document.text.text))
        document.replace_text(middle, middle + 1, "")
        return len(document.mistakes), len(found), len(words)

    return Subject(keystroke, lambda: parse_file(Source(text)), lambda found: found[0] == 0 and min(found[1:]) > 30)


BENCHMARK = Benchmark("a keystroke in a model of 100 kB", "reading it", 0.35, subject, seconds)
