"""The command line as the lifecycle ledger's users call it: its names, JSON answers, one workspace."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from tests.play import Call


class Seed(NamedTuple):
    """The command line with JSON answers, in one workspace."""

    cli: Call
    workspace: str

    def __call__(self, *arguments: str) -> dict[str, Any]:
        """Run a command that must succeed."""
        code, out, _ = self.cli(*arguments, "--workspace", self.workspace, "--json")
        answer: dict[str, Any] = json.loads(out)
        assert (code, answer["ok"]) == (0, True), answer
        return answer

    def refusal(self, *arguments: str) -> tuple[int, str]:
        """Run a command that must be refused; return exit code and token."""
        code, out, _ = self.cli(*arguments, "--workspace", self.workspace, "--json")
        answer = json.loads(out)
        assert answer["ok"] is False
        assert answer["message"]
        return code, answer["error"]

    def run(self, *options: str) -> str:
        return str(self("start", "--goal", "Ship the next verified slice", *options)["run"]["id"])

    def planned(self) -> str:
        """Start a run and approve its plan."""
        run = self.run()
        plan = self("plan", "--run-id", run, "--title", "Next slice", "--body", "Write tests.")["plan"]["id"]
        self("approve-plan", "--run-id", run, "--plan-id", plan)
        return run

    def task(self, run: str) -> str:
        return str(self("enqueue-event", "--run-id", run, "--title", "Implement X", "--body", "Details")["task"]["id"])

    def dispatch(self, run: str, task: str) -> str:
        answer = self("dispatch-task", "--run-id", run, "--task-id", task, "--executor", "hermes-profile")
        return str(answer["dispatch_id"])
