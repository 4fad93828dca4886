"""Which lines of `.gitattributes` hide a file of the ledger: git itself is asked what they do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memento_git.review.attributes import harmful, worse
from tests.play import git

if TYPE_CHECKING:
    from pathlib import Path

RUN = "runs/run_px0h2n7fq1s9"
PATHS = [
    "config.yaml", "recipes/build.yaml", f"{RUN}/run.md", f"{RUN}/20261123T051920218Z-passed-5jp6zq2x78da.yaml",
    f"{RUN}/plans/plan_zchd7zr89yn4/plan.md", f"{RUN}/tasks/v/task_vp3gmeyr1cpj/task.md",
    f"{RUN}/tasks/v/task_vp3gmeyr1cpj/20261123T051920815Z-completed-45zw6gtza93v.yaml",
    f"{RUN}/evidence/x/evidence_x065ch1wnjc0.yaml", "knowledge/security/4/note_4k5m6n7p8q9r.md",
    f"{RUN}/evidence/x/evidence_x065ch1wnjc0/stdout.txt", f"{RUN}/evidence/x/evidence_x065ch1wnjc0/junit.xml",
    "keys/allowed.signers", "skills/review/SKILL.md", "skills/review/scripts/run.sh",
]  # fmt: skip
HIDING = [
    "*.md", "*", "**", "*.y?ml", "*.[xy]aml", "*.[^x]aml", "*.[[:alpha:]]d", "*.[]m]d", r"*\.md", r"*.\md",
    '"*.ya\\155l"', ".memento/**", "/.memento/runs/**", f".memento/{RUN}/**", f"/.memento/{RUN}/**/task.md",
    ".memento/*/run_p*/**", "**/run_[!0]*/**", "**/tasks/[1-9a-z]/**", "*-passed-*", "*-completed-*.yaml",
    "*T05[0-9]*Z-*", "*5jp6zq2x78da.yaml", "**/evidence_x*", ".memento/knowledge/sec*/**",
    ".memento/recipes/build.yaml", "*/knowledge/*/[4]/*", "note_*.md", ".memento/**/v/*/*", "config.yaml",
    ".memento/**/stdout.txt", "std[!e]*", "*.txt", ".memento/runs/**/*.xml", "*.signers",
    "/.memento/keys/**", ".memento/*/allowed?signers",
    r".memento\/**", r"/.memento\/runs/**", r"**\/tasks\/v/**", ".mement[o/]/**", ".memento/run[+-z]/**",
    r".memento/\r\uns/**", ".memento/skills/**", "**/SKILL.md", "/.memento/skills/review/*",
    ".memento/skills/*/scripts/**", ".memento/skills/**/*.sh",
]  # fmt: skip
KEYS = [".memento/keys/allowed.signers"]
# Whole files, and whether git hides the configuration by them.
BYTES = {
    b".memento/** x=\x0c -diff\n": True, b".memento/** x=\x0b -diff\n": True, b".memento/** x=\x1c -diff\n": True,
    ".memento/** x=\u2028 -diff\n".encode(): True, ".memento/** x=\u0085 -diff\n".encode(): True,
    b".memento/** x=\xff -diff\n": True, b"[\xff.]memento/** -diff\n": True, b'"[\\056\\377]memento/**" -diff': True,
    b"[attr]q x=\x0c -diff\n.memento/** q\n": True, b'"[attr] q" -diff\n.memento/** q\n': True,
    b'"[attr]\\tq x" -diff\n.memento/** q\n': True, b".memento/**\r-diff\r\n": True, b"\r.memento/** -diff\n": True,
    b".memento/** -diff\0 x\n": True, b"x\0\n.memento/** -diff\n": True, b"\xef\xbb\xbf.memento/** -diff\n": True,
    b"x y\r.memento/** -diff\n": False, b"x y\x0c.memento/** -diff\n": False, b".memento/** \0-diff\n": False,
    b"# x\x0c.memento/** -diff\n": False, "# x\u2028.memento/** -diff\n".encode(): False,
    b"x y\n\xef\xbb\xbf.memento/** -diff\n": False, b"\x0c.memento/** -diff\n": False,
}  # fmt: skip
HARMLESS = [
    "*.png", "*-lock.yaml", "*_pb2.py", "*.[ch]", "*.[jt]s", "package-lock.json", "pnpm-lock.yaml", "**/vendor/**",
    "vendor", "docs/**", "/runs/**", "**/generated/*.yaml", "*-generated-*.yaml", "runs/*.yaml", "test_*", "*.min.*",
    "openapi.yaml", ".memento", ".memento/runs", ".memento/archive/**", "**/run_*/*.txt", "README.md", "*.snap",
    "/config.yaml", "keys/*", "/.memento/keys/*.pub", ".memento[/]runs/**", ".memento[^a]runs/**", r".memento\\/**",
    "scripts/**", "/skills/**",
]  # fmt: skip


def hidden(root: Path, line: str) -> list[str]:
    """Return the files of a ledger of which git shows no differences by a line."""
    (root / ".gitattributes").write_text(f"{line} -diff\n")
    told = git(root, "check-attr", "diff", *(f".memento/{path}" for path in PATHS)).splitlines()
    return [one for one in told if one.endswith(" unset")]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    return tmp_path


@pytest.mark.parametrize("line", HIDING)
def test_a_line_that_hides_a_file_of_the_ledger(root: Path, line: str) -> None:
    assert hidden(root, line)
    assert harmful({"": f"{line} -diff".encode()}, KEYS) == {"": [f"{line} -diff"]}


@pytest.mark.parametrize("line", HARMLESS)
def test_a_line_that_hides_none(root: Path, line: str) -> None:
    assert not hidden(root, line)
    assert harmful({"": f"{line} -diff".encode()}, KEYS) == {"": []}


@pytest.mark.parametrize("value", ["diff", "diff=markdown", "diff=python"])
def test_what_git_names_hunks_by_hides_none(value: str) -> None:
    assert harmful({"": f"*.md {value}".encode()}) == {"": []}
    assert harmful({"": b"*.md diff=mine"}) == {"": ["*.md diff=mine"]}


@pytest.mark.parametrize("word", ["linguist-generated", "gitlab-generated", "linguist-generated=true"])
def test_a_line_that_folds_up_what_people_write(word: str) -> None:
    folding = ["*", "*.md", "config.yaml", "/.memento/**", ".memento/runs/**/plan.md", ".memento/keys/*"]
    lines = [f"{pattern} {word}" for pattern in folding]
    assert harmful({"": "\n".join(lines).encode()}, KEYS) == {"": lines}
    for pattern in ["/.memento/runs/**/*.yaml", "*-passed-*", "**/evidence_x*", "stdout.txt", "*.lock", "docs/**"]:
        assert harmful({"": f"{pattern} {word}".encode()}, KEYS) == {"": []}
    assert harmful({"": f"* -{word.partition('=')[0]}\n* linguist-generated=false".encode()}) == {"": []}


@pytest.mark.parametrize("line", ["*.xml", "**/junit.xml", "**/security/**"])
def test_a_name_that_somebody_chose_is_most_likely_of_the_code(root: Path, line: str) -> None:
    assert hidden(root, line)
    assert harmful({"": f"{line} -diff".encode()}, KEYS) == {"": []}


def test_a_line_of_what_is_left_out_of_an_export_names_folders_too() -> None:
    assert harmful({"": b".memento export-ignore\n/docs export-ignore\ndocs export-ignore"})[""] == [
        ".memento export-ignore"
    ]


@pytest.mark.parametrize(("data", "hides"), BYTES.items())
def test_lines_are_cut_as_git_cuts_them(root: Path, data: bytes, *, hides: bool) -> None:
    (root / ".gitattributes").write_bytes(data)
    told = git(root, "check-attr", "diff", ".memento/config.yaml")
    assert (told.endswith(" unset"), bool(harmful({"": data})[""])) == (hides, hides)


def test_a_line_behind_nul_is_gone_where_git_reads_a_commit() -> None:
    before = {".memento": b"*.md eol=lf\n*.yaml eol=lf\n"}
    after = {".memento": b"*.md eol=lf\n\0\n*.yaml eol=lf\n"}
    assert [*worse(before, after, KEYS)] == [(".memento", "'*.yaml eol=lf' is gone")]
    assert [*worse(before, {".memento": b"\xef\xbb\xbf*.md eol=lf\r\n*.yaml eol=lf"}, KEYS)] == []
