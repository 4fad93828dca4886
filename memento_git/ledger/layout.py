"""One table: which file holds what, and where a record's file lies."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from memento_git.model.clock import file_stamp
from memento_git.model.ids import ALPHABET, LENGTH, SLUG, kind_of, random_part
from memento_git.model.tuples import NamedTuple

FOLDER: Final = ".memento"
CONFIG: Final = f"{FOLDER}/config.yaml"
README: Final = f"{FOLDER}/README.md"
GLOB: Final = ":(glob)"
ATTRIBUTES: Final = f"{FOLDER}/.gitattributes"
TOP_ATTRIBUTES: Final = ".gitattributes"
RUNS: Final = f"{FOLDER}/runs"
ARCHIVE: Final = f"{FOLDER}/archive"
KNOWLEDGE: Final = f"{FOLDER}/knowledge"
SKILLS: Final = f"{FOLDER}/skills"
RECIPES: Final = f"{FOLDER}/recipes"
RUN_START: Final = len(f"{ARCHIVE}/run_/") + LENGTH

EVENT_NAME: Final = re.compile(rf"(\d{{8}}T\d{{9}}Z)-([a-z]+)-([{ALPHABET}]{{{LENGTH}}})\.yaml")
_RANDOM: Final = rf"[{ALPHABET}]{{{LENGTH}}}"
_RUN: Final = rf"{re.escape(RUNS)}/run_{_RANDOM}"
_SHARDED: Final = rf"/tasks/(.)/task_(?=\1){_RANDOM}|/evidence/(.)/evidence_(?=\2){_RANDOM}"
_NOTE: Final = rf"{re.escape(KNOWLEDGE)}/[a-z][a-z0-9_-]{{0,30}}/(?P<shard>.)/note_(?=(?P=shard)){_RANDOM}"
OWNER: Final = re.compile(rf"{_RUN}(?:/plans/plan_{_RANDOM}|{_SHARDED})?|{_NOTE}")
NOTE_FILE: Final = rf"{_NOTE}\.md"
EVIDENCE_FILE: Final = re.compile(rf"{_RUN}/evidence/(.)/evidence_(?=\1){_RANDOM}\.yaml")
ARCHIVE_FILE: Final = rf"{re.escape(ARCHIVE)}/run_{_RANDOM}/[a-z0-9]+\.yaml\.gz"
SKILL_FILE: Final = rf"{re.escape(SKILLS)}/([A-Za-z0-9][A-Za-z0-9._-]{{0,100}})/.+"
RECIPE_FILE: Final = rf"{re.escape(RECIPES)}/({SLUG})\.yaml"
_PART: Final = rf"(?<![a-z0-9]){_RANDOM}(?![a-z0-9])"
FILE_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,80}")
HIDING: Final = rb"\\(?:[/xuU]|[^ -~])"  # by what YAML may spell a path or an id with other letters


class Place(NamedTuple):
    """What a path of the ledger holds: `kind` is run, plan, task, note, evidence, event or attachment."""

    kind: str
    run: str
    id: str
    of: str
    stamp: str = ""
    do: str = ""


def random_parts(text: str) -> set[str]:
    """Return the random parts of all ids in a path, or in many of them."""
    return {*re.findall(_PART, text)}


def owner_of(folder: str) -> str:
    """Return the record whose events lie in a folder; '' for any other folder, that of evidence files included."""
    return folder.rpartition("/")[2] if OWNER.fullmatch(folder) else ""


def evidence_of(path: str) -> str:
    """Return the evidence that a file describes; '' for any other file."""
    return path.rpartition("/")[2].removesuffix(".yaml") if EVIDENCE_FILE.fullmatch(path) else ""


def note_of(path: str) -> str:
    """Return the note whose text a file holds; '' for any other file."""
    is_note = path.startswith(KNOWLEDGE) and re.fullmatch(NOTE_FILE, path)
    return path.rpartition("/")[2].removesuffix(".md") if is_note else ""


def is_archive(path: str) -> bool:
    """Tell whether a path is one of an archive: no file elsewhere, or of another kind, is read as one."""
    return path.startswith(ARCHIVE) and re.fullmatch(ARCHIVE_FILE, path) is not None


def recipe_of(path: str) -> str:
    """Return the name of the recipe that a file holds; '' for any other file."""
    match = re.fullmatch(RECIPE_FILE, path)
    return match[1] if match else ""


def skill_of(path: str) -> str:
    """Return the name of the skill in whose folder a file lies; '' for any other file."""
    match = re.fullmatch(SKILL_FILE, path)
    return match[1] if match else ""


def recipe_path(name: str) -> str:
    return f"{RECIPES}/{name}.yaml"


def place_of(path: str) -> Place | None:
    """Return what a path of a record, an event or an attachment holds; None where no such file has that path."""
    folder, _, name = path.rpartition("/")
    if owner := owner_of(folder):
        return _in_folder(run_of_path(path), owner, name)
    if identity := evidence_of(path):
        return Place("evidence", run_of_path(path), identity, identity)
    if identity := note_of(path):
        return Place("note", "", identity, identity)
    return None


def placed(paths: Iterable[str], *kinds: str) -> Iterator[tuple[str, Place]]:
    """Yield those of some paths that hold something, of some kinds where any are named, each with what it holds."""
    for path in paths:
        place = place_of(path)
        if place is not None and (not kinds or place.kind in kinds):
            yield path, place


def record_at(path: str) -> Place | None:
    """Return what a path of a record or an event holds; None where no such file, or an attachment, has that path."""
    place = place_of(path)
    return None if place is None or place.kind == "attachment" else place


def _in_folder(run: str, owner: str, name: str) -> Place | None:
    kind = kind_of(owner)
    if (match := EVENT_NAME.fullmatch(name)) is not None:
        return Place("event", run, f"event_{match[3]}", owner, match[1], match[2])
    if kind == "evidence":
        return Place("attachment", run, owner, owner) if FILE_NAME.fullmatch(name) else None
    return Place(kind, run, owner, owner) if run and name == f"{kind}.md" else None


def folder_of(run: str, record: str) -> str:
    """Return the folder in which a record's events lie."""
    kind, shard = kind_of(record), random_part(record)[0]
    top = f"{RUNS}/{run}"
    return {
        "run": top,
        "plan": f"{top}/plans/{record}",
        "task": f"{top}/tasks/{shard}/{record}",
        "evidence": f"{top}/evidence/{shard}/{record}",
    }[kind]


