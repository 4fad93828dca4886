"""init: the folder, what it says of itself, and the policy with its defaults."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memento_git.errors import Refused
from memento_git.ledger import atomic_file, layout, missing_ledger, outfile

if TYPE_CHECKING:
    from pathlib import Path

    from memento_git.ledger.store import Ledger
    from memento_git.ledger.transaction import Transaction

CONFIG_TEXT: Final = """\
# Memento's ledger in this repository. Reviewed like code; docs/reference/policy.md of Memento explains each key.
version: 1
policy:
  # Kind of evidence -> the least trust at which it proves a task
  # (reproduced, witnessed, verified, reported, advisory). A kind that is not here proves nothing by itself.
  proof:
    command: witnessed
    test: witnessed
    lint: witnessed
    type: witnessed
    build: witnessed
  # Kinds that must be among what proves a completion, for example [test].
  require: []
  plan:
    approvers: []       # who may approve plans; empty: anyone
    not_author: false   # true: the approver must be another than the author
  gates:
    required: []        # gates that must pass before a run completes
    fresh: [release]    # gates that pass only on evidence of the code as it is
  spike:
    dispatches: 3       # dispatches that a spike run may make without a plan
  lease: 1h             # how long a claim holds without renewal
"""

README_TEXT: Final = """\
# What this folder is

The ledger of this repository's AI-assisted work, written by `memento` (package `memento-git`): what was planned, who
took which task, and the evidence that it is done. It is plain text, committed beside the code and reviewed with it.

Reading a diff of it takes one rule: **a change may add events and evidence, never change or remove one.**

- `runs/<run>/run.md`: a goal. `plans/` and `tasks/` below it hold what people wrote, in Markdown.
- `<time>-<verb>-<id>.yaml`: an event, what happened to the record in whose folder it lies. State is what the events
  come to; nobody writes it.
- `runs/<run>/evidence/`: what was run or seen, with the captured output beside it.
- `config.yaml`: what this team asks before work counts as proven.

`memento status` shows where things stand, `memento report` the same as Markdown.
"""

ATTRIBUTES_TEXT: Final = """\
* -filter -ident -working-tree-encoding
.gitattributes text eol=lf
*.md text eol=lf
*.yaml text eol=lf
/runs/*/evidence/*/*/** -text
*.gz -text
"""


COLLAPSED: Final = (
    "/runs/**/*.yaml linguist-generated gitlab-generated",
    "/runs/*/evidence/** linguist-generated gitlab-generated",
)


def init_ledger(ledger: Ledger, *, collapse: bool | None = None) -> bool:
    """Make the ledger in one commit; return False where it is there already.

    `collapse` says whether hosting services fold up the files of events and evidence in their view of a diff; None
    leaves it as it is.
    """

    def act(tx: Transaction) -> bool:
        there = tx.view.exists
        if not there:
            missing_ledger.refuse(tx.view, "HEAD")
            missing_ledger.refuse_apart(tx.view.git, "HEAD")
            if gone := missing_ledger.removal(tx.view.git):
                ledger.warn(f"commit {gone[0][:12]} removed the ledger that was here; to have that one: {gone[1]}")
            tx.put(layout.CONFIG, CONFIG_TEXT.encode())
            tx.put(layout.README, README_TEXT.encode())
            tx.put(layout.ATTRIBUTES, ATTRIBUTES_TEXT.encode())
        if collapse is not None:
            _collapse(tx, collapse=collapse)
        return not there

    return ledger.change("init", act)


def _collapse(tx: Transaction, *, collapse: bool) -> None:
    """Add the lines by which hosting services fold files up, or take them out; all other lines stay."""
    held = (tx.view.read(layout.ATTRIBUTES) or b"").decode(errors="surrogateescape")
    lines = held.splitlines(keepends=True)
    kept = [line for line in lines if line.rstrip("\r\n") not in COLLAPSED]
    if kept and not kept[-1].endswith("\n"):
        kept[-1] += "\n"
    wanted = "".join([*kept, *(f"{line}\n" for line in COLLAPSED if collapse)])
    if is_collapsed(held) != collapse:
        tx.put(layout.ATTRIBUTES, wanted.encode(errors="surrogateescape"))


def is_collapsed(attributes: str) -> bool:
    """Tell whether a .gitattributes file folds events and evidence up."""
    return set(COLLAPSED) <= set(attributes.splitlines())


def collapsed(ledger: Ledger) -> bool:
    """Tell whether hosting services fold up events and evidence, as HEAD says it."""
    return is_collapsed((ledger.view().read(layout.ATTRIBUTES) or b"").decode(errors="replace"))


class GuideEdited(Refused):
    token = "guide_edited"
    sentence = "{path} is there already with other content"
    hint_ = "remove it, or name another folder"


def guide_text() -> str:
    """Return the guide: how to work with a ledger, as an Agent Skill."""
    from importlib.resources import files

    return (files("memento_git") / "guide" / "SKILL.md").read_text(encoding="utf-8")


def write_guide(folder: Path, text: str) -> Path:
    """Write the guide as a skill into a folder of skills; what is there and differs stays."""
    target = folder / "using-memento" / "SKILL.md"
    outfile.refuse_link(target)
    if target.exists() and not (target.is_file() and target.read_text(encoding="utf-8") == text):
        raise GuideEdited(path=target)
    target.parent.mkdir(parents=True, exist_ok=True)
    with atomic_file.named(target):
        target.write_text(text, encoding="utf-8")
    return target
