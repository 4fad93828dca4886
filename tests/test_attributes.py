"""Which lines of `.gitattributes` hide a file of the ledger: git itself is asked what they do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memento_git.review.attributes import harmful
from tests.play import git

if TYPE_CHECKING:
    from pathlib import Path

RUN = "runs/run_px0h2n7fq1s9"
PATHS = [
    "config.yaml", "recipes/build.yaml", f"{RUN}/run.md", f"{RUN}/20261123T051920218Z-passed-5jp6zq2x78da.yaml",
    f"{RUN}/plans/plan_zchd7zr89yn4/plan.md", f"{RUN}/tasks/v/task_vp3gmeyr1cpj/task.md",
    f"{RUN}/tasks/v/task_vp3gmeyr1cpj/20261123T051920815Z-completed-45zw6gtza93v.yaml",
    f"{RUN}/evidence/x/evidence_x065ch1wnjc0.yaml", "knowledge/security/4/note_4k5m6n7p8q9r.md",
]  # fmt: skip
HIDING = [
    "*.md", "*", "**", "*.y?ml", "*.[xy]aml", "*.[^x]aml", "*.[[:alpha:]]d", "*.[]m]d", r"*\.md", r"*.\md",
    '"*.ya\\155l"', ".memento/**", "/.memento/runs/**", f".memento/{RUN}/**", f"/.memento/{RUN}/**/task.md",
    ".memento/*/run_p*/**", "**/run_[!0]*/**", "**/tasks/[1-9a-z]/**", "*-passed-*", "*-completed-*.yaml",
    "*T05[0-9]*Z-*", "*5jp6zq2x78da.yaml", "**/evidence_x*", ".memento/knowledge/sec*/**",
    ".memento/recipes/build.yaml", "*/knowledge/*/[4]/*", "note_*.md", ".memento/**/v/*/*", "config.yaml",
]  # fmt: skip
HARMLESS = [
    "*.png", "*-lock.yaml", "*_pb2.py", "*.[ch]", "*.[jt]s", "package-lock.json", "pnpm-lock.yaml", "**/vendor/**",
    "vendor", "docs/**", "/runs/**", "**/generated/*.yaml", "*-generated-*.yaml", "runs/*.yaml", "test_*", "*.min.*",
    "openapi.yaml", ".memento", ".memento/runs", ".memento/archive/**", "**/run_*/*.txt", "README.md", "*.snap",
    "/config.yaml",
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
    assert harmful({"": f"{line} -diff"}) == {"": [f"{line} -diff"]}


@pytest.mark.parametrize("line", HARMLESS)
def test_a_line_that_hides_none(root: Path, line: str) -> None:
    assert not hidden(root, line)
    assert harmful({"": f"{line} -diff"}) == {"": []}


def test_a_line_of_what_is_left_out_of_an_export_names_folders_too() -> None:
    assert harmful({"": ".memento export-ignore\n/docs export-ignore\ndocs export-ignore"})[""] == [
        ".memento export-ignore"
    ]
