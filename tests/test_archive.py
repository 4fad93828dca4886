"""A settled run in one file reads as before, gives the exact bytes back, and cannot hurt a reader."""

from __future__ import annotations

import gzip
import io
import json
from typing import TYPE_CHECKING, Any

import pytest

from memento_git.ledger import archive, codec, layout
from memento_git.ledger.store import Ledger
from memento_git.review import formats
from memento_git.review.actions import check
from memento_git.verbs.settling import troubles
from memento_git.work import refusals as no
from memento_git.work.actions import evidences, runs, settling
from memento_git.work.overview import overview
from memento_git.work.row_cache import base
from memento_git.work.rows import audit_rows
from memento_git.work.state import RunState
from tests.play import Play, git, merge_into

if TYPE_CHECKING:
    from pathlib import Path

RUN = "run_000000000000"
FOLDER = f".memento/runs/{RUN}/evidence/0/evidence_000000000001"
CONTENTS = [
    b"", b"\n", b"\r", b"a\rb", b"a\r\nb\r\n", b"\xff\xfe\x00", b"caf\xe9", b"trailing  \n \n", b"\ttab", b"- a\n",
    b"true", b"2026-01-01", b"a: b\n", b"<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n", b"\n  x\n y", b"\xef\xbb\xbfbom",
    "\u2028\u0085é".encode(), b"\x1b[31m", b"x" * 100_000, b"'\"\\", b"---\nid: x\n---\n# T\n", b"  lead\n", b"\0",
    b"%YAML 1.1\n", b"&a *b !c", b"no newline", b"many\n\n\n", b"\n\nlead", b"#", b"...\n",
]  # fmt: skip


def named(data: bytes) -> str:
    return layout.archive_path(RUN, codec.digest_of(data))


def test_exactly_the_same_bytes_come_back() -> None:
    files = {f"{FOLDER}/{number}.txt": data for number, data in enumerate(CONTENTS)}
    packed = archive.pack(files)
    assert archive.unpack(named(packed), RUN, packed) == (files, [])
    assert archive.pack(files) == packed


def test_a_huge_run_becomes_several_archives_and_a_huge_file_stays_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "PART", 10)
    files = {"a": b"x" * 6, "b": b"y" * 6, "c": b"z" * 11, "d": b"w" * 4}
    assert list(archive.parts(files)) == [{"a": files["a"]}, {"b": files["b"], "d": files["d"]}]
    assert list(archive.parts({"c": files["c"]})) == []


def zipped(text: bytes) -> bytes:
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0) as stream:
        stream.write(text)
    return buffer.getvalue()


HEAD = b"version: 1\nfiles:\n  "
HOSTILE = {
    "not gzip": b"plain", "empty": b"", "cut": zipped(b"version: 1\nfiles: {}\n")[:-9],
    "bent": zipped(b"x" * 500)[:14] + b"\xff" * 30, "list": zipped(b"- a\n"), "text": zipped(b"a\n"),
    "no files": zipped(b"version: 1\n"), "files a list": zipped(b"version: 1\nfiles: [a]\n"),
    "newer": zipped(b"version: 2\nfiles: {}\n"), "not yaml": zipped(b"a: [\n"), "deep": zipped(b"[" * 50_000),
    "not base64": zipped(HEAD + f"{FOLDER}/a: {{base64: '*'}}\n".encode()),
    "neither": zipped(HEAD + f"{FOLDER}/a: {{}}\n".encode()), "a text": zipped(HEAD + f"{FOLDER}/a: x\n".encode()),
    "list inside": zipped(HEAD + f"{FOLDER}/a: {{text: [a]}}\n".encode()),
    "another run": zipped(HEAD + b".memento/runs/run_111111111111/run.md: {text: x}\n"),
    "outside": zipped(HEAD + b"../../etc/passwd: {text: x}\n"),
    "config": zipped(HEAD + b".memento/config.yaml: {text: x}\n"),
}  # fmt: skip


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_archive_is_a_finding(what: str) -> None:
    data = HOSTILE[what]
    files, findings = archive.unpack(named(data), RUN, data)
    assert files == {}
    assert [finding.code for finding in findings] in (["A002"], ["A003"])


