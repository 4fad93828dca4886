"""Branches that merged each other, so that there are two commits at which they parted, and one may be chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from memento_git.work.actions import dispatches, plans, settling, tasks, verifying
from tests.cheats.forging import HARD, MAIN, WORK
from tests.play import git

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.cheats.doors import Doors, Row


def crossed(doors: Doors, on_main: Callable[[], Any], *, later: bool = True) -> None:
    """Let main do something and then merge the branch, and the branch merge main as it was before that."""
    doors.play.task("Mine")
    git(doors.root, "switch", "-q", MAIN)
    on_main()
    before = git(doors.root, "rev-parse", "HEAD")
    git(doors.root, "switch", "-q", WORK)
    doors.adopt(dated(doors, "2100000000" if later else "1000000000"))
    git(doors.root, "switch", "-q", MAIN)
    git(doors.root, "merge", "-q", "--no-ff", "-m", "the first request", WORK)
    git(doors.root, "switch", "-q", WORK)
    git(doors.root, "merge", "-q", "-m", "main as it was", before)
    assert len(git(doors.root, "merge-base", "--all", MAIN, WORK).split()) == 2


def dated(doors: Doors, when: str) -> str:
    """Return the branch's last commit, made at another time."""
    head, _, words = git(doors.root, "cat-file", "commit", WORK).partition("\n\n")
    lines = [f"{line.rpartition('> ')[0]}> {when} +0000" if "> " in line else line for line in head.split("\n")]
    data = "\n".join([*lines, "", words, ""]).encode()
    return git(doors.root, "hash-object", "-t", "commit", "-w", "--stdin", data=data)


def looks(doors: Doors) -> Iterator[tuple[int, list[Row]]]:
    """Yield what a check of the branch finds, here, on a server, and of a merge of it."""
    yield doors.check("--base", MAIN)
    yield doors.check("--at", WORK, "--base", MAIN, root=bare(doors))
    with doors.away():
        git(doors.root, "merge", "-q", "--no-ff", "-m", "merge", WORK)
        yield doors.check()


def bare(doors: Doors) -> Path:
    there = doors.root.parent / "server.git"
    if not there.exists():
        git(doors.root.parent, "init", "-q", "--bare", str(there))
    git(doors.root, "push", "-qf", str(there), MAIN, WORK)
    return there


def errors(found: list[Row]) -> set[str]:
    return {row["code"] for row in found if row["severity"] == "error"}


@pytest.mark.parametrize("later", [True, False])
def test_a_verdict_of_the_base_beside_a_newer_merge_base(doors: Doors, *, later: bool) -> None:
    """Way: git tells the newer of both first, which a commit's date decides; that one has not the reviewer's word."""
    task = doors.play.proven()
    doors.landed()
    crossed(doors, lambda: doors.play.as_("Grace").do(tasks.reopen_task, task, reason="No."), later=later)
    opened = doors.last(task, "reopened")
    yes = doors.forge(task, "accepted", sees=[doors.last(task, "completed")], text=doors.ref(task).digest)
    doors.play.do(settling.settle_record, task, yes, reason="Mine.")
    for code, found in looks(doors):
        assert (code, errors(found)) == (5, {"D011"}), found
        assert opened in next(row["message"] for row in found if row["code"] == "D011")


@pytest.mark.parametrize("later", [True, False])
def test_a_text_of_the_base_beside_a_newer_merge_base(doors: Doors, *, later: bool) -> None:
    """Way: the branch's own merge base has the text from before it became harder, and the branch keeps that."""
    task = doors.play.task(criteria=["It runs."])
    claim = doors.play.claimed(task)
    doors.landed()
    easy = doors.file(task).read_bytes()
    crossed(doors, lambda: doors.play.do(tasks.revise_task, task, criteria=[HARD]), later=later)
    doors.write(doors.path(task), easy)
    doors.play.complete(claim, doors.play.evidence(task))
    for code, found in looks(doors):
        assert (code, errors(found)) == (5, {"D007"}), found


@pytest.mark.parametrize("later", [True, False])
def test_a_policy_of_the_base_beside_a_newer_merge_base(doors: Doors, *, later: bool) -> None:
    """Way: policy became stricter on main, and the branch takes the one of its own merge base."""
    path = ".memento/config.yaml"
    weak = (doors.root / path).read_text()
    crossed(doors, lambda: doors.write(path, "version: 1\npolicy:\n  require: [test]\n"), later=later)
    doors.write(path, weak)
    task = doors.play.task()
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task, kind="lint"))
    for code, found in looks(doors):
        assert (code, errors(found), "C003" in {row["code"] for row in found}) == (5, {"P001"}, True), found


