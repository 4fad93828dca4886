"""A claim that the remote holds is one clone's alone, whoever else tries, and goes when its work has ended."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from memento_git.ledger import claims, lock, merging, publish, remoteclaims, remotes
from memento_git.ledger.store import Ledger
from memento_git.model.clock import seconds_of, stamp
from memento_git.work import refusals as no
from memento_git.work.actions import claiming, dispatches, settling, syncing, tasks, verifying, vetting
from tests.clones import Hub, code, hook
from tests.play import Play, git, take_out

if TYPE_CHECKING:
    from pathlib import Path

    from memento_git.errors import MementoError
    from tests.play import Call

CLONES, TASKS = 4, 24
LOSES_THE_ANSWER = """
import os, subprocess, sys
served = subprocess.Popen(["git", "receive-pack", *sys.argv[1:]], stdout=subprocess.PIPE)
while (length := served.stdout.read(4)) != b"0000":
    os.write(1, length + served.stdout.read(int(length, 16) - 4))
os.write(1, length)
served.communicate()
sys.exit(1)
"""


def offered(hub: Hub, **options: Any) -> str:
    """Hand a task out and have the hub know it."""
    dispatch = hub.first.dispatch(hub.first.task(), **options)
    syncing.sync(hub.first.ledger)
    return dispatch


def both_handed_out(hub: Hub) -> tuple[Play, Play, str, str, str]:
    """Let Ada and Bob hand one task out, each in a clone; return both, the task, her dispatch and his."""
    ada, task = hub.first, hub.first.task()
    syncing.sync(ada.ledger)
    bob = hub.clone("Bob")
    theirs, ours = ada.dispatch(task), bob.dispatch(task)
    return ada, bob, task, theirs, ours


def claim(play: Play, dispatch: str, **options: Any) -> claiming.Claimed:
    return claiming.claim_on_remote(play.ledger, dispatch, **options)


def refused(play: Play, error: type[MementoError], dispatch: str) -> MementoError:
    with pytest.raises(error) as caught:
        claim(play, dispatch)
    assert remoteclaims.held(play.ledger.git, "origin") == []
    assert not list(claims.listed(play.ledger.git))
    assert git(play.root, "status", "--short") == ""
    return caught.value


def holder(play: Play, dispatch: str) -> str:
    return play.state(dispatch).dispatch(dispatch).holder


def task_of(play: Play, dispatch: str) -> str:
    opened = play.state(dispatch).event(dispatch.replace("dispatch", "event", 1))
    assert opened is not None
    return opened.of


def test_a_claim_is_on_the_remote_with_its_event_and_nobody_else_gets_it(hub: Hub) -> None:
    bob, cleo = hub.clone("Bob"), hub.clone("Cleo")
    dispatch = offered(hub)
    done = claim(bob, dispatch)
    assert (done.pushed, done.pushes) == (True, 1)
    assert hub.refs() == [task_of(bob, dispatch)]
    assert hub.head() == git(bob.root, "rev-parse", "HEAD")
    assert "Bob" in refused(cleo, no.AlreadyClaimed, dispatch).message
    assert holder(cleo, dispatch) == "Bob"


def test_who_claims_again_on_the_remote_renews_the_claim_there_without_another_event(hub: Hub) -> None:
    """Whoever was not sure of the claim, as after a command that was broken off, wrote it a second time."""
    bob = hub.clone("Bob")
    dispatch = offered(hub)
    claim(bob, dispatch)
    head, before = hub.head(), remoteclaims.look(bob.ledger.git, "origin", task_of(bob, dispatch))
    assert claim(bob, dispatch).pushed
    after = remoteclaims.look(bob.ledger.git, "origin", task_of(bob, dispatch))
    assert (hub.head(), git(bob.root, "rev-parse", "HEAD")) == (head, head)
    assert before
    assert after
    assert after.until > before.until
    claim(bob, dispatch, lease=7300)
    assert git(bob.root, "rev-list", "--count", f"{head}..") == "1"


def test_the_ref_alone_keeps_others_out_before_the_event_is_there(hub: Hub) -> None:
    bob, cleo = hub.clone("Bob"), hub.clone("Cleo")
    dispatch = offered(hub)
    hook(bob.root / ".git", "pre-push", "echo not now >&2; exit 1")
    done = claim(bob, dispatch)
    assert not done.pushed
    assert any("not now" in warning and "memento sync" in warning for warning in bob.ledger.warnings)
    refused(cleo, no.AlreadyClaimed, dispatch)
    (bob.root / ".git" / "hooks" / "pre-push").unlink()
    syncing.sync(bob.ledger)
    assert hub.refs() == [task_of(bob, dispatch)]


def test_a_claim_that_is_pushed_where_nobody_fetches_from_is_none(hub: Hub, tmp_path: Path) -> None:
    bob, cleo = hub.clone("Bob"), hub.clone("Cleo")
    dispatch = offered(hub)
    fork = tmp_path / "fork.git"
    git(hub.bare.parent, "clone", "-q", "--bare", str(hub.bare), str(fork))
    git(bob.root, "config", "remote.origin.pushUrl", str(fork))
    assert "does not have the claim" in refused(bob, remoteclaims.ClaimElsewhere, dispatch).message
    assert git(fork, "for-each-ref", "refs/memento") == ""
    assert claim(cleo, dispatch).pushed
    git(bob.root, "config", "remote.origin.pushUrl", str(hub.bare))  # another address of the same repository
    assert claim(bob, offered(hub)).pushed


def test_two_clones_of_one_actor_that_claim_at_the_same_moment_do_not_both_get_it(hub: Hub) -> None:
    """What they push says the same; git calls a push of what is there already a good one."""
    bob, again = hub.clone("Bob"), hub.clone("Bob", name="again")
    dispatch = offered(hub)
    now = bob.ledger.clock()
    bob.ledger.clock = again.ledger.clock = lambda: now
    syncing.sync(again.ledger)
    claim(bob, dispatch)
    refused(again, no.AlreadyClaimed, dispatch)


def test_a_claim_of_another_dispatch_of_the_task_is_told_as_that(hub: Hub) -> None:
    ada, bob, task, theirs, ours = both_handed_out(hub)
    claiming.claim_on_remote(ada.ledger, theirs)
    with pytest.raises(no.TaskClaimed) as refused:
        claiming.claim_on_remote(bob.ledger, ours)
    told = f"task {task} is claimed by {ada.ledger.actor} already, through dispatch {theirs}, until "
    assert refused.value.message.startswith(told)


def test_who_loses_the_claim_of_a_task_that_both_handed_out_does_not_hold_up_who_has_it(hub: Hub) -> None:
    ada, bob, task, theirs, ours = both_handed_out(hub)
    claim(ada, theirs)

    refused(bob, no.TaskClaimed, ours)

    assert any(line.startswith(f"{ours} is taken back") for line in bob.ledger.warnings)
    assert (bob.status(task), holder(bob, theirs)) == ("in_progress", ada.ledger.actor)
    assert syncing.sync(bob.ledger).trouble == []
    assert syncing.sync(ada.ledger).trouble == []
    assert ada.state(task).dispatch(ours).status == "recovered"
    ada.complete(theirs, ada.evidence(task))
    assert ada.is_proven(task)


def test_a_claim_is_lost_as_that_where_the_hand_out_cannot_be_taken_back(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, bob, _, theirs, ours = both_handed_out(hub)
    claim(ada, theirs)

    def held(*_: object, **__: object) -> str:
        raise lock.LockHeld(path="memento.lock", seconds=10, holder="another")

    monkeypatch.setattr(settling, "settle_record", held)
    refused(bob, no.TaskClaimed, ours)


@pytest.mark.parametrize("accepted", [False, True])
def test_a_hand_out_of_what_is_done_by_now_does_not_contest_it(hub: Hub, accepted: bool) -> None:
    ada, bob, task, theirs, ours = both_handed_out(hub)
    claim(ada, theirs)
    ada.complete(theirs, ada.evidence(task))
    if accepted:
        ada.do(verifying.verify_task, task)
    syncing.sync(ada.ledger)

    refused(bob, no.DispatchTerminal, ours)

    assert any(line.startswith(f"{ours} is taken back") for line in bob.ledger.warnings)
    assert (bob.status(task), bob.is_proven(task)) == ("accepted" if accepted else "completed", True)
    assert syncing.sync(bob.ledger).trouble == []
    assert syncing.sync(ada.ledger).trouble == []


def test_a_hand_out_after_a_reopening_that_the_other_side_had_not_seen_is_left_to_a_person(hub: Hub) -> None:
    ada, task = hub.first, hub.first.proven()
    syncing.sync(ada.ledger)
    bob = hub.clone("Bob")
    ada.do(verifying.verify_task, task)
    syncing.sync(ada.ledger)
    bob.do(tasks.reopen_task, task, reason="it lacks a case")
    with pytest.raises(no.RecordContested):
        claim(bob, bob.dispatch(task))
    assert bob.status(task) == "contested"


@pytest.mark.parametrize("actor", ["Bob", "Cleo"])
def test_what_another_handed_out_in_this_clone_alone_does_not_hold_up_who_has_the_claim(hub: Hub, actor: str) -> None:
    """A person hands a task out, and an agent claims it under a name of its own."""
    ada, bob, task, theirs, ours = both_handed_out(hub)
    claim(ada, theirs)
    worker = bob.beside(bob.root, actor)

    refused(worker, no.TaskClaimed, ours)

    assert any(line.startswith(f"{ours} is taken back") for line in worker.ledger.warnings)
    assert (worker.status(task), holder(worker, theirs)) == ("in_progress", ada.ledger.actor)
    syncing.sync(worker.ledger)
    assert syncing.sync(ada.ledger).trouble == []


@pytest.mark.parametrize(
    "also",
    [
        "claimed here",
        "claimed beside",
        "blocked by who has it",
        "handed out by another",
        "handed out on another branch",
    ],
)
def test_what_more_than_a_hand_out_contests_is_left_to_a_person(hub: Hub, also: str) -> None:
    ada, bob, task, theirs, ours = both_handed_out(hub)
    if also == "claimed here":
        bob.do(dispatches.claim_dispatch, ours)
    elif also == "claimed beside":
        beside = bob.root.with_name("beside")
        git(bob.root, "worktree", "add", "-q", str(beside))
        bob.beside(beside, "Cleo").do(dispatches.claim_dispatch, ours)
    claim(ada, theirs)
    if also == "handed out by another":
        git(bob.root, "pull", "-q", "--no-rebase", "--no-edit")
        git(bob.root, "push", "-q")
        bob = bob.beside(bob.root, "Cleo")
    if also == "handed out on another branch":
        git(bob.root, "push", "-q", "origin", "HEAD:other")
        bob = bob.beside(bob.root, "Cleo")
    if also == "blocked by who has it":
        ada.do(tasks.block_task, task, reason="stuck")
        git(ada.root, "push", "-q")
    with pytest.raises((no.AlreadyClaimed, no.RecordContested)):
        claim(bob, ours)
    assert bob.status(task) == "contested"


def test_a_clone_that_has_not_seen_the_completion_cannot_claim_after_it(hub: Hub) -> None:
    bob, cleo = hub.clone("Bob"), hub.clone("Cleo")
    dispatch = offered(hub)
    syncing.sync(cleo.ledger)
    claim(bob, dispatch)
    bob.complete(dispatch, bob.evidence(task_of(bob, dispatch)))
    assert hub.refs()
    assert syncing.sync(bob.ledger).released == [dispatch]
    assert hub.refs() == []
    assert remoteclaims.held(bob.ledger.git, "origin") == []
    refused(cleo, no.DispatchTerminal, dispatch)
    assert hub.refs() == []


@pytest.mark.parametrize("end", ["fail", "recover"])
def test_a_claim_whose_dispatch_failed_or_was_recovered_is_given_back_by_the_next_sync(hub: Hub, end: str) -> None:
    bob = hub.clone("Bob")
    dispatch = offered(hub)
    claim(bob, dispatch)
    if end == "fail":
        bob.do(dispatches.fail_dispatch, dispatch, reason="no")
    else:
        bob.do(dispatches.recover_dispatch, dispatch, force=True, reason="no")
    assert syncing.sync(bob.ledger).released == [dispatch]
    assert hub.refs() == []


def completed_apart(hub: Hub, bob: Play) -> str:
    """Claim a dispatch and complete it on a branch of its own, which the hub gets; return the dispatch."""
    dispatch = offered(hub)
    claim(bob, dispatch)
    git(bob.root, "switch", "-qc", "topic")
    bob.complete(dispatch, bob.evidence(task_of(bob, dispatch)))
    done = syncing.sync(bob.ledger, "origin", set_upstream=True)
    assert (done.released, done.waiting) == ([], [dispatch])
    return dispatch


def test_a_completion_on_a_branch_alone_keeps_the_claim_until_it_is_merged(hub: Hub) -> None:
    bob, cleo = hub.clone("Bob"), hub.clone("Cleo")
    dispatch = completed_apart(hub, bob)
    (held,) = remoteclaims.held(bob.ledger.git, "origin")
    assert seconds_of(held.claim.until) > seconds_of(bob.ledger.now()) + 13 * 24 * 3600
    assert "Bob" in refused(cleo, no.AlreadyClaimed, dispatch).message
    assert syncing.sync(bob.ledger).waiting == [dispatch]
    assert remoteclaims.held(bob.ledger.git, "origin") == [held]
    git(cleo.root, "fetch", "-q")
    git(cleo.root, "merge", "-q", "--no-edit", "origin/topic")
    git(cleo.root, "push", "-q")
    done = syncing.sync(bob.ledger)
    assert (done.released, done.waiting, hub.refs()) == ([dispatch], [], [])
    with pytest.raises(no.DispatchTerminal):
        claim(cleo, dispatch)


def test_a_claim_that_waits_for_its_merge_is_renewed_though_it_expired_and_lost_where_it_was_replaced(hub: Hub) -> None:
    bob, cleo = hub.clone("Bob"), hub.clone("Cleo")
    dispatch = completed_apart(hub, bob)
    (held,) = remoteclaims.held(bob.ledger.git, "origin")
    bob.ledger.clock = lambda: seconds_of(held.claim.until) + 60
    assert syncing.sync(bob.ledger).waiting == [dispatch]
    (longer,) = remoteclaims.held(bob.ledger.git, "origin")
    other = claims.Claim(dispatch, "Cleo", stamp(seconds_of(longer.claim.until) + 3600))
    assert remoteclaims.take(cleo.ledger.git, "origin", longer.name, other, longer.claim) is not None
    bob.ledger.clock = lambda: seconds_of(longer.claim.until) + 60
    assert syncing.sync(bob.ledger).waiting == []
    assert remoteclaims.held(bob.ledger.git, "origin") == []
    assert hub.refs() == [longer.name]


def test_a_claim_on_a_remote_may_have_any_name_that_git_lets_it_have(hub: Hub) -> None:
    bob, names = hub.clone("Bob"), ["odd\u00a0one", "odd\u2028two", "plain"]
    blob = git(hub.bare, "hash-object", "-w", "--stdin", data=b"{}")
    for name in names:
        git(hub.bare, "update-ref", f"{claims.REFS}/{name}", blob)
    assert sorted(one.name for one in remoteclaims.listed(bob.ledger.git, "origin")) == names
    assert git(bob.root, "for-each-ref", remoteclaims.SEEN) == ""


def test_a_failure_on_a_branch_alone_holds_no_longer_than_its_lease(hub: Hub) -> None:
    bob = hub.clone("Bob")
    dispatch = offered(hub)
    claim(bob, dispatch)
    git(bob.root, "switch", "-qc", "topic")
    bob.do(dispatches.fail_dispatch, dispatch, reason="no")
    done = syncing.sync(bob.ledger, "origin", set_upstream=True)
    assert (done.released, done.waiting) == ([], [])
    (held,) = remoteclaims.held(bob.ledger.git, "origin")
    bob.ledger.clock = lambda: seconds_of(held.claim.until) + 1
    assert syncing.sync(bob.ledger).released == [dispatch]


def test_a_dispatch_that_the_default_branch_never_heard_of_is_over_when_all_others_know(hub: Hub) -> None:
    bob, cleo = hub.clone("Bob"), hub.clone("Cleo")
    for play in (bob, cleo):
        git(play.root, "switch", "-qc", "develop")
    dispatch = bob.dispatch(bob.task())
    syncing.sync(bob.ledger, "origin", set_upstream=True)
    claim(bob, dispatch)
    syncing.sync(cleo.ledger, "origin", branch="develop")
    git(bob.root, "switch", "-qc", "topic")
    bob.complete(dispatch, bob.evidence(task_of(bob, dispatch)))
    assert syncing.sync(bob.ledger, "origin", set_upstream=True).waiting == [dispatch]
    git(bob.root, "switch", "-q", "develop")
    git(bob.root, "merge", "-q", "topic")
    assert syncing.sync(bob.ledger).released == [dispatch]


def test_a_remote_that_keeps_its_claims_does_not_hide_that_the_branch_was_pushed(hub: Hub) -> None:
    bob = hub.clone("Bob")
    dispatch = offered(hub)
    claim(bob, dispatch)
    bob.complete(dispatch, bob.evidence(task_of(bob, dispatch)))
    hook(hub.bare, "update", 'case "$1" in refs/memento/*) echo no ends; exit 1;; esac')
    done = syncing.sync(bob.ledger)
    assert (done.brought.outcome, done.released) == ("pushed", [])
    assert any("no ends" in warning for warning in bob.ledger.warnings)


def test_a_claim_pushes_no_code(hub: Hub) -> None:
    bob, cleo = hub.clone("Bob"), hub.clone("Cleo")
    dispatch = offered(hub)
    before = hub.head()
    code(bob, "half = True\n")
    code(bob, "half = 1\n")
    done = claim(bob, dispatch)
    assert (done.pushed, hub.head(), hub.refs()) == (False, before, [task_of(bob, dispatch)])
    assert any("code app.py and 1 more" in told and "memento sync" in told for told in bob.ledger.warnings)
    refused(cleo, no.AlreadyClaimed, dispatch)
    assert syncing.sync(bob.ledger).brought.outcome == "pushed"
    syncing.sync(cleo.ledger)
    assert holder(cleo, dispatch) == "Bob"


def test_a_renewal_reaches_the_remote_with_the_next_sync(hub: Hub) -> None:
    bob = hub.clone("Bob")
    dispatch = offered(hub)
    claim(bob, dispatch, lease=60)
    before = remoteclaims.look(bob.ledger.git, "origin", task_of(bob, dispatch))
    bob.do(dispatches.renew_dispatch, dispatch, lease=3600, force=True)
    assert syncing.sync(bob.ledger).released == []
    after = remoteclaims.look(bob.ledger.git, "origin", task_of(bob, dispatch))
    assert before
    assert after
    assert seconds_of(after.until) - seconds_of(before.until) > 3000


@pytest.mark.parametrize("packed", [False, True])
def test_a_renewal_notes_that_the_remote_does_not_know_of_it_yet(hub: Hub, cli: Call, packed: bool) -> None:
    bob = hub.clone("Bob")
    dispatch = offered(hub)
    claim(bob, dispatch, lease=60)
    where = ("-C", str(bob.root), "--actor", "Bob")
    known = remoteclaims.held(bob.ledger.git, "origin")[0].claim.until
    told = f"note: origin, and so other clones, know this claim until {known}; to tell them: memento sync"
    if packed:
        git(bob.root, "pack-refs", "--all")
        assert not (bob.root / ".git" / claims.HELD).exists()

    for verb in ("renew", "claim"):
        assert told in cli("dispatch", verb, dispatch, "--lease", "2h", *where)[2]
    assert cli("sync", *where)[0] == 0
    assert cli("dispatch", "renew", dispatch, "--lease", "2h", *where)[1:] == (
        f"still held: {dispatch} until {bob.state(dispatch).dispatch(dispatch).until}\n", ""
    )  # fmt: skip


@pytest.mark.parametrize("how", ["recovered", "withdrawn"])
def test_who_held_a_claim_is_told_that_somebody_else_ended_it(hub: Hub, cli: Call, how: str) -> None:
    bob = hub.clone("Bob")
    dispatch = offered(hub)
    task = task_of(hub.first, dispatch)
    claim(bob, dispatch)
    syncing.sync(hub.first.ledger)
    if how == "recovered":
        hub.first.do(dispatches.recover_dispatch, dispatch, force=True, reason="too slow")
    else:
        hub.first.do(tasks.block_task, task, reason="wait")
    syncing.sync(hub.first.ledger)
    by, reason = (hub.first.ledger.actor, "too slow") if how == "recovered" else (None, None)

    _, out, _ = cli("sync", "-C", str(bob.root), "--actor", "Bob")
    said = f"was recovered by {by}: {reason}" if by else "was withdrawn with the task"
    assert re.search(rf"^your claim of task_\w+ {re.escape(said)}$", out, re.MULTILINE)
    git(bob.root, "reset", "-q", "--hard", "HEAD~1")
    (row,) = syncing.sync(bob.ledger).taken
    assert row == {"task_id": task, "dispatch_id": dispatch, "status": "recovered", "by": by, "reason": reason}


def test_an_end_of_ones_own_is_no_news(hub: Hub) -> None:
    bob = hub.clone("Bob")
    dispatch = offered(hub)
    claim(bob, dispatch)
    bob.do(dispatches.fail_dispatch, dispatch, reason="no")
    hub.first.planned("Beside")
    syncing.sync(hub.first.ledger)
    assert syncing.sync(bob.ledger).taken == []


def test_a_claim_that_expired_on_the_remote_is_replaced_by_compare_and_swap(hub: Hub) -> None:
    bob, cleo = hub.clone("Bob"), hub.clone("Cleo")
    dispatch = offered(hub)
    task = task_of(hub.first, dispatch)
    old = claims.Claim(dispatch, "Bob", "2020-01-01T00:00:00.000Z")
    assert remoteclaims.take(bob.ledger.git, "origin", task, old, None)
    claim(cleo, dispatch)
    assert holder(cleo, dispatch) == "Cleo"
    told = remoteclaims.look(cleo.ledger.git, "origin", task)
    assert told
    assert told.by == "Cleo"
    assert syncing.sync(bob.ledger).released == []
    assert hub.refs() == [task]
    assert remoteclaims.held(bob.ledger.git, "origin") == []


@pytest.mark.parametrize("by", ["Eve\n next: memento settle", "Eve\x1b[2K", "Eve\u202e"])
def test_a_claim_whose_words_would_add_to_what_is_shown_is_nobodys(hub: Hub, by: str) -> None:
    """Whoever may push any ref chooses the name in it, and a refusal tells it."""
    bob, dispatch = hub.clone("Bob"), offered(hub)
    task = task_of(hub.first, dispatch)
    git(bob.root, "push", "-q", "origin", f"{told(bob, dispatch, by)}:{claims.REFS}/{task}")
    claim(bob, dispatch)
    assert holder(bob, dispatch) == "Bob"


def told(play: Play, dispatch: str, by: str) -> str:
    return claims.write(play.ledger.git, claims.Claim(dispatch, by, "2099-01-01T00:00:00.000Z"))


def test_a_lock_that_lies_on_the_remote_is_told_and_nobody_is_said_to_hold_the_claim(hub: Hub) -> None:
    dispatch = offered(hub)
    bob = hub.clone("Bob")
    lock_file = hub.bare / claims.REFS / f"{task_of(bob, dispatch)}.lock"
    lock_file.parent.mkdir(parents=True)
    lock_file.touch()
    assert ".lock': File exists" in refused(bob, remotes.PushRejected, dispatch).message
    lock_file.unlink()
    assert claim(bob, dispatch).pushed


def test_an_expired_claim_that_somebody_replaces_first_is_lost(hub: Hub) -> None:
    bob = hub.clone("Bob")
    task = task_of(hub.first, offered(hub))
    old = claims.Claim("dispatch_00000000000x", "Bob", "2020-01-01T00:00:00.000Z")
    first = remoteclaims.take(bob.ledger.git, "origin", task, old, None)
    second = remoteclaims.take(bob.ledger.git, "origin", task, old._replace(by="Eve"), first)
    assert second
    assert remoteclaims.take(bob.ledger.git, "origin", task, old._replace(by="Dan"), first) is None


def test_the_ref_of_a_dispatch_that_ended_does_not_keep_its_successor(hub: Hub) -> None:
    bob, cleo = hub.clone("Bob"), hub.clone("Cleo")
    dispatch = offered(hub)
    claim(bob, dispatch)
    syncing.sync(cleo.ledger)
    _, successor = cleo.do(dispatches.recover_dispatch, dispatch, force=True, reason="gone", requeue=True)
    claim(cleo, successor)
    assert holder(cleo, successor) == "Cleo"
    assert syncing.sync(bob.ledger).released == []
    assert hub.refs() == [task_of(cleo, dispatch)]


def test_one_actor_in_two_clones_holds_it_in_one(hub: Hub) -> None:
    here, there = hub.clone("Bob"), hub.clone("Bob", name="bob2")
    dispatch = offered(hub)
    claim(here, dispatch)
    refused(there, no.AlreadyClaimed, dispatch)
    claim(here, dispatch)


def test_a_claim_that_died_before_its_event_is_taken_again_by_the_same_clone(hub: Hub) -> None:
    bob, cleo = hub.clone("Bob"), hub.clone("Cleo")
    dispatch = offered(hub)
    script = (
        "import os; from memento_git.ledger import worktree; from memento_git.cli.boundary import run;"
        "worktree.reached = lambda step: os._exit(9) if step == 'decided' else None;"
        f"run(['dispatch', 'claim', '{dispatch}', '--sync', '--actor', 'Bob'])"
    )
    assert subprocess.run([sys.executable, "-c", script], cwd=bob.root, check=False).returncode == 9
    assert hub.refs()
    refused(cleo, no.AlreadyClaimed, dispatch)
    claim(bob, dispatch)
    assert holder(bob, dispatch) == "Bob"


def breaking(play: Play, tmp_path: Path, text: str) -> None:
    """Let what the remote serves pushes with be a program of this text."""
    program = tmp_path / "serve.py"
    program.write_text(f"#!{sys.executable}\n{text}")
    program.chmod(0o755)
    git(play.root, "config", "remote.origin.receivepack", str(program))


def test_a_claim_that_was_set_though_its_answer_got_lost_is_taken_again_by_the_same_clone(
    hub: Hub, tmp_path: Path
) -> None:
    bob, cleo = hub.clone("Bob"), hub.clone("Cleo")
    dispatch = offered(hub)
    for text in (LOSES_THE_ANSWER, "raise SystemExit(1)", "raise SystemExit(1)"):
        breaking(bob, tmp_path, text)
        with pytest.raises(remotes.RemoteUnreachable):
            claim(bob, dispatch)
    assert hub.refs() == [task_of(bob, dispatch)]
    refused(cleo, no.AlreadyClaimed, dispatch)
    git(bob.root, "config", "--unset", "remote.origin.receivepack")
    assert claim(bob, dispatch).pushed
    assert len(remoteclaims.held(bob.ledger.git, "origin")) == 1


def test_who_is_late_does_not_forget_what_a_work_tree_beside_takes_meanwhile(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo, name, first = hub.first.ledger.git, "task_1", remoteclaims._set
    old = remoteclaims.take(
        repo, "origin", name, claims.Claim("dispatch_000000000001", "Ada", "2020-01-01T00:00:00.000Z"), None
    )
    beside = claims.Claim("dispatch_000000000002", "Bob", "2099-01-01T00:00:00.000Z")

    def late(*asked: Any) -> str:
        there = first(*asked)
        monkeypatch.setattr(remoteclaims, "_set", first)
        assert remoteclaims.take(repo, "origin", name, beside, old) is not None
        return there

    monkeypatch.setattr(remoteclaims, "_set", late)
    assert remoteclaims.take(repo, "origin", name, beside._replace(by="Cleo"), None) is None
    assert [one.claim._replace(blob="") for one in remoteclaims.held(repo, "origin")] == [beside]


@pytest.mark.parametrize("name", ["origin/more", "odd\u00a0one", "odd\u2028two", "next\x85three"])
def test_what_is_held_on_a_remote_whose_name_goes_on_is_not_held_on_this_one(hub: Hub, name: str) -> None:
    repo, claim = hub.first.ledger.git, claims.Claim("dispatch_000000000001", "Bob", "2099-01-01T00:00:00.000Z")
    git(hub.first.root, "config", f"remote.{name}.url", str(hub.bare))
    taken = remoteclaims.take(repo, name, "task_1", claim, None)
    assert remoteclaims.remotes_held(repo) == [name]
    assert repo.remotes() == sorted([name, "origin"])
    assert remoteclaims.held(repo, "origin") == []
    assert remoteclaims.held(repo, name) == [remoteclaims.HeldClaim("task_1", taken or claim)]


def test_a_longer_claim_that_the_remote_refuses_leaves_the_one_that_is_there(hub: Hub) -> None:
    bob = hub.clone("Bob")
    dispatch = offered(hub)
    claim(bob, dispatch)
    (one,) = remoteclaims.held(bob.ledger.git, "origin")
    hook(hub.bare, "update", "exit 1")
    with pytest.raises(remotes.PushRejected):
        remoteclaims.take(
            bob.ledger.git, "origin", one.name, one.claim._replace(until="2099-01-01T00:00:00.000Z"), one.claim
        )
    assert remoteclaims.held(bob.ledger.git, "origin") == [one]


def test_candidates_of_one_task_are_claimed_apart(hub: Hub) -> None:
    bob, cleo = hub.clone("Bob"), hub.clone("Cleo")
    task = hub.first.task()
    one, two = (hub.first.dispatch(task, candidate=True) for _ in range(2))
    syncing.sync(hub.first.ledger)
    claim(bob, one)
    claim(cleo, two)
    assert hub.refs() == sorted([one, two])


def test_what_stands_in_the_way_leaves_no_claim(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    bob = hub.clone("Bob")
    dispatch = offered(hub)
    hook(hub.bare, "pre-receive", "echo no claims here; exit 1")
    assert "no claims here" in refused(bob, remotes.PushRejected, dispatch).message
    (hub.bare / "hooks" / "pre-receive").unlink()
    (bob.root / ".git" / "MERGE_HEAD").write_text(hub.head())
    with pytest.raises(publish.OperationUnderWay):
        claim(bob, dispatch)
    (bob.root / ".git" / "MERGE_HEAD").unlink()
    git(bob.root, "switch", "-qc", "work")
    git(bob.root, "config", "branch.work.remote", "origin")
    git(bob.root, "config", "branch.work.merge", "refs/heads/work")
    with pytest.raises(remotes.RemoteBranchMissing):
        claim(bob, dispatch)
    assert hub.refs() == []
    git(bob.root, "switch", "-q", "main")
    monkeypatch.setattr(syncing, "TIMEOUT", 0.1)
    with lock.held(bob.ledger.git.git_dir / "memento" / "sync.lock"), pytest.raises(lock.LockHeld):
        claim(bob, dispatch)
    hub.bare.rename(hub.bare.with_name("away"))
    with pytest.raises(remotes.RemoteUnreachable):
        claim(bob, dispatch)
    assert not list(claims.listed(bob.ledger.git))


def test_a_remote_that_was_forced_back_gets_no_claim(hub: Hub) -> None:
    bob = hub.clone("Bob")
    dispatch = offered(hub)
    code(hub.first, "password = 'hunter2'\n")
    syncing.sync(hub.first.ledger)
    syncing.sync(bob.ledger)
    git(hub.first.root, "push", "-q", "--force", "origin", "HEAD^:main")
    refused(bob, remotes.RemoteRewritten, dispatch)
    assert hub.refs() == []


def test_the_command_claims_on_the_remote(hub: Hub, cli: Call) -> None:
    bob = hub.clone("Bob")
    dispatch = offered(hub)
    code, out, _ = cli("-C", str(bob.root), "dispatch", "claim", dispatch, "--sync", "--actor", "Bob", "--json")
    told = json.loads(out)
    assert (code, told["status"], told["claimed_by"], told["pushed"]) == (0, "claimed", "Bob", True)
    assert cli("-C", str(bob.root), "dispatch", "claim", dispatch, "--remote", "origin")[0] == 2
    out = cli("-C", str(hub.first.root), "sync")[1]
    assert "brought forward to origin/main" in out
    bob.do(dispatches.fail_dispatch, dispatch, reason="no")
    assert "released" in cli("-C", str(bob.root), "sync", "--actor", "Bob")[1]


def test_the_command_names_the_branch_of_the_worktree_and_not_the_one_that_is_pushed(hub: Hub, cli: Call) -> None:
    here, task = ("-C", str(hub.first.root)), hub.first.task()
    made = json.loads(cli(*here, "dispatch", "create", task, "--executor", "me", "--worktree", "--json")[1])
    told = json.loads(cli(*here, "dispatch", "claim", made["dispatch_id"], "--sync", "--json")[1])
    assert (told["remote"], told["pushed"], told["branch"]) == ("origin", True, made["branch"])


WORKER = """
import json, random, sys
from memento_git.errors import Refused
from memento_git.ledger.store import Ledger
from memento_git.work.actions import claiming
root, actor, names = sys.argv[1], sys.argv[2], sys.argv[3:]
random.Random(actor).shuffle(names)
won = {}
for name in names:
    with Ledger.open(root, actor=actor) as ledger:
        try:
            done = claiming.claim_on_remote(ledger, name)
        except Refused as error:
            if error.token != "dispatch_already_claimed":
                raise
        else:
            won[name] = done.pushes
