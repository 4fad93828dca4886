"""The packages that a project says it requires, by the files in which it says so. Pure."""

from __future__ import annotations

import configparser
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from memento_git.model.anchors import MANIFESTS, REQUIREMENTS

Reader = Callable[[str], Iterable[tuple[str, str]]]
Required = tuple[str, str]
CARGO: Final = ("dependencies", "dev-dependencies", "build-dependencies")
GO: Final = re.compile(r"^\s*(?:require\s+)?([^\s()/]+\.[^\s()]+)\s+(v\S+)", re.MULTILINE)
GEM: Final = re.compile(r"^\s*gem\s+[\"']([^\"']+)[\"'](?:\s*,\s*[\"']([^\"']+)[\"'])?", re.MULTILINE)


def is_manifest(path: str) -> bool:
    """Tell whether a file says what a project requires."""
    return path.rpartition("/")[2] in MANIFESTS or re.fullmatch(REQUIREMENTS, _last_two(path)) is not None


def required(path: str, data: bytes) -> dict[str, str]:
    """Return name -> requirement as it is written; nothing where the file cannot be read."""
    name = path.rpartition("/")[2]
    read = READERS.get(name, _requirements)
    try:
        found = list(read(data.decode("utf-8-sig")))
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError, configparser.Error):
        return {}
    return {canonical(path, package): " ".join(told.split()) for package, told in found}


def canonical(path: str, package: str) -> str:
    """Return a package's name as its registry compares names: Python's without regard to case, `-`, `_` and `.`."""
    name = path.rpartition("/")[2]
    if name in ("pyproject.toml", "setup.cfg", "Pipfile") or re.fullmatch(REQUIREMENTS, _last_two(path)):
        from packaging.utils import canonicalize_name

        return str(canonicalize_name(package))
    return package


def _last_two(path: str) -> str:
    return "/".join(path.split("/")[-2:]) if "requirements/" in path else path.rpartition("/")[2]


def _specified(lines: Iterable[Any]) -> Iterator[Required]:
    """Yield name and text of each line that is a requirement of Python."""
    from packaging.requirements import InvalidRequirement, Requirement

    for line in lines:
        text = line.partition(" #")[0].strip() if isinstance(line, str) else ""
        try:
            yield Requirement(text).name, text
        except InvalidRequirement:
            continue


def _requirements(text: str) -> Iterator[Required]:
    return _specified(line.partition(" --")[0] for line in text.replace("\\\n", " ").splitlines())


def _pyproject(text: str) -> Iterator[Required]:
    data = tomllib.loads(text)
    project = data.get("project", {})
    groups = [project.get("dependencies", []), data.get("build-system", {}).get("requires", [])]
    groups += [*project.get("optional-dependencies", {}).values(), *data.get("dependency-groups", {}).values()]
    for group in groups:
        yield from _specified(group)
    poetry = data.get("tool", {}).get("poetry", {})
    tables = [poetry.get("dependencies", {}), poetry.get("dev-dependencies", {})]
    tables += [group.get("dependencies", {}) for group in poetry.get("group", {}).values()]
    yield from _tables(tables)


def _tables(tables: Iterable[dict[str, Any]]) -> Iterator[Required]:
    """Yield name and requirement of tables that map one to the other."""
    for table in tables:
        for name, told in table.items():
            said = told if isinstance(told, str) else json.dumps(told, sort_keys=True)
            yield name, f"{name} {said}"


def _setup(text: str) -> Iterator[Required]:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(text)
    lines = parser.get("options", "install_requires", fallback="").splitlines()
    if parser.has_section("options.extras_require"):
        for _, told in parser.items("options.extras_require"):
            lines += told.splitlines()
    return _specified(lines)


def _keyed(load: Callable[[str], Any], *keys: str) -> Reader:
    """Return what reads a file that has such tables under some keys."""

    def read(text: str) -> Iterator[Required]:
        data = load(text)
        return _tables(data.get(key, {}) for key in keys)

    return read


def _cargo(text: str) -> Iterator[Required]:
    data = tomllib.loads(text)
    holders = [data, data.get("workspace", {}), *data.get("target", {}).values()]
    return _tables(holder.get(key, {}) for holder in holders for key in CARGO)


def _matched(pattern: re.Pattern[str]) -> Reader:
    """Return what reads a file whose lines of this form name a package, and perhaps its version."""
    return lambda text: ((match[1], f"{match[1]} {match[2] or ''}") for match in pattern.finditer(text))


READERS: Final[dict[str, Reader]] = {
    "pyproject.toml": _pyproject,
    "setup.cfg": _setup,
    "Pipfile": _keyed(tomllib.loads, "packages", "dev-packages"),
    "package.json": _keyed(json.loads, "dependencies", "devDependencies", "peerDependencies", "optionalDependencies"),
    "composer.json": _keyed(json.loads, "require", "require-dev"),
    "Cargo.toml": _cargo,
    "go.mod": _matched(GO),
    "Gemfile": _matched(GEM),
}
