"""Every finding has the smallest ledger that shows it: its files as YAML, and what `check` prints of it."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
import yaml

from memento_git.ledger.store import Ledger
from memento_git.review import actions, formats
from memento_git.review.catalogue import CATALOGUE
from memento_git.verbs import doctor
from tests.play import commit_all, git

if TYPE_CHECKING:
    from collections.abc import Mapping

SPECIMENS: Final = Path(__file__).parent / "specimens"
NOW: Final = 1767268800.0  # 2026-01-01T12:00:00Z


def load(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
    return found


def put(root: Path, files: Mapping[str, Any]) -> None:
    """Write, link or remove files: a text, {base64: ...}, {link: ...}, or {removed: ...} for none."""
    for name, told in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(told, str):
            path.write_text(told, encoding="utf-8")
        elif "base64" in told:
            path.write_bytes(base64.b64decode(told["base64"]))
        elif "link" in told:
            path.symlink_to(told["link"])
        else:
            path.unlink()


def shown(root: Path, specimen: Mapping[str, Any]) -> str:
    """Make a specimen's repository; return what check prints of it."""
    git(root.parent, "init", "-q", "-b", "main", str(root))
    put(root, load(SPECIMENS / "sound.yaml"))
    put(root, specimen.get("base") or {})
    commit_all(root, "base")
    if "head" in specimen:
        git(root, "switch", "-qc", "work")
        put(root, specimen["head"])
        commit_all(root, "head")
    for later in specimen.get("then") or ():
        put(root, later)
        commit_all(root, "then")
    with Ledger.open(root, clock=lambda: NOW) as ledger:
        report = actions.check(ledger, base="main" if "head" in specimen else "")
    return formats.text(report.findings, report.already, "") + "\n"


def test_the_sound_ledger_that_all_begin_with_has_nothing_wrong(tmp_path: Path) -> None:
    assert shown(tmp_path / "repo", {}) == "nothing is wrong\n"


def test_every_finding_has_a_specimen_and_every_specimen_a_finding() -> None:
    assert {path.name for path in SPECIMENS.iterdir() if path.is_dir()} == set(CATALOGUE)


@pytest.mark.parametrize("code", sorted(CATALOGUE))
def test_the_specimen_shows_its_finding(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for role in ("AUTHOR", "COMMITTER"):  # so that a commit has the same id in each run
        monkeypatch.setenv(f"GIT_{role}_DATE", f"{NOW:.0f} +0000")
    specimen = load(SPECIMENS / code / "specimen.yaml")
    printed = shown(tmp_path / "repo", specimen)
    assert printed == (SPECIMENS / code / "expected.txt").read_text(encoding="utf-8")
    assert f": {code} " in printed


@pytest.mark.parametrize("code", sorted(CATALOGUE))
def test_no_words_follow_the_last_command_of_a_fix(code: str) -> None:
    """They would be taken for its arguments when it is pasted."""
    printed = (SPECIMENS / code / "expected.txt").read_text(encoding="utf-8")
    fixes = re.findall(r"(?m)^ +fix: (.*)$", printed)
    commands = [
        command for fix in fixes for command in re.findall(r"(?:^|: )((?:git|memento) [a-z-]+ .*?)(?=; |$)", fix)
    ]
    assert [one for one in commands if re.search(r"(?:, (?!memento)| [a-z]+ [a-z]+ [a-z]+$)", one)] == []


@pytest.mark.parametrize("code", sorted({*CATALOGUE} - {"C004"}))
def test_what_check_finds_in_the_whole_tree_of_a_specimen_doctor_tells(code: str, tmp_path: Path) -> None:
    shown(tmp_path / "repo", load(SPECIMENS / code / "specimen.yaml"))
    with Ledger.open(tmp_path / "repo", clock=lambda: NOW) as ledger:
        found = actions.check(ledger, no_base=True).findings
        told = [one for one in doctor.examine(ledger) if one.status != "ok"]
    if not any(one.name == "ledger" for one in told):
        grades = {"warning": "warn", "error": "fail"}
        left = [
            one for one in found
            if not any(
                one.message in answer.message and (answer.status, answer.fix) == (grades[one.severity], one.fix)
                for answer in told
            )
        ]  # fmt: skip
        assert left == []
        assert bool([one for one in found if one.severity == "error"]) == any(one.status == "fail" for one in told)
