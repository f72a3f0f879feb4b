"""Project: the files of a workspace, with what an editor has not saved, and where their names are declared and used."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from aspenpy.editor import names
from aspenpy.editor.names import File, Name, NameIndex
from aspenpy.language.diagnostics import AspenError, fail
from aspenpy.language.files import Reader, models_folder
from aspenpy.language.source import Source
from aspenpy.language.vocabulary import KEYWORDS
from aspenpy.record import NamedTuple

MOST_FILES = 2_000  # model files that are looked through for uses of a name
LARGEST = 1_000_000  # characters of a file whose names are looked at
MOST_VISITED = 20_000  # files and folders that are passed on the way

KINDS: dict[str, tuple[str, ...]] = {
    names.VALUE: names.VALUES,
    names.DATA: (names.DATA,),
    names.KERNEL: (names.KERNEL,),
    names.ENUM: (names.ENUM,),
    names.MODEL: (names.MODEL,),
    names.COMPONENT: (names.COMPONENT,),
    names.RESOURCE: (names.RESOURCE,),
    names.TRAIT: (names.TRAIT, *(row.declares for row in KEYWORDS.values() if row.used_as == names.TRAIT)),
}
"""What a name may have been declared as."""

FIXED = (names.RESOURCE, names.TRAIT, names.PROPERTY)
"""What is known by its name outside of the model: a rename would change its meaning."""


class NameLocation(NamedTuple):
    """A name in a file."""

    path: str
    name: Name


class Project:
    """The files as they are now; made anew for each question."""

    def __init__(
        self, unsaved: Mapping[str, str] = MappingProxyType({}), folders: Iterable[str] = (), machine: str | None = None
    ) -> None:
        self.unsaved = dict(unsaved)
        self.folders = tuple(folders)
        self.machine = machine
        self.reader = Reader(unsaved=self.unsaved)
        self._closures: dict[str, tuple[str, ...]] = {}
        self._names: dict[str, NameIndex] = {}

    # -- files -----------------------------------------------------------------------------------

    def text(self, path: str) -> str:
        """The text of a file; empty where it cannot be read."""
        try:
            return self.reader.read(path).text
        except AspenError:
            return ""

    def names(self, path: str) -> NameIndex:
        if path not in self._names:
            text = self.text(path)
            self._names[path] = names.names_of(text if len(text) <= LARGEST else "")
        return self._names[path]

    def find_file(self, file: File, path: str) -> str | None:
        """The path of a file that another one includes or imports."""
        asking = Source("", path, path)
        find = self.reader.import_ if file.model else self.reader.include
        try:
            return find(file.path, asking, asking).path
        except AspenError:
            return None

    def closure(self, path: str) -> tuple[str, ...]:
        """The file and what it includes, directly or through others."""
        if path not in self._closures:
            reached = {path: None}
            waiting = [path]
            while waiting and len(reached) < MOST_FILES:
                current = waiting.pop()
                for file in self.names(current).files:
                    inner = None if file.model else self.find_file(file, current)
                    if inner is not None and inner not in reached:
                        reached[inner] = None
                        waiting.append(inner)
            self._closures[path] = tuple(reached)
        return self._closures[path]

    def workspace_files(self, path: str) -> Iterator[str]:
        """The model files of the workspace, or those of a file's own folder where it is in none."""
        above = [folder for folder in self.folders if path.startswith(os.path.join(folder, ""))]
        visited = number = 0
        for folder, folders, files in os.walk(above[0] if above else os.path.dirname(path)):
            folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "node_modules")
            visited += len(files) + 1
            for name in sorted(files):
                if name.endswith(".aspen") and number < MOST_FILES:
                    number += 1
                    yield os.path.realpath(os.path.join(folder, name))
            if visited > MOST_VISITED or number >= MOST_FILES or not above:
                return

    def includers(self, path: str) -> Iterator[str]:
        """The other files of the workspace that include this one."""
        base = os.path.basename(path)
        candidates = dict.fromkeys([*self.unsaved, *self.workspace_files(path)])
        return (
            other for other in candidates if other != path and base in self.text(other) and path in self.closure(other)
        )

    # -- declarations ----------------------------------------------------------------------------

    def declaration(self, path: str, name: Name, *, far: bool = True) -> NameLocation | None:
        """The declaration of a name. `far` also looks into the files that include this one, and the chosen machine."""
        if name.declares:
            return NameLocation(path, name)
        kinds = KINDS.get(name.kind, ())
        if name.kind == names.MODEL:
            return self.model(path, f"{name.within}.{name.name}".lstrip("."))
        if name.within:
            model = self.model(path, name.within)
            return self._global(self.closure(model.path), name.name, kinds) if model else None
        own = (known for known in self.names(path).names if known.declares and known.name == name.name)
        local = [
            known
            for known in own
            if known.kind in kinds and known.scope is not None and known.scope[0] <= name.start < known.scope[1]
        ]
        if local:
            return NameLocation(path, max(local, key=lambda known: known.scope or (0, 0)))
        location = self._find_inherited(path, name) or self._global(self.closure(path), name.name, kinds)
        if location is not None or not far:
            return location
        for other in self.includers(path):
            location = self._global(self.closure(other), name.name, kinds)
            if location is not None:
                return location
        return self._global(self.closure(self.machine), name.name, kinds) if self.machine else None

    def _find_inherited(self, path: str, name: Name) -> NameLocation | None:
        """The property of that name which a variant takes over, as the variant's own."""
        around = (base for base in self.names(path).names if base.scope and base.kind == names.COMPONENT)
        base = next((base for base in around if base.scope and base.scope[0] < name.start < base.scope[1]), None)
        variant, passed = base and base.component, {""}
        while base is not None and base.component not in passed:
            passed.add(base.component)
            place = self.declaration(path, base._replace(scope=None))
            if place is None:
                return None
            path, stated = place.path, self.names(place.path).names
            for known in stated:
                if _declares_name(known, name.name, (names.PROPERTY,)) and known.component == place.name.name:
                    return NameLocation(path, known._replace(component=variant or ""))
            base = next((known for known in stated if known.scope and known.component == place.name.name
                         and known.kind == names.COMPONENT), None)  # fmt: skip
        return None

    def _global(self, paths: Iterable[str], name: str, kinds: tuple[str, ...]) -> NameLocation | None:
        """The declaration of a global name: of two with one name, the later of the first file."""
        for path in paths:
            found = [
                known for known in self.names(path).names if _declares_name(known, name, kinds) and known.scope is None
            ]
            if found:
                return NameLocation(path, found[-1])
        return None

    def model(self, path: str, dotted: str) -> NameLocation | None:
        """The model that an import names, or an import of what it imports."""
        head, _, tail = dotted.partition(".")
        for current in self.closure(path):
            for file in self.names(current).files:
                target = self.find_file(file, current) if file.model == head else None
                if target is not None and tail:
                    return self.model(target, tail)
                if target is not None:
                    return self._global([target], head, (names.MODEL,))
        return None

    # -- uses ------------------------------------------------------------------------------------

    def uses(self, path: str, name: Name) -> list[NameLocation]:
        """The declaration of a name and all its uses, in order; nothing where it is not declared."""
        declared = self.declaration(path, name)
        if declared is None:
            return []
        target = (declared.path, declared.name.start)
        if declared.name.scope is not None:
            paths: Iterable[str] = [declared.path]
        else:
            paths = dict.fromkeys([declared.path, *self.closure(path), *self.unsaved, *self.workspace_files(path)])
        locations = []
        for other in paths:
            if declared.name.name not in self.text(other):
                continue
            for use in self.names(other).names:
                place = self.declaration(other, use) if use.name == declared.name.name else None
                if place is not None and (place.path, place.name.start) == target:
                    locations.append(NameLocation(other, use))
        return locations

    def places_to_rename(self, path: str, name: Name, new: str) -> list[NameLocation]:
        """The places that another name takes. Raises AspenError where it may not."""
        self.require_renamable(path, name)
        if not names.may_be_named(new):
            fail("rename", f"`{new}` is not a name", hint="use letters, digits and `_`; keywords cannot be names")
        places = self.uses(path, name)
        for place in places:
            kind = names.VALUE if place.name.kind in names.VALUES else place.name.kind
            other = place.name._replace(name=new, declares=False, kind=kind)
            if new != name.name and self.declaration(place.path, other, far=False) is not None:
                fail("rename", f"`{new}` is declared already", hint="choose another name")
        return places

    def require_renamable(self, path: str, name: Name) -> None:
        """Refuses a name of the language, of the library, or one that nobody declares."""
        declared = self.declaration(path, name)
        if declared is None:
            fail("rename", f"`{name.name}` is not declared in a model here")
        if declared.name.kind in FIXED:
            fail("rename", f"the {declared.name.kind} `{name.name}` has a meaning outside of this model")
        if declared.name.kind == names.KERNEL and declared.name.name == "main":
            fail("rename", "`main` is the kernel that a run begins with")
        library = os.path.join(models_folder(), "")
        inside = any(declared.path.startswith(os.path.join(folder, "")) for folder in self.folders)
        if declared.path.startswith(library) and not inside:
            fail("rename", f"`{name.name}` is declared in the library")


def _declares_name(name_there: Name, name: str, kinds: tuple[str, ...]) -> bool:
    return name_there.declares and name_there.name == name and name_there.kind in kinds