def test_an_archive_that_unpacks_to_more_than_is_sane_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "LARGEST", 1000)
    data = zipped(b"version: 1\nfiles: {}\n#" + b"x" * 10_000)
    files, findings = archive.unpack(named(data), RUN, data)
    assert (files, [finding.code for finding in findings]) == ({}, ["A002"])
    assert not archive.may_hold(data, {"000000000001"})


def test_bytes_that_differ_from_the_name_are_a_finding() -> None:
    data = archive.pack({})
    assert archive.unpack(named(data + b"x"), RUN, data)[1][0].code == "A001"


PATH = f"{FOLDER.rpartition('/')[0]}/evidence_000000000001.yaml"
SPELLINGS = [PATH.replace("e_0", r"e_\x30"), PATH.replace("/", r"\/"), PATH.replace("0001", "0\\\n    001")]


def test_what_an_archive_may_hold_is_told_by_its_paths() -> None:
    data = archive.pack({PATH: b"for: task_000000000002\n"})
    assert archive.may_hold(data, {"000000000001"})
    assert not archive.may_hold(data, {"000000000002", "000000000003"})
    assert not any(archive.may_hold(HOSTILE[what], {"000000000001"}) for what in ("not gzip", "cut", "bent"))


@pytest.mark.parametrize("spelled", SPELLINGS)
def test_a_path_spelled_with_other_letters_is_held_all_the_same(spelled: str) -> None:
    data = zipped(f'version: 1\nfiles:\n  ? "{spelled}"\n  : {{text: x}}\n'.encode())
    assert archive.unpack(named(data), RUN, data) == ({PATH: b"x"}, [])
    assert archive.may_hold(data, {"000000000001"})


def test_an_archive_is_not_unpacked_where_it_has_none_of_the_ids(play: Play) -> None:
    run, task = finished(play)
    play.do(runs.archive_run, run)
    view = play.ledger.view()
    view.unpack_holders({"000000000001"})
    assert view.archived == {}
    view.unpack_holders({task.removeprefix("task_")})
    assert [*view.archived] == [run]


def finished(play: Play) -> tuple[str, str]:
    run = play.planned()
    task = play.proven()
    play.gate("release", "passed", run=run, evidence=[play.evidence(task)])
    play.do(runs.complete_run, run)
    return run, task


def shown(play: Play, run: str) -> dict[str, Any]:
    view = play.ledger.view()
    return dict(base(view, run))


def test_an_archived_run_reads_exactly_as_before(play: Play) -> None:
    run, task = finished(play)
    before = shown(play, run)
    path = play.do(runs.archive_run, run)
    assert shown(play, run) == before
    assert play.is_proven(task)
    held = git(play.root, "ls-tree", "-r", "--name-only", "HEAD", ".memento/").split()
    assert [name for name in held if run in name] == [path]
    assert not (play.root / ".memento" / "runs" / run).exists()
    assert "R" not in git(play.root, "diff", "-M", "-C", "--name-status", "HEAD~1").replace("README", "")
    with pytest.raises(no.AlreadyArchived):
        play.do(runs.archive_run, run)


def test_what_a_view_shall_have_of_an_archived_run_stays_also_once_the_run_was_listed(play: Play) -> None:
    run, task = finished(play)
    path = layout.prose_path(run, task)
    blob = play.ledger.view().blob(path)
    assert blob
    play.do(runs.archive_run, run)
    view = play.ledger.view()
    view.index(run)
    view.hold({path: blob})
    assert view.blob(path) == blob


