"""Documents: the files that an editor has open, each with the last that could be made of it."""

from __future__ import annotations

import os
from urllib.parse import quote, unquote, urlsplit

from aspenpy.editor.meaning import NOTHING, Meaning, Remark, Stretch
from aspenpy.editor.project import LARGEST, Project
from aspenpy.editor.remarks import move_remarks, syntax_remarks
from aspenpy.editor.text import Text


def path_of(uri: str) -> str:
    """The file of a URI. What is in no file, such as a text that was never saved, is in a folder that does not exist,
    so that it includes nothing but the library."""
    parts = urlsplit(uri)
    path = unquote(parts.path)
    if parts.scheme != "file" or not path or "\0" in path:
        return os.path.join(os.devnull, quote(uri, safe=""))
    if os.name == "nt":
        path = path.lstrip("/")
    return os.path.realpath(path)


def uri_of(path: str) -> str:
    """The URI of a file."""
    return "file://" + quote(path if path.startswith("/") else "/" + path.replace(os.sep, "/"))


class Document:
    """An open file: its text as it is now, what it meant when it was last sound, and what is wrong with it."""

    def __init__(self, uri: str, text: Text, version: int | None) -> None:
        self.uri, self.path = uri, path_of(uri)
        self.text, self.version = text, version
        self.meaning = NOTHING
        self.remarks: list[Remark] = []
        self.mistakes: list[Remark] = []
        self.changes = 0
        self._look()

    def edit(self, start: int, end: int, new: str) -> None:
        """Puts a text in the place of another one."""
        self.remarks = move_remarks(self.remarks, self.path, start, end, len(new))
        self.text = self.text.replace_part(start, end, new)

    def replace(self, new: str) -> None:
        """Another text for the whole file."""
        self.remarks = []
        self.text = Text(new, self.text.encoding)

    def changed(self, version: int | None) -> None:
        """Takes notice of edits."""
        self.version = version
        self.changes += 1
        self._look()

    def take_meaning(self, meaning: Meaning) -> None:
        """Takes what the text means; of one that is broken nothing but the remarks, and the machine's offers."""
        live = {(mistake.place, mistake.message) for mistake in self.mistakes}
        self.remarks = [remark for remark in meaning.remarks if (remark.place, remark.message) not in live]
        if meaning.sound:
            self.meaning = meaning
        else:
            self.meaning = self.meaning._replace(offers=meaning.offers, machine_path=meaning.machine_path)

    @property
    def file_name(self) -> str:
        """The last part of its path."""
        return os.path.basename(self.path)

    @property
    def followed(self) -> bool:
        """Whether it is small enough to be followed while it is typed; of a larger one only `check` is shown."""
        return len(self.text.text) <= LARGEST

    def _look(self) -> None:
        self.mistakes = syntax_remarks(self.path, self.text.text) if self.followed else []

    def shown(self, project: Project) -> list[Remark]:
        """What is wrong, each at a place in this file: a mistake in a file that it includes stands at the `include`."""
        return [self._here(remark, project) for remark in self.all_remarks]

    @property
    def all_remarks(self) -> list[Remark]:
        """The mistakes that were found while typing, and what the last check found besides."""
        return [*self.mistakes, *self.remarks]

    def _here(self, remark: Remark, project: Project) -> Remark:
        if remark.place.path == self.path:
            return remark
        where = Stretch(self.path, 0, 0)
        for file in project.names(self.path).files:
            found = project.found(file, self.path)
            if found is not None and remark.place.path in project.closure(found):
                where = Stretch(self.path, file.start, file.end)
                break
        return remark._replace(place=where, related=((remark.place, "here"), *remark.related))


class Workspace:
    """What is open in an editor: the files by URI, the folders, how positions are counted, and the chosen machine."""

    def __init__(self, machine: str | None = None) -> None:
        self.machine = machine
        self.encoding = "utf-16"
        self.folders: list[str] = []
        self.documents: dict[str, Document] = {}

    def unsaved(self) -> dict[str, str]:
        """The texts of open files by path."""
        return {document.path: document.text.text for document in self.documents.values()}

    def project(self, document: Document | None = None) -> Project:
        """The files as they are now, and the machine that a document's times are for."""
        machine = document.meaning.machine_path if document is not None else None
        return Project(self.unsaved(), self.folders, machine)

    def followed(self, uri: str) -> Document | None:
        """An open file that is small enough to be followed."""
        document = self.documents.get(uri)
        return document if document is not None and document.followed else None

    def text(self, path: str) -> Text:
        """The text of a file, open or not."""
        found = [document.text for document in self.documents.values() if document.path == path]
        return found[0] if found else Text(Project().text(path), self.encoding)

    def uri(self, path: str) -> str:
        """The URI of a file, as the editor spells it where it is open."""
        return next((document.uri for document in self.documents.values() if document.path == path), uri_of(path))
