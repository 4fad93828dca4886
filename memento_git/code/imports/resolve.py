"""Which file of the repository an import leads to. Pure: it knows the paths, and what manifests say."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from posixpath import basename, dirname, join, normpath, splitext
from typing import Any, Final, NamedTuple

from memento_git.code.grammars import PYTHON
from memento_git.model.enumeration import grouped

ROOTS: Final = ("", "src", "lib")
SCRIPTS: Final = (".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".d.ts")
COMPILED: Final = {".js": (".ts", ".tsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
MODULES: Final = ("", "lua", "src", "lib")
HEADERS: Final = ("include", "src", "")


class Found(NamedTuple):
    """Where an import leads: a file (or, in Go, a folder) of the repository, or a name outside; perhaps neither."""

    inside: str = ""
    outside: str = ""


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
        self.packages = {dirname(path) for path in self.paths if path.endswith(("/__init__.py", "/__init__.pyi"))}
        self.package_roots = sorted({root for one in self.packages if (root := dirname(one)) not in self.packages})
        self._roots: dict[str, list[str]] = {}
        self.go_modules = sorted(go_modules.items(), key=lambda item: (-len(item[1]), item[0]))
        self.php_folders = sorted(php_folders, key=lambda item: (-len(item[0]), item))
        self.go_folders = {dirname(path) for path in self.paths if path.endswith(".go")}
        nearest = sorted(self.paths, key=lambda path: (path.count("/"), path))
        self.by_name = grouped((path.rpartition("/")[2], path) for path in nearest)
        self._finders: dict[str, Callable[[str, str], Found]] = {
            PYTHON: self._python,
            "javascript": self._script, "typescript": self._script, "tsx": self._script, "go": self._go,
            "rust": self._rust, "java": self._java, "c": self._include, "cpp": self._include, "ruby": self._ruby,
            "lua": self._lua, "php": self._php,
        }  # fmt: skip

    def find(self, path: str, language: str, told: str) -> Found:
        """Return where one import of a file leads; to a file or to a name outside, never to both."""
        return self._finders[language](path, told)

    def _python(self, path: str, told: str) -> Found:
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
        return self._first((f"{base}.py", join(base, "__init__.py"), f"{base}.pyi", join(base, "__init__.pyi")))

    # Other languages.

    def _first(self, candidates: Iterable[str]) -> str:
        return next((path for path in map(normpath, candidates) if path in self.paths), "")

    def _script(self, path: str, told: str) -> Found:
        clean = told.partition("?")[0]
        if not clean.startswith("."):
            parts = clean.split("/")
            return Found(outside="/".join(parts[: 2 if clean.startswith("@") else 1]))
        base = join(dirname(path), clean)
        stem, ending = splitext(base)
        candidates = [base, *(stem + other for other in COMPILED.get(ending, ()))]
        candidates += [base + other for other in SCRIPTS] + [join(base, f"index{other}") for other in SCRIPTS]
        return Found(self._first(candidates))

    def _go(self, path: str, told: str) -> Found:  # noqa: ARG002 (one shape for all languages)
        for folder, module in self.go_modules:
            if told == module or told.startswith(f"{module}/"):
                there = normpath(join(folder, told[len(module) + 1 :]))
                there = "" if there == "." else there
                return Found(go_node(there) if there in self.go_folders else "")
        return Found(outside=told)

    def _rust(self, path: str, told: str) -> Found:
        root, here = self._crate(path)
        parts = [part for part in told.split("::") if part]
        if not parts:
            return Found()
        if parts[0] == "crate":
            return Found(self._rust_file(root, parts[1:]))
        if parts[0] in ("self", "super"):
            while parts and parts[0] in ("self", "super"):
                here = here[:-1] if parts.pop(0) == "super" else here
            return Found(self._rust_file(root, here + parts))
        child = self._rust_file(root, [*here, parts[0]], whole=True)
        return Found(child) if child else Found(outside=parts[0])

    def _crate(self, path: str) -> tuple[str, list[str]]:
        """Return the folder of a Rust file's crate, and the file's module in it."""
        folder = dirname(path)
        while folder and not self._first([join(folder, "lib.rs"), join(folder, "main.rs")]):
            folder = dirname(folder)
        inner = splitext(path)[0].removeprefix(f"{folder}/").split("/")
        if inner[-1] in ("mod", "lib", "main"):
            inner.pop()
        return folder, inner

    def _rust_file(self, root: str, parts: list[str], *, whole: bool = False) -> str:
        for length in range(len(parts), len(parts) - 1 if whole else 0, -1):
            base = join(root, *parts[:length])
            if found := self._first([f"{base}.rs", join(base, "mod.rs")]):
                return found
        return "" if whole else self._first([join(root, "lib.rs"), join(root, "main.rs")])

    def _java(self, path: str, told: str) -> Found:  # noqa: ARG002 (one shape for all languages)
        parts = told.removeprefix("static ").split(".")
        if parts[-1] != "*":
            for length in range(len(parts), 0, -1):
                tail = "/".join(parts[:length]) + ".java"
                for file in self.by_name.get(f"{parts[length - 1]}.java", ()):
                    if file == tail or file.endswith(f"/{tail}"):
                        return Found(file)
        return Found(outside=".".join(parts[:2]))

    def _include(self, path: str, told: str) -> Found:
        name, quoted = told[1:], told.startswith('"')
        near = [join(dirname(path), name)] if quoted else []
        if found := self._first([*near, *(join(folder, name) for folder in HEADERS)]):
            return Found(found)
        if quoted or "/" in name:
            clean = normpath(name).lstrip("./")
            ends = [one for one in self.by_name.get(clean.rpartition("/")[2], ()) if one.endswith(f"/{clean}")]
            if len(ends) == 1:
                return Found(ends[0])
        return Found(outside=name)

    def _ruby(self, path: str, told: str) -> Found:
        if told.startswith("./"):
            base = join(dirname(path), told)
            return Found(self._first([base, f"{base}.rb"]))
        found = self._first([f"lib/{told}.rb", f"{told}.rb", f"app/{told}.rb"])
        return Found(found) if found else Found(outside=told.partition("/")[0])

    def _lua(self, path: str, told: str) -> Found:
        if told.startswith("./"):
            return Found(self._first([told[2:], join(dirname(path), told[2:])]))
        base = told.replace(".", "/")
        tails = [f"{base}.lua", f"{base}/init.lua"]
        if found := self._first(join(folder, tail) for folder in (*MODULES, dirname(path)) for tail in tails):
            return Found(found)
        ends = [one for tail in tails for one in self.by_name.get(basename(tail), ()) if one.endswith(f"/{tail}")]
        return Found(ends[0]) if len(ends) == 1 and "/" in base else Found(outside=told.partition(".")[0])

    def _php(self, path: str, told: str) -> Found:
        if told.startswith(("./", "file:")):
            name = told.removeprefix("file:")
            return Found(self._first([join(dirname(path), name), *([] if name == told else [name])]))
        owned = False
        for prefix, folder in self.php_folders:
            if told.startswith(prefix):
                owned = owned or bool(prefix)
                if found := self._first([join(folder, told[len(prefix) :].replace("\\", "/") + ".php")]):
                    return Found(found)
        return Found() if owned else Found(outside=told.partition("\\")[0])


def _shared(one: str, other: str) -> int:
    """Return how many leading folders two paths share."""
    count = 0
    for left, right in zip(one.split("/"), other.split("/"), strict=False):
        if left != right:
            break
        count += 1
    return count


def go_node(folder: str) -> str:
    """Return how a Go package is called in a graph: its folder, since its files are one unit to the language."""
    return f"{folder}/" if folder else "./"


def php_folders(path: str, data: bytes) -> list[tuple[str, str]]:
    """Return the beginnings of classes' names and the folders that they stand for, as a composer.json says."""
    try:
        read: Any = json.loads(data)
    except (ValueError, RecursionError):
        return []
    found = []
    for part in ("autoload", "autoload-dev"):
        loaded = read.get(part) if isinstance(read, dict) else None
        named = loaded.get("psr-4") if isinstance(loaded, dict) else None
        for prefix, places in named.items() if isinstance(named, dict) else ():
            for place in places if isinstance(places, list) else [places]:
                if isinstance(place, str):
                    found.append((prefix, normpath(join(dirname(path), place))))
    return found