def test_status_says_that_a_run_is_archived(play: Play, cli: Any) -> None:
    run, _ = finished(play)
    assert play.overview(run)["archived"] is False
    play.do(runs.archive_run, run)
    assert play.overview(run)["archived"] is True
    assert "  completed, archived  " in cli("status", "-C", str(play.root))[1].splitlines()[0]


def test_a_run_that_is_not_final_is_not_archived(play: Play) -> None:
    with pytest.raises(no.NotSettled):
        play.do(runs.archive_run, play.run())


def test_a_run_completed_and_archived_in_one_change_is_archived_whole(play: Play, run: str) -> None:
    play.proven()
    with play.ledger.transaction("both") as tx:
        runs.complete_run(tx, run)
        runs.archive_run(tx, run)
    assert play.status(run) == "completed"
    assert not (play.root / ".memento" / "runs" / run).exists()


def test_a_run_reads_as_before_in_the_change_that_archives_it(play: Play) -> None:
    run, task = finished(play)

    def told(state: RunState) -> list[Any]:
        return [state.status, state.tasks(), state.proof(task), audit_rows(state), list(state.index.evidence)]

    before = told(play.state(run))
    with play.ledger.transaction("archive") as tx:
        assert told(RunState(tx.view, run)) == before
        runs.archive_run(tx, run)
        assert told(RunState(tx.view, run)) == before


def test_a_stranger_in_a_runs_folder_is_not_packed_away(play: Play) -> None:
    run, _ = finished(play)
    stray: Path = play.root / ".memento" / "runs" / run / "notes.txt"
    play.commit(stray, "mine", "stray")
    play.do(runs.archive_run, run)
    assert stray.exists()
    told = play.overview(run)
    assert (told["run"]["status"], told["archived"], told["next"]) == ("completed", True, [])


def test_files_that_are_back_beside_the_archive_that_holds_them_are_told_as_that(play: Play) -> None:
    run, _ = finished(play)
    git(play.root, "branch", "loose")
    play.do(runs.archive_run, run)
    union = overview(play.ledger, play.ledger.view(["main", "loose"]), run)
    git(play.root, "checkout", "loose", "--", ".memento/runs")
    git(play.root, "commit", "-qm", "back")
    back = play.overview(run)
    for told in (union, back):
        (step,) = told["next"]
        assert (told["archived"], step["command"]) == (False, f"memento archive {run}")
        assert step["why"] == "the run is completed, and files of it lie beside its archive"
    play.do(runs.archive_run, run)
    assert play.overview(run)["next"] == []


def test_two_branches_archive_the_same_run_and_both_archives_read_as_one(play: Play) -> None:
    run, task = finished(play)
    git(play.root, "branch", "other")
    play.do(runs.archive_run, run)
    git(play.root, "switch", "-q", "other")
    first_evidence = first(play, run)
    play.do(settling.redact_record, first_evidence, reason="x")
    play.do(runs.archive_run, run)
    git(play.root, "merge", "-q", "--no-edit", "main")
    assert len(list((play.root / ".memento" / "archive" / run).iterdir())) == 2
    assert play.status(run) == "completed"
    state = play.state(run)
    assert state.evidence_status(first_evidence) == "redacted"
    told = [finding for finding in state.view.findings if finding.code == "R001"]
    assert {finding.fix for finding in told} == {"memento check --fix"}
    assert not play.is_proven(task)
    report = check(play.ledger, no_base=True, fix=True)
    assert report.fixed == tuple(("removed", finding.path) for finding in told)
    assert [finding.code for finding in report.findings if finding.severity == "error"] == []
    assert play.status(run) == "completed"
    packed = [path.relative_to(play.root).as_posix() for path in play.root.glob(f".memento/archive/{run}/*")]
    held = {name for path in packed for name in archive.unpack(path, run, (play.root / path).read_bytes())[0]}
    assert not held & {finding.path for finding in told}


