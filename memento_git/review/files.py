"""What is wrong with the files of a ledger by their names and their text alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Final

from memento_git.ledger import layout, policyfile, staged
from memento_git.model.finding import Finding, leaving_out, removing
from memento_git.model.ids import ID, kind_of
from memento_git.model.work import commands_of, without_file_ids
from memento_git.review.misplaced import brought_back

if TYPE_CHECKING:
    from memento_git.ledger.git import Git
    from memento_git.ledger.view import View
    from memento_git.model.policy import Policy
    from memento_git.texts.secrets import Secret

TOP: Final = (layout.CONFIG, layout.README, layout.ATTRIBUTES)
LARGEST_SCAN: Final = 1024 * 1024
KEYS: Final = {  # code -> the key of a record that a finding is about, where it names no other record
    "C001": "code", "C002": "by", "C006": "by", "G002": "by", "G003": "gate", "G004": "gate", "K001": "by",
    "K002": "signature", "K003": "signature", "N002": "key", "N006": "origin", "P003": "by", "T004": "at",
    "V002": "outcome",
}  # fmt: skip
STAGED: Final = "take it out of the file, and stage that; revoke it if it was ever committed"


def placed(view: View, found: Iterable[Finding]) -> list[Finding]:
    """Return findings with the line that they are about, or the archive that alone holds their file."""
    told = []
    for one in found:
        place = layout.place_of(one.path)
        where = view.place_of(place.run, one.path) if place and place.run else one.path
        line = one.line or (_line_of(view, one) if place and where == one.path else 0)
        told.append(one._replace(line=line, archive=where if where != one.path else ""))
    return told


def _line_of(view: View, finding: Finding) -> int:
    """Return the line of a record's file that names what a finding does, first of all others, or else has its key.

    It is 0 where none does.
    """
    lines = (view.read(finding.path) or b"").decode(errors="replace").split("\n")
    others = [other[0] for other in ID.finditer(finding.message) if other[0] not in finding.path]
    told = (number for other in others for number, line in enumerate(lines, start=1) if other in line)
    key = f"{KEYS[finding.code]}:" if finding.code in KEYS else "\n"
    keyed = (number for number, line in enumerate(lines, start=1) if line.startswith(key))
    return next(chain(told, keyed), 0)


def check_names(view: View, among: Collection[str], policy: Policy) -> Iterator[Finding]:
    """Yield those of `among` that are not the ledger's, or that differ from another path in case alone.

    Files that policy names, such as that of the allowed signers, are; which these are, none can tell of a broken one.
    """
    named = among if policyfile.read(view)[1] else policy.key_files
    wanted = set(among)
    folded: dict[str, str] = {}
    for path in sorted(view.files):
        first = folded.setdefault(path.casefold(), path)
        if first != path and (path in wanted or first in wanted):
            ours, other = (first, path) if is_ours(first) else (path, first)
            yield Finding("F009", other, 0, f"differs from {ours} in case alone", removing(other, "--cached"))
        if path in wanted and path not in named and not is_ours(path):
            message = f"{path} is not part of the ledger's layout"
            out = removing(path, *(["--cached"] if staged.is_read(view.git) else []))
            yield Finding("F010", path, 0, message, brought_back(view, path) or out, "warning")


def check_top(names: Iterable[str]) -> Iterator[Finding]:
    """Yield what lies at the top of a repository and differs from the ledger's folder in case alone."""
    for name in names:
        if name != layout.FOLDER and name.casefold() == layout.FOLDER:
            yield Finding(
                "F009", name, 0, f"differs from {layout.FOLDER} in case alone", removing(name, "-r", "--cached")
            )


def twins(git: Git, first: str, head: str) -> list[Finding]:
    """Return what is beside the ledger's folder under its name in other letters, and is not so at the base."""
    found = [*check_top(git.entries(head))]
    there = git.entries(first) if found else {}
    return [one for one in found if one.path not in there]


def is_ours(path: str) -> bool:
    """Tell whether a path is one that the ledger writes, or that recall reads: the folder of a skill."""
    named = layout.recipe_of(path) or layout.skill_of(path)
    return path in TOP or layout.place_of(path) is not None or layout.is_archive(path) or bool(named)


def never_back(found: Collection[Finding]) -> list[Finding]:
    """Return findings, those of files that were redacted and are back with the one fix that takes them out."""
    fixes = {one.path: one.fix for one in found if one.code == "R001"}
    return [one._replace(fix=fixes.get(one.path, one.fix)) for one in found]


def lasting(found: Iterable[Finding], paths: Collection[str]) -> list[Finding]:
    """Return findings, those of what came with a commit of the branch with a fix that no further commit can be."""
    return [
        one._replace(fix=leaving_out(one.path)) if one.code in ("F008", "T007") and one.path in paths else one
        for one in found
    ]


def check_secrets(view: View, paths: Iterable[str], allowed: Collection[str]) -> Iterator[Finding]:
    """Yield what looks like a secret in records; captured output was scrubbed when it was taken."""
    from memento_git.texts.secrets import find_secrets, slug

    known = {slug(rule) for rule in allowed}
    held = {path: place for path in paths if (place := layout.record_at(path))}
    view.fetch(held)
    for path, place in held.items():
        text = (view.read(path) or b"")[:LARGEST_SCAN].decode(errors="replace")
        secrets = find_secrets(text)
        if secrets and (found := view.record(path)) is not None:
            secrets = find_secrets(without_file_ids(text, found.data))
        for secret in [*secrets, *_in_commands(view, path, text, {one.value for one in secrets})]:
            if slug(secret.rule) not in known and slug(secret.rule) not in _own(view, path):
                message = f"looks like a secret ({secret.rule})"
                fix = STAGED if staged.is_read(view.git) else _without(place)
                yield Finding("S001", path, secret.line, message, fix)


def _without(place: layout.Place) -> str:
    """Return how a secret is taken out of a record that was committed."""
    if place.kind in ("run", "plan", "task"):
        return "revoke it, and edit the text"
    noun = "note" if kind_of(place.of) == "note" else "evidence"
    return f"revoke it, then memento {noun} redact {place.id} --reason WHY"


def _in_commands(view: View, path: str, text: str, known: Collection[str]) -> Iterator[Secret]:
    """Yield what looks like a secret in commands that a record keeps word by word, and is not known from its text."""
    from memento_git.texts.secrets import find_in_words

    found = view.record(path)
    for words in commands_of(found.data) if found is not None else ():
        for secret in find_in_words(words):
            if secret.value not in known:
                at = text.find(secret.value)
                yield secret._replace(line=text.count("\n", 0, at) + 1 if at >= 0 else 0)


def _own(view: View, path: str) -> set[str]:
    """Return the rules that the writer of evidence or of a note overrode, which stands in the record itself."""
    from memento_git.texts.secrets import slug

    found = view.record(path)
    return {slug(rule) for rule in found.data.get("allowed_secrets") or ()} if found is not None else set()
