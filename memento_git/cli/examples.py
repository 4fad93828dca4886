"""The line that ends the help of the commonest commands: what one types, in the order of a run."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from memento_git.cli.main import command_at

EXAMPLES: Final = {
    "init": "memento init",
    "run start": "memento run start --goal 'People can sign up'",
    "plan draft": "memento plan draft --title 'Sign-up' --body @plan.md",
    "plan approve": "memento plan approve PLAN",
    "task add": "memento task add --title 'Refuse empty passwords' --accept '422, and why' --check 'sh test.sh'",
    "dispatch create": "memento dispatch create TASK --executor agent:codex",
    "dispatch claim": "memento dispatch claim DISPATCH --actor agent:codex --lease 2h",
    "evidence run": "memento evidence run --kind test --task TASK -- sh test.sh",
    "evidence add": "memento evidence add --kind screenshot --task TASK --summary 'The form' form.png",
    "dispatch complete": "memento dispatch complete DISPATCH --evidence EVIDENCE --actor agent:codex",
    "task verify": "memento task verify TASK",
    "gate record": "memento gate record quality_review passed --note 'Read it line by line'",
    "check": "memento check --base main",
    "diff": "memento diff main..HEAD",
    "remember": "memento remember 'Empty passwords are 422: the form shows why' --kind decision --about app.py",
    "recall": "memento recall 'which status for an empty password'",
    "apply": "memento apply verbs.yaml",
}


def show(words: Sequence[str]) -> None:
    """Let the help of the commands that words name end with their examples, whatever stands behind the names."""
    plain = [word for word in words if not word.startswith("-")]
    for name in (*map(" ".join, pairwise(plain)), *plain):
        if line := EXAMPLES.get(name):
            command_at(name).epilog = f"\b\nExample:\n  {line}"