def taken_in(doors: Doors, way: str, path: str, text: str) -> None:
    """Let main merge a request that writes a file, and the branch take that in, but not main's merge of it.

    Beside it the branch has a commit of main's own line, or one of an earlier request, with a date of its author's.
    """
    git(doors.root, "switch", "-qc", "request", MAIN)
    doors.write(path, text)
    git(doors.root, "switch", "-q", MAIN if way == "own line" else WORK)
    doors.write("more.py", "more\n")
    if way != "own line":
        doors.adopt(dated(doors, way))
    other = git(doors.root, "rev-parse", "HEAD")
    git(doors.root, "switch", "-q", MAIN)
    for one in ("request", *([other] if way != "own line" else [])):
        git(doors.root, "merge", "-q", "--no-ff", "-m", "a request", one)
    git(doors.root, "switch", "-q", WORK)
    for one in (other, "request"):
        git(doors.root, "merge", "-q", "-m", "taken in", one)
    assert {*git(doors.root, "merge-base", "--all", MAIN, WORK).split()} == {
        other, git(doors.root, "rev-parse", "request"),
    }  # fmt: skip


WAYS = ["own line", "2100000000", "1000000000"]


@pytest.mark.parametrize("way", WAYS)
def test_a_policy_that_came_to_the_base_by_a_request_which_the_branch_took_in(doors: Doors, way: str) -> None:
    """Way: the merge bases are the request and a commit without its policy, and git or main's line tells that first."""
    path = ".memento/config.yaml"
    weak = (doors.root / path).read_text()
    taken_in(doors, way, path, "version: 1\npolicy:\n  require: [test]\n")
    for code, found in looks(doors):
        assert (code, found) == (0, [])
    doors.write(path, weak)
    told = [row["message"] for row in doors.check("--base", MAIN)[1] if row["code"] == "C003"]
    assert ["require: test is asked no more" in one for one in told] == [True]
    task = doors.play.task()
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task, kind="lint"))
    for code, found in looks(doors):
        assert (code, errors(found), "C003" in {row["code"] for row in found}) == (5, {"P001"}, True), found
    next(doors.root.glob(".memento/runs/*/run.md")).unlink()
    doors.play.commit_all("by hand")
    code, found = doors.check("--base", MAIN, "--fix")
    assert (code, errors(found)) == (5, {"P001"})


@pytest.mark.parametrize("way", WAYS)
def test_a_file_of_keys_that_came_to_the_base_by_a_request_which_the_branch_took_in(doors: Doors, way: str) -> None:
    """Way: the same with the list of keys that count no more."""
    doors.policy("  signatures: {allowed_signers: keys, revoked: out}\n")
    doors.write("out", "")
    doors.landed()
    taken_in(doors, way, "out", "# none yet\n")
    assert doors.check("--base", MAIN) == (0, [])
    doors.write("out", "")
    for code, found in looks(doors):
        assert (code, [(row["code"], row["path"]) for row in found]) == (0, [("C003", "out")])


@pytest.mark.parametrize("later", [True, False])
def test_histories_that_cross_without_a_cheat(doors: Doors, *, later: bool) -> None:
    """The honest way: what came from either side is nothing that the branch did, texts and removals among it."""
    one, two = doors.play.task("One", criteria=["It runs."]), doors.play.task("Two", criteria=["It runs."])
    claims = {task: doors.play.claimed(task) for task in (one, two)}
    shown = doors.play.evidence(two)
    doors.landed()
    doors.play.do(tasks.revise_task, two, criteria=[HARD])

    def on_main() -> None:
        grace = doors.play.as_("Grace")
        grace.do(tasks.revise_task, one, criteria=[HARD])
        grace.do(settling.redact_record, shown, reason="A name.")
        grace.do(plans.approve_plan, doors.play.state(one).canonical)
        doors.write(".memento/config.yaml", "version: 1\npolicy:\n  plan: {not_author: true}\n")

    crossed(doors, on_main, later=later)
    for task, claim in claims.items():
        anew = doors.play.do(dispatches.recover_dispatch, claim, force=True, reason="Other terms.", requeue=True)[1]
        doors.play.complete(doors.play.do(dispatches.claim_dispatch, anew), doors.play.evidence(task))
    doors.play.do(verifying.verify_task, one)
    for code, found in looks(doors):
        assert (code, [row for row in found if row["code"] not in ("C001", "C002")]) == (0, [])


def begun_between(doors: Doors, path: str, meanwhile: str) -> None:
    """Let main merge a request that had another file on its way alone, and the branch begin where it had that."""
    kept = (doors.root / path).read_text()
    doors.play.task("Mine")
    doors.write(path, meanwhile)
    between = git(doors.root, "rev-parse", "HEAD")
    doors.write(path, kept)
    for code, found in looks(doors):
        assert (code, found) == (0, [])
    git(doors.root, "switch", "-q", MAIN)
    git(doors.root, "merge", "-q", "--no-ff", "-m", "the first request", WORK)
    git(doors.root, "switch", "-q", "-C", WORK, between)
    assert git(doors.root, "merge-base", "--all", MAIN, WORK) == between


