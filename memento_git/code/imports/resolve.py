"""Which file of the repository an import leads to. Pure: it knows the paths, nothing else."""

from __future__ import annotations

import sys
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING, Final

from memento_git.code.grammars import PYTHON
from memento_git.code.imports.other_languages import Found, Others

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ROOTS: Final = ("", "src", "lib")


class Resolver:
    """The source files of a repository, as imports see them."""

    def __init__(
        self, paths: Iterable[str], go_modules: Mapping[str, str], php_folders: Iterable[tuple[str, str]] = ()
    ) -> None:
        self.paths = frozenset(paths)
        self.folders = {""}
        for path in self.paths:
            folder = dirname(path)
            while folder not in self.folders:
                self.folders.add(folder)
                folder = dirname(folder)
        self.others = Others(self.paths, go_modules, php_folders)
        self.packages = {dirname(path) for path in self.paths if path.endswith(("/__init__.py", "/__init__.pyi"))}
        self.package_roots = sorted({root for one in self.packages if (root := dirname(one)) not in self.packages})
        self._roots: dict[str, list[str]] = {}

    def find(self, path: str, language: str, told: str) -> Found:
        """Return where one import of a file leads."""
        if language != PYTHON:
            return self.others.find(path, language, told)
        level, module, name = told.split(":", 2)
        if int(level):
            base = dirname(path)
            for _ in range(int(level) - 1):
                base = dirname(base)
            return Found(self._module(base, module.split(".") if module else [], name) or "")
        parts = module.split(".")
        for root in self._roots_of(path, standard=parts[0] in sys.stdlib_module_names):
            found = self._module(root, parts, name)
            if found is not None:
                return Found(found)
        return Found(outside=parts[0])

    def _roots_of(self, path: str, *, standard: bool) -> list[str]:
        """Return where absolute imports of a file are looked up: first beside its own package, last elsewhere."""
        own = dirname(path)
        while own in self.packages:
            own = dirname(own)
        if standard:
            return list(dict.fromkeys((own, *ROOTS)))
        if own not in self._roots:
            near = sorted(self.package_roots, key=lambda root: (-_shared(own, root), root))
            self._roots[own] = list(dict.fromkeys((own, *ROOTS, *near)))
        return self._roots[own]

    def _module(self, root: str, parts: list[str], name: str) -> str | None:
        """Return the file of a module below a root, '' for a folder without one, None where it is not there."""
        base = join(root, *parts)
        if name not in ("", "*") and (base in self.folders) and (file := self._file(join(base, name))):
            return file
        for length in range(len(parts), 0, -1):
            there = join(root, *parts[:length])
            if file := self._file(there):
                return file
            if there in self.folders:
                return ""
        return (self._file(base) or "") if not parts else None

    def _file(self, base: str) -> str:
        for path in (f"{base}.py", join(base, "__init__.py"), f"{base}.pyi", join(base, "__init__.pyi")):
            if normpath(path) in self.paths:
                return normpath(path)
        return ""


def _shared(one: str, other: str) -> int:
    """Return how many leading folders two paths share."""
    count = 0
    for left, right in zip(one.split("/"), other.split("/"), strict=False):
        if left != right:
            break
        count += 1
    return count