def note_path(domain: str, note: str) -> str:
    return f"{KNOWLEDGE}/{domain}/{random_part(note)[0]}/{note}.md"


def domain_of(path: str) -> str:
    """Return the domain of a note's file."""
    return path.split("/", 3)[2]


def event_name(at: str, do: str, identity: str) -> str:
    return f"{file_stamp(at)}-{do}-{random_part(identity)}.yaml"


def event_pattern(run: str, identity: str) -> str:
    """Return the pattern of git's that the path of an event has, of which nothing but the id is known."""
    return f"{GLOB}{f'{RUNS}/{run}' if run else KNOWLEDGE}/**/*-{random_part(identity)}.yaml"


def events_pattern(run: str) -> str:
    """Return the pattern of git's that the paths of all events have, of a run or of the notes."""
    return f"{GLOB}{f'{RUNS}/{run}' if run else KNOWLEDGE}/**/*Z-*.yaml"


def evidence_pattern(run: str) -> str:
    """Return the pattern of git's that the files of a run's evidence have, and no attachment."""
    return f"{GLOB}{RUNS}/{run}/evidence/*/*.yaml"


def prose_path(run: str, record: str) -> str:
    return f"{folder_of(run, record)}/{kind_of(record)}.md"


def evidence_path(run: str, record: str) -> str:
    return f"{folder_of(run, record)}.yaml"


def archive_path(run: str, digest: str) -> str:
    return f"{ARCHIVE}/{run}/{digest}.yaml.gz"


def run_of_path(path: str) -> str:
    """Return the run that a path of the ledger belongs to, '' for any other path."""
    parts = path.split("/", 3)
    return parts[2] if len(parts) == 4 and parts[1] in ("runs", "archive") else ""