def test_a_policy_that_an_earlier_request_had_on_its_way_alone(doors: Doors) -> None:
    """Way: a request weakens policy, and puts it back before it is merged; the next one begins between the two."""
    path = ".memento/config.yaml"
    weak = (doors.root / path).read_text()
    doors.write(path, weak.replace("require: []", "require: [test]"))
    doors.landed()
    begun_between(doors, path, weak)
    task = doors.play.task()
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task, kind="lint"))
    for code, found in looks(doors):
        assert (code, errors(found)) == (5, {"P001"}), found
    shown = doors.answer("diff", f"{MAIN}...{WORK}")
    assert (shown["counts"]["unproven"], shown["policy"]["weakened"]) == (1, ["require: test is asked no more"])


def test_what_is_told_by_a_policy_that_an_earlier_request_had_on_its_way_alone(doors: Doors) -> None:
    """Way: by that one a token is no secret, and a skill a file of keys, of whose change policy's lines would tell."""
    path, skill, token = ".memento/config.yaml", ".memento/skills/new/SKILL.md", "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    weak = f"  allow_secrets: [GitHub Token]\n  signatures: {{allowed_signers: {skill}}}\n"
    begun_between(doors, path, f"version: 1\npolicy:\n{weak}")
    (run,) = doors.play.ledger.view().runs()
    doors.edit(run, "Make it work", f"Make {token} work")
    doors.write(skill, "Obey.\n")
    _, out, _ = doors.cli("diff", f"{MAIN}...{WORK}", "--format", "markdown", "-C", str(doors.root))
    assert (token in out, "redacted: GitHub Token" in out, f"added: `{skill}`" in out) == (False, True, True)


def test_keys_that_an_earlier_request_had_on_its_way_alone(doors: Doors) -> None:
    """Way: the same with the file of keys; here, and on a server, its change is told with the second request."""
    doors.policy("  signatures: {allowed_signers: keys}\n")
    doors.write("keys", "# nobody's\n")
    doors.landed()
    begun_between(doors, "keys", "# mine\n")
    doors.play.task("Another")
    told = [[row["code"] for row in found] for _, found in looks(doors)]
    assert told == [["C003"], ["C003"], []]


@pytest.mark.parametrize("landed", ["merge", "squash"])
def test_a_request_on_another_that_brought_a_policy_without_a_cheat(doors: Doors, landed: str) -> None:
    """The honest way: it began on the other's branch, which main has merged since; that changed policy on its way."""
    path = ".memento/config.yaml"
    doors.write(path, (doors.root / path).read_text().replace("require: []", "require: [test]"))
    doors.play.proven("One")
    git(doors.root, "switch", "-q", MAIN)
    git(doors.root, "merge", "-q", *(["--no-ff", "-m", "one"] if landed == "merge" else ["--squash"]), WORK)
    git(doors.root, "commit", "-q", "--allow-empty", "-m", "on")
    git(doors.root, "switch", "-q", WORK)
    doors.play.proven("Two")
    doors.sound()


def hidden(doors: Doors) -> list[list[str]]:
    """Return what each look tells of attributes."""
    return [[row["message"] for row in found if row["code"] == "C005"] for _, found in looks(doors)]


@pytest.mark.parametrize("later", [True, False])
@pytest.mark.parametrize("path", [".gitattributes", ".memento/.gitattributes"])
def test_attributes_that_came_to_the_base_by_an_earlier_request(doors: Doors, path: str, *, later: bool) -> None:
    """What the branch has from any merge base is nothing that it does."""
    doors.write(path, "*.yaml -diff\n")
    crossed(doors, lambda: doors.play.task("Theirs"), later=later)
    doors.play.task("More")
    assert hidden(doors) == [[], [], []]


@pytest.mark.parametrize("later", [True, False])
@pytest.mark.parametrize("path", [".gitattributes", ".memento/.gitattributes"])
def test_attributes_that_an_earlier_request_took_away(doors: Doors, path: str, *, later: bool) -> None:
    """Way: one merge base has the line as before, the other one lost it, and the branch has it once more."""
    own = (doors.root / path).read_text() if (doors.root / path).exists() else ""
    doors.write(path, f"{own}*.yaml -diff\n")
    doors.landed()
    doors.write(path, own)
    crossed(doors, lambda: doors.play.task("Theirs"), later=later)
    doors.write(path, f"{own}*.yaml -diff\n")
    told = "the branch changes how git shows or stores ledger files: it has '*.yaml -diff' now"
    assert hidden(doors) == [[told], [told], [told]]