print(json.dumps(won))
"""


def test_clones_that_race_for_tasks_claim_each_exactly_once(hub: Hub) -> None:
    play = hub.first
    names = [play.dispatch(play.do(tasks.add_task, f"Task {number}")) for number in range(TASKS)]
    syncing.sync(play.ledger)
    actors = [f"actor{number}" for number in range(CLONES)]
    roots: list[Path] = [hub.clone(actor).root for actor in actors]
    started = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(root), actor, *names], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for root, actor in zip(roots, actors, strict=True)
    ]
    won: Counter[str] = Counter()
    owner = {}
    for actor, process in zip(actors, started, strict=True):
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err.decode()
        mine = json.loads(out)
        won.update(mine.keys())
        owner.update(dict.fromkeys(mine, actor))
    assert won == Counter(names)
    syncing.sync(play.ledger)
    assert {name: holder(play, name) for name in names} == owner
    with Ledger.open(play.root) as opened:
        assert syncing.troubles(opened.view(), opened.view().runs()) == []


def test_a_branch_with_errors_claims_nothing(hub: Hub) -> None:
    dispatch = offered(hub)
    path = next(hub.first.root.glob(".memento/runs/*/plans/*/*-approved-*.yaml"))
    hub.first.commit(path, f"# edited\n{path.read_text()}", "tampered")
    assert path.name in refused(hub.first, vetting.PushUnsound, dispatch).message
    assert hub.refs() == []


def test_what_another_branch_of_the_remote_has_is_checked_before_a_claim_takes_it_along(hub: Hub) -> None:
    """It was pushed there to be looked at, and nobody has merged it: sync would refuse it as well."""
    ada, shown = hub.first, hub.first.evidence()
    dispatch = offered(hub)
    before, path = hub.head(), ada.state(shown).index.evidence[shown]
    take_out(ada.root, path, message="tidy")
    git(ada.root, "push", "-q", "origin", "HEAD:request")
    assert path in refused(ada, vetting.PushUnsound, dispatch).message
    assert (hub.head(), hub.refs()) == (before, [])


def test_a_claim_is_refused_as_sync_is_where_the_remote_has_no_commit_in_common(hub: Hub) -> None:
    ada, dispatch = hub.first, offered(hub)
    bob = hub.clone("Bob")
    git(ada.root, "switch", "-q", "--orphan", "anew")
    git(ada.root, "commit", "-q", "--allow-empty", "-m", "anew")
    git(ada.root, "push", "-q", "--force", "origin", "anew:main")
    git(bob.root, "fetch", "-q")
    assert "git remote -v" in refused(bob, merging.HistoriesUnrelated, dispatch).hint
