"""Verdicts as JUnit's XML, which servers of continuous integration read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.etree import ElementTree

from aspenpy.record import Record


class CaseVerdict(Record):
    """A case: its name, why it fails (empty where it passes), and more of it."""

    name: str
    failure: str = ""
    detail: str = ""


class VerdictSuite(Record):
    """Cases of one subject."""

    name: str
    subject: str
    verdicts: Sequence[CaseVerdict]


def write_suites(suites: Iterable[VerdictSuite]) -> str:
    """A suite for each subject, with its cases."""
    root = ElementTree.Element("testsuites")
    for suite in suites:
        failures = sum(bool(verdict.failure) for verdict in suite.verdicts)
        counts = {"name": suite.name, "tests": str(len(suite.verdicts)), "failures": str(failures)}
        element = ElementTree.SubElement(root, "testsuite", counts)
        for verdict in suite.verdicts:
            case = ElementTree.SubElement(element, "testcase", classname=suite.subject, name=verdict.name)
            if verdict.failure:
                ElementTree.SubElement(case, "failure", message=verdict.failure).text = verdict.detail
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"