def first(play: Play, run: str) -> str:
    """Return the evidence that proves the run's task."""
    held = shown(play, run)
    return str(held["tasks"][0]["proven_by"][0])


def test_an_event_that_comes_late_to_an_archived_run_is_found_and_can_be_settled(play: Play, run: str) -> None:
    play.proven()
    git(play.root, "branch", "other")
    play.do(runs.complete_run, run)
    play.do(runs.archive_run, run)
    git(play.root, "switch", "-q", "other")
    with Ledger.open(play.root, actor="Bob") as opened:
        Play(opened).gate("quality_review", "failed")
        Play(opened).do(runs.cancel_run, run, reason="enough")
    merge_into(play.root, "main", "other")
    row = shown(play, run)
    assert row["run"]["status"] == "contested"
    assert [one["action"] for one in troubles(play.ledger.view())[1]] == ["gate.failed", "run.cancelled"]
    heads = play.state(run).folded(run).heads
    keep = next(name for name in heads if (event := play.state(run).event(name)) and event.do == "completed")
    play.do(settling.settle_record, run, keep, reason="it was done")
    assert play.status(run) == "completed"
    play.do(runs.archive_run, run)
    assert play.status(run) == "completed"


def test_a_tampered_archive_is_a_finding_and_other_runs_still_read(play: Play) -> None:
    run, _ = finished(play)
    other = play.run("Another")
    path = play.root / play.do(runs.archive_run, run)
    path.write_bytes(path.read_bytes()[:-4] + b"xxxx")
    play.commit_all("tampered")
    held = shown(play, run)
    assert "A001" in {finding[0] for finding in held["findings"]}
    assert shown(play, other)["run"]["goal"] == "Another"


def test_what_only_an_archive_has_is_told_with_it_and_how_to_look_inside(play: Play, cli: Any) -> None:
    where = ("-C", str(play.root))
    run = play.planned()
    task = play.proven()
    old = play.state(run).proof(task).by[0].partition("@")[0]
    kept = play.do(evidences.add_evidence, "artifact", run=run, files=["app.py"])
    play.commit("app.py", "answer = 43\n")
    base_of_it = git(play.root, "rev-list", "--max-parents=0", "HEAD")
    play.do(runs.complete_run, run)
    (before,) = check(play.ledger, base=base_of_it).findings
    assert (before.code, before.archive) == ("C001", "")
    assert "next" not in json.loads(cli("evidence", "show", kept, "--json", *where)[1])

    place = play.do(runs.archive_run, run)
    (found,) = check(play.ledger, base=base_of_it).findings
    assert (found.path, found.archive) == (before.path, place)
    assert {one.archive for one in check(play.ledger, no_base=True).findings} <= {place}
    assert f"gzip -dc {place}" in formats.text([found], [], "")
    assert formats.github([found]).startswith(f"::warning file={place},title=")
    assert f"gzip -dc {place}" in formats.junit([found], [])
    (row,) = formats.rows([found])
    assert (row["path"], row["archive"]) == (found.path, place)
    held = json.loads(formats.sarif([found], [], "1"))["runs"][0]["results"][0]
    assert held["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == place
    (step,) = json.loads(cli("evidence", "show", kept, "--json", *where)[1])["next"]
    assert step["command"] == f"gzip -dc {place}"
    assert old.encode() in gzip.decompress((play.root / place).read_bytes())


def test_what_is_redacted_from_an_archived_run_is_gone_from_its_archive(play: Play) -> None:
    run, task = finished(play)
    play.do(runs.archive_run, run)
    secret = first(play, run)
    play.do(settling.redact_record, secret, reason="a secret")
    state = play.state(run)
    assert secret not in state.index.evidence
    assert state.evidence_status(secret) == "redacted"
    assert not play.is_proven(task)
    assert not state.view.findings
    for path in (play.root / ".memento" / "archive" / run).iterdir():
        assert f"{secret}.yaml".encode() not in gzip.decompress(path.read_bytes())
