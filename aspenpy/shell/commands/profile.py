"""`aspenpy profile`: show where the time goes, by kernel and by call."""

from __future__ import annotations

import json

from aspenpy.answers.prediction import predict
from aspenpy.answers.profile import Profile
from aspenpy.report.profile import draw, write_speedscope
from aspenpy.shell.entry import case_of_arguments
from aspenpy.shell.option import Arguments, Examples, flag
from aspenpy.shell.options import MODEL, PICTURE, SEED, SETTINGS, TABLES, formats, machine
from aspenpy.shell.output import deliver, deliver_text, report
from aspenpy.shell.pictures import save

EXAMPLES: Examples = (
    ("the kernels, the most expensive first", "aspenpy profile comd --machine haswell"),
    ("and who calls whom", "aspenpy profile comd --machine haswell --graph"),
    ("from one kernel on, with its argument", "aspenpy profile comd --machine haswell --kernel redistribute"),
    ("a flame graph: open it at www.speedscope.app", "aspenpy profile comd --machine haswell --format speedscope"),
)

OPTIONS = (
    MODEL,
    machine(required=True),
    *SETTINGS,
    flag("--graph", "also shows each kernel with its callers and callees"),
    formats("speedscope"),
    TABLES,
    PICTURE.here(": the call graph"),
    SEED,
)


def run(arguments: Arguments) -> int:
    prediction = predict(case_of_arguments(arguments))
    profile = Profile(prediction)
    if arguments.format != "speedscope":
        return deliver(profile.report(calls=arguments.graph), arguments, lambda: draw(profile))
    report(prediction.diagnostics)
    deliver_text(json.dumps(write_speedscope(profile), indent=2, allow_nan=False) + "\n", arguments)
    if arguments.picture:
        save(arguments.picture, lambda: draw(profile))
    return 0
