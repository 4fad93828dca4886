"""doctor tells of claims on remotes that hold nobody's work any more; a remote is asked only on request."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest

from memento_git.ledger import claims, remoteclaims
from memento_git.verbs import doctor
from memento_git.work.actions import claiming, runs, syncing, tasks
from tests.clones import Hub
from tests.play import Play, git

if TYPE_CHECKING:
    from pathlib import Path

    from tests.play import Call

NEVER = '{"dispatch": "dispatch_0123456789ab", "by": "Eve", "until": "zzzz"}'
LONG_AGO = "2000-01-01T00:00:00.000Z"


def told(play: Play, remote: str = "") -> list[tuple[str, str]]:
    answers = doctor.examine(play.ledger, remote=remote)
    return [(answer.message, answer.fix) for answer in answers if answer.name == "remote claims"]


def claimed(hub: Hub) -> tuple[str, str]:
    """Hand a task out and claim it on the hub; return task and dispatch."""
    ada = hub.first
    task = ada.task()
    dispatch = ada.dispatch(task)
    syncing.sync(ada.ledger)
    claiming.claim_on_remote(ada.ledger, dispatch)
    return task, dispatch


def expire(play: Play, folder: str, name: str, dispatch: str) -> str:
    """Let a ref name a claim that has expired; return its blob."""
    blob = claims.write(play.ledger.git, claims.Claim(dispatch, "Ada", LONG_AGO))
    git(play.root, "update-ref", f"{folder}/{name}", blob)
    return blob


def test_a_claim_that_holds_work_is_not_told(hub: Hub) -> None:
    claimed(hub)
    bob = hub.clone("Bob")
    assert told(hub.first) == told(hub.first, "origin") == told(bob, "origin") == []


def test_an_expired_claim_of_this_clone_is_told_without_the_remote(hub: Hub) -> None:
    task, dispatch = claimed(hub)
    hub.bare.rename(hub.bare.with_name("away"))
    expire(hub.first, f"{claims.HELD}/origin", f"{task}@old", dispatch)
    ((message, fix),) = told(hub.first)
    assert message == f"this clone still holds {task} on origin: it expired {LONG_AGO}"
    assert "memento sync origin" in fix


@pytest.mark.parametrize("end", ["task", "run", "dispatch"])
def test_a_claim_on_what_is_settled_is_told_and_goes_by_what_is_said(hub: Hub, end: str) -> None:
    task, dispatch = claimed(hub)
    ada = hub.first
    run = ada.state(task).id
    if end == "task":
        ada.do(tasks.cancel_task, task, reason="no")
    elif end == "run":
        ada.do(runs.cancel_run, run, reason="no")
    else:
        ada.complete(dispatch, ada.evidence(task))
    ended = {"task": f"{dispatch} is recovered", "run": f"{run} is cancelled", "dispatch": f"{dispatch} is completed"}
    said = ended[end]
    git(ada.root, "push", "-q")
    assert said in told(ada)[0][0]
    bob = hub.clone("Bob")
    assert told(bob) == []
    ((message, fix),) = told(bob, "origin")
    assert (said in message, ada.ledger.actor in message) == (True, True)
    assert git(bob.root, "for-each-ref", "refs/memento", "refs/worktree") == ""
    git(bob.root, *fix.split()[1:])
    assert hub.refs() == []
    assert told(bob, "origin") == []


def test_a_claim_whose_completion_waits_for_its_merge_is_not_told(hub: Hub) -> None:
    task, dispatch = claimed(hub)
    ada, bob = hub.first, hub.clone("Bob")
    git(ada.root, "switch", "-qc", "topic")
    ada.complete(dispatch, ada.evidence(task))
    git(ada.root, "push", "-q", "-u", "origin", "topic")
    git(bob.root, "fetch", "-q")
    git(bob.root, "switch", "-q", "topic")
    assert told(ada) == told(bob, "origin") == []
    git(ada.root, "push", "-q", "origin", "topic:main")
    git(bob.root, "fetch", "-q")
    assert "is completed" in told(ada)[0][0]
    assert "is completed" in told(bob, "origin")[0][0]


@pytest.mark.parametrize("name", ["x;touch$IFS$HOME/pwn;`id`", "a/b/task_0123456789ab", "it's"])
def test_a_ref_of_any_name_is_removed_by_the_command_that_is_told(hub: Hub, name: str) -> None:
    blob = expire(hub.first, "refs/memento/own", "x", "dispatch_0123456789ab")
    git(hub.first.root, "push", "-q", "origin", f"{blob}:{claims.REFS}/{name}")
    ((message, fix),) = told(hub.first, "origin")
    assert name in message
    words = shlex.split(fix)
    assert (words[0], words[-1]) == ("git", f":{claims.REFS}/{name}")
    git(hub.first.root, *words[1:])
    assert hub.refs() == []


@pytest.mark.parametrize(
    "junk", ["[" * 200_000, "{", '{"dispatch": 1}', "9" * 10_000, '{"dispatch": "\\u202e", "by": "b"}', NEVER]
)
def test_a_ref_that_holds_no_claim_is_nobodys(hub: Hub, junk: str) -> None:
    blob = git(hub.first.root, "hash-object", "-w", "--stdin", data=junk.encode())
    git(hub.first.root, "push", "-q", "origin", f"{blob}:{claims.REFS}/task_0123456789ab")
    ((message, _),) = told(hub.first, "origin")
    assert message.startswith("nobody holds task_0123456789ab on origin")


def test_a_claim_of_what_is_no_dispatch_is_nobodys_and_no_command_is_made_of_it(hub: Hub) -> None:
    """Way: whoever may push claims refs has the refusal say what to type next."""
    task = hub.first.task()
    dispatch = hub.first.dispatch(task)
    syncing.sync(hub.first.ledger)
    held = claims.Claim("x; touch pwned", "Eve", "2999-01-01T00:00:00.000Z")
    blob = claims.write(hub.first.ledger.git, held)
    git(hub.first.root, "push", "-q", "origin", f"{blob}:{claims.REFS}/{task}")
    assert claiming.claim_on_remote(hub.first.ledger, dispatch).pushed


def test_many_refs_of_a_remote_are_looked_at_and_forgotten_together(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blob = git(hub.bare, "hash-object", "-w", "--stdin", data=NEVER.encode())
    names = [*(f"x{number}" for number in range(300)), '"q"', "$(id)", "-x", "a@b"]
    made = "".join(f"create {claims.REFS}/{name}\0{blob}\0" for name in names)
    git(hub.bare, "update-ref", "--stdin", "-z", data=made.encode())
    monkeypatch.setenv("GIT_TRACE2_EVENT", str(log := tmp_path / "trace"))
    assert len(told(hub.first, "origin")) == len(names)
    monkeypatch.delenv("GIT_TRACE2_EVENT")
    assert log.read_text().count('"event":"start"') < 100
    assert git(hub.first.root, "for-each-ref", remoteclaims.SEEN) == ""


def test_a_remote_that_is_unknown_or_away_fails_by_name(hub: Hub, cli: Call) -> None:
    root = str(hub.first.root)
    assert told(hub.first, "nowhere")[0][0].startswith("'nowhere' is not a remote")
    hub.bare.rename(hub.bare.with_name("away"))
    code, out, _ = cli("-C", root, "doctor", "--remote", "origin")
    assert (code, "hub.git" in out) == (1, True)
    assert cli("-C", root, "doctor", "--remote", "origin", "--at", "HEAD")[0] == 2
    assert cli("-C", root, "doctor")[0] == 0
