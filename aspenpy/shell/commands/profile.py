"""`aspenpy profile`: show where the time goes, by kernel and by call."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from aspenpy.answers.prediction import predict
from aspenpy.answers.profile import Profile
from aspenpy.report.call_picture import draw
from aspenpy.shell.entry import case_of_arguments
from aspenpy.shell.output import answer, emit_json, report
from aspenpy.shell.parser import Examples, add_machine, add_model, add_seed, add_settings
from aspenpy.shell.pictures import save

EXAMPLES: Examples = (
    ("the kernels, the most expensive first", "aspenpy profile comd --machine haswell"),
    ("and who calls whom", "aspenpy profile comd --machine haswell --graph"),
    ("from one kernel on, with its argument", "aspenpy profile comd --machine haswell --kernel redistribute"),
    ("a flame graph: open it at www.speedscope.app", "aspenpy profile comd --machine haswell --format speedscope"),
)


def add_arguments(parser: ArgumentParser) -> None:
    add_model(parser)
    add_machine(parser, required=True)
    add_settings(parser)
    parser.add_argument("--graph", action="store_true", help="also shows each kernel with its callers and callees")
    parser.add_argument(
        "--format", choices=("table", "json", "csv", "speedscope"), default="table", help="default: table"
    )
    parser.add_argument("--picture", metavar="FILE", help="also draws the call graph: an .svg, .png or .pdf file")
    add_seed(parser)


def run(arguments: Namespace) -> int:
    prediction = predict(case_of_arguments(arguments))
    profile = Profile(prediction)
    if arguments.format == "speedscope":
        report(prediction.diagnostics)
        emit_json(profile.reporter().as_speedscope(profile))
    else:
        answer(profile.report(calls=arguments.graph), arguments.format)
    if arguments.picture:
        save(arguments.picture, lambda: draw(profile))
    return 0
