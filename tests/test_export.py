"""evidence export: in-toto Statements that the in-toto library reads back, plain or in a signed envelope."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from google.protobuf.json_format import Parse, ParseDict
from in_toto_attestation.predicates.test_result.v0.test_result_pb2 import TestResult as ResultProto
from in_toto_attestation.predicates.vsa.v1.vsa_pb2 import VerificationSummary
from in_toto_attestation.v1.statement import Statement
from in_toto_attestation.v1.statement_pb2 import Statement as StatementProto
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import SSlibKey

from memento_git.errors import adding
from memento_git.ledger import layout
from memento_git.ledger.ranges import ForkMissing
from memento_git.model.ids import EvidenceWithdrawn
from memento_git.work import codestate
from memento_git.work import refusals as no
from memento_git.work.actions import evidences, exporting, releases, runs, settling
from memento_git.work.attest import envelope
from tests.play import git

if TYPE_CHECKING:
    from tests.play import Call, Play

JUNIT = """\
from pathlib import Path
Path("junit.xml").write_text('<testsuite><testcase name="good"/><testcase name="bad"><failure/></testcase></testsuite>')
"""


def read_back(statement: bytes) -> tuple[Statement, dict[str, Any]]:
    """Read a statement with the in-toto library, validate it, and return it with its predicate."""
    found = Statement.copy_from_pb(Parse(statement, StatementProto()))
    found.validate()
    return found, json.loads(statement)["predicate"]


def exported(play: Play, *ids: str) -> list[bytes]:
    return exporting.evidence_statements(play.ledger.view(), ids)


def digests(found: Statement) -> dict[str, dict[str, str]]:
    return {one.name: dict(one.digest) for one in found.pb.subject}


@pytest.fixture
def released(play: Play, run: str) -> tuple[Play, str, str]:
    """A run with one proven task, released."""
    task = play.proven()
    play.do(releases.release_run, run=run)
    return play, run, task


def test_a_passing_command_is_a_test_result_about_the_code_that_it_saw(play: Play, run: str) -> None:
    task = play.task()
    evidence = play.evidence(task)
    head = git(play.root, "rev-parse", "HEAD~1")
    (statement,) = exported(play, evidence)
    found, predicate = read_back(statement)
    assert found.pb.predicate_type == "https://in-toto.io/attestation/test-result/v0.1"
    tree = codestate.code_at(play.ledger.git, "HEAD")["tree"]
    assert digests(found) == {"code": {"gitTree": tree}, "commit": {"gitCommit": head}}
    result = ParseDict(predicate, ResultProto())
    assert (result.result, list(result.failed_tests), result.url) == ("PASSED", [], "")
    (about,) = predicate["configuration"]
    assert about["uri"] == f"memento:{evidence}"
    assert about["annotations"]["trust"] == "witnessed"
    assert about["annotations"]["tasks"] == [task]
    assert "absent" not in about["annotations"]
    assert about["digest"]["sha256"] == play.ledger.view().sha256(about["name"])


def test_a_test_result_says_how_many_files_its_command_did_not_see(play: Play, run: str) -> None:
    """Way: what passed where half of the code was not checked out, as a result about all of it."""
    play.commit("far.py", "far = 1\n")
    git(play.root, "sparse-checkout", "set", "--no-cone", "/*", "!/far.py")
    evidence = play.evidence(play.task())
    _, predicate = read_back(exported(play, evidence)[0])
    assert predicate["configuration"][0]["annotations"]["absent"] == 1


def test_failed_cases_are_named_and_failed_evidence_is_exported_as_failed(play: Play, run: str) -> None:
    play.commit("junit.py", JUNIT)
    draft = evidences.witness(play.ledger, ["python3", "junit.py"], kind="test", reports=["junit.xml"], quiet=True)
    evidence = play.do(evidences.record_draft, draft, tasks=[play.task()])
    found, predicate = read_back(exported(play, evidence)[0])
    result = ParseDict(predicate, ResultProto())
    assert (result.result, list(result.failed_tests)) == ("FAILED", ["junit.xml: bad"])
    assert predicate["configuration"][1]["annotations"]["counts"]["passed"] == 1
    assert found.pb.subject[0].name == "code"


def test_the_commit_is_no_subject_where_it_did_not_hold_that_code(play: Play, run: str) -> None:
    (play.root / "app.py").write_text("answer = 43\n")
    found, _ = read_back(exported(play, play.evidence(play.task()))[0])
    assert set(digests(found)) == {"code"}
    git(play.root, "checkout", "-q", "app.py")
    (play.root / "new.py").write_text("x\n")
    evidence = play.evidence(play.task("Another"))
    found, _ = read_back(exported(play, evidence)[0])
    state = play.state(evidence)
    one = state.evidence_named(evidence)
    assert digests(found) == {"code": {"gitTree": one.data["code"]["full"]}}


@pytest.mark.parametrize("where", ["elsewhere", "nowhere"])
def test_the_commit_is_no_subject_where_evidence_alone_says_that_it_held_that_code(
    play: Play, run: str, where: str
) -> None:
    evidence = play.evidence(play.task())
    path = play.root / play.state(evidence).index.evidence[evidence]
    head = git(play.root, "rev-parse", "HEAD~1")
    play.commit("app.py", "answer = 43\n", "other code")
    said = git(play.root, "rev-parse", "HEAD") if where == "elsewhere" else "1" * 40
    assert "commit" in digests(read_back(exported(play, evidence)[0])[0])
    play.commit(path, path.read_text().replace(head, said), "by hand")
    assert "commit" not in digests(read_back(exported(play, evidence)[0])[0])


def test_the_bytes_are_the_same_each_time_and_name_no_place_of_a_machine(play: Play, run: str) -> None:
    evidence = play.evidence(play.task())
    first = exported(play, evidence)
    play.task("Something else")
    assert exported(play, evidence) == first
    assert str(play.root).encode() not in first[0]
    assert str(Path.home()).encode() not in first[0]
    assert first[0] == json.dumps(json.loads(first[0]), sort_keys=True, separators=(",", ":")).encode()


def test_evidence_that_is_named_twice_is_exported_once(play: Play, run: str) -> None:
    first, second = (play.evidence(play.task()) for _ in range(2))
    view = play.ledger.view()
    told = exporting.evidence_statements(view, [second, first, second[:-1]])
    assert told == exporting.evidence_statements(view, [second, first])
    assert len(told) == 2


def test_what_does_not_stand_or_has_no_verdict_is_refused(play: Play, run: str) -> None:
    task = play.task()
    withdrawn, removed = play.evidence(task), play.evidence(task)
    play.do(evidences.retract, withdrawn, reason="mistake")
    play.do(settling.redact_record, removed, reason="secret")
    note = play.do(evidences.add_evidence, "note", summary="fine", tasks=[task])
    typed = play.do(evidences.add_evidence, "test", uri="https://ci.invalid/1", tasks=[task], outcome="passed")
    for identity, status in ((withdrawn, "retracted"), (removed, "redacted")):
        with pytest.raises(EvidenceWithdrawn, match=status):
            exported(play, identity)
    for identity, why in ((note, "kind note"), (typed, "bound to no code")):
        with pytest.raises(exporting.NotAttestable, match=why) as caught:
            exported(play, identity)
        assert caught.value.token == "evidence_not_attestable"
    draft = evidences.witness(play.ledger, ["sh", "-c", "echo 1 >> app.py"], kind="test", quiet=True)
    moved = str(play.do(evidences.record_draft, draft, tasks=[task]))
    play.commit_all("what it changed")
    with pytest.raises(exporting.NotAttestable, match="the code changed while"):
        exported(play, moved)
    lied = play.evidence(task)
    path = play.root / play.state(lied).index.evidence[lied]
    play.commit(path, path.read_text().replace("outcome: passed", "outcome: failed"))
    with pytest.raises(exporting.NotAttestable, match="disagrees"):
        exported(play, lied)


def test_a_task_is_exported_as_what_proves_it(play: Play, run: str) -> None:
    task = play.task()
    with pytest.raises(no.TaskTransition, match="exported"):
        exporting.task_statements(play.ledger.view(), task)
    evidence = play.evidence(task)
    play.complete(play.claimed(task), evidence)
    (statement,) = exporting.task_statements(play.ledger.view(), task, run)
    assert f"memento:{evidence}".encode() in statement
    other = play.run("Another")
    with pytest.raises(no.EvidenceForeign):
        exporting.task_statements(play.ledger.view(), task, other)
    play.do(evidences.retract, evidence, reason="mistake")
    with pytest.raises(no.TaskUnproven):
        exporting.task_statements(play.ledger.view(), task)


def test_a_task_that_no_command_proves_has_nothing_to_export(play: Play) -> None:
    (play.root / layout.CONFIG).write_text("version: 1\npolicy:\n  proof: {artifact: verified}\n")
    play.commit_all()
    task = play.planned_task()
    shown = play.do(evidences.add_evidence, "artifact", files=["app.py"], outcome="passed", tasks=[task])
    play.complete(play.claimed(task), shown)
    assert play.is_proven(task)
    with pytest.raises(exporting.NotAttestable, match="no command proves it"):
        exporting.task_statements(play.ledger.view(), task)


def test_a_task_that_is_not_proven_is_told_what_can_be_done(play: Play) -> None:
    run, task = play.planned(), play.proven()
    (evidence,) = play.state(task).proof(task).by
    play.do(runs.complete_run, run)
    play.do(evidences.retract, evidence, reason="mistake")
    with pytest.raises(exporting.NotAttestable, match="it is not proven") as caught:
        exporting.task_statements(play.ledger.view(), task)
    assert "reopen" not in caught.value.hint


def test_a_task_whose_plan_was_edited_is_led_to_its_approval_and_not_done_again(play: Play) -> None:
    run, task = play.planned(), play.proven()
    plan = play.state(run).canonical
    path = play.root / play.state(run).index.prose[plan]
    play.commit(path, path.read_text().replace("Do it", "Do all of it"), "by hand")
    with pytest.raises(no.TaskUnproven) as caught:
        exporting.task_statements(play.ledger.view(), task)
    assert caught.value.hint == f"agree on what is asked: memento plan approve {plan}"


def test_a_released_run_is_a_verification_summary(released: tuple[Play, str, str]) -> None:
    play, run, task = released
    view = play.ledger.view()
    statement = exporting.run_statement(view, run)
    found, predicate = read_back(statement)
    assert found.pb.predicate_type == "https://slsa.dev/verification_summary/v1"
    assert digests(found) == {
        "code": {"gitTree": codestate.code_at(play.ledger.git, "HEAD")["tree"]},
        "commit": {"gitCommit": git(play.root, "rev-parse", "HEAD")},
    }
    assert predicate.pop("verifiedLevels") == ["MEMENTO_RELEASE_GATE_PASSED"], "a list, which the library's proto lacks"
    summary = ParseDict(predicate, VerificationSummary())
    assert (summary.verification_result, summary.resource_uri) == ("PASSED", f"memento:{run}")
    assert summary.verifier.id == "pkg:pypi/memento-git"
    assert summary.policy.digest["sha256"] == view.sha256(layout.CONFIG)
    proof = play.state(task).proof(task)
    assert {one.uri for one in summary.input_attestations} >= {f"memento:{name}" for name in proof.by}
    play.commit("later.py", "x\n")
    assert exporting.run_statement(play.ledger.view(), run) == statement, "later code is not what was released"


def test_a_release_that_does_not_stand_is_not_exported(released: tuple[Play, str, str]) -> None:
    play, run, task = released
    state = play.state(task)
    (evidence,) = state.proof(task).by
    play.do(evidences.retract, evidence, reason="mistake")
    with pytest.raises(exporting.NotReleased, match=evidence) as caught:
        exporting.run_statement(play.ledger.view(), run)
    assert caught.value.token == "run_not_released"
    play.gate("release", "failed", run=run)
    with pytest.raises(exporting.NotReleased, match="its release gate is failed"):
        exporting.run_statement(play.ledger.view(), run)
    other = play.run("Another")
    with pytest.raises(exporting.NotReleased, match="pending"):
        exporting.run_statement(play.ledger.view(), other)


def test_a_release_that_names_other_evidence_rests_on_what_proves_its_tasks_too(play: Play, run: str) -> None:
    task = play.proven()
    play.gate("release", "passed", run=run, evidence=[play.evidence(task)])
    predicate = read_back(exporting.run_statement(play.ledger.view(), run))[1]
    summary = ParseDict({key: predicate[key] for key in ("inputAttestations",)}, VerificationSummary())
    proof = play.state(task).proof(task)
    assert {one.uri for one in summary.input_attestations} > {f"memento:{name}" for name in proof.by}


def event_of(play: Play) -> Path:
    """Return the file of the only release."""
    (found,) = (path for path in (play.root / ".memento").rglob("*-passed-*.yaml") if "release" in path.read_text())
    return found


@pytest.mark.parametrize("archived", [False, True])
def test_a_release_that_is_put_back_later_is_of_the_code_of_its_day(
    released: tuple[Play, str, str], *, archived: bool
) -> None:
    play, run, _ = released
    path = event_of(play)
    kept = path.read_bytes()
    before = exporting.run_statement(play.ledger.view(), run)
    if archived:
        play.do(runs.complete_run, run)
        play.do(runs.archive_run, run)
        before = exporting.run_statement(play.ledger.view(), run)
    else:
        path.unlink()
        play.commit_all("gone")
    (play.root / "app.py").write_text("answer = 41\n")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(kept)
    play.commit_all("put back")
    assert exporting.run_statement(play.ledger.view(), run) == before


def squashed(play: Play) -> str:
    """Let a branch have all that main has as one commit; return its code."""
    git(play.root, "checkout", "-q", "-b", "squashed", git(play.root, "rev-list", "--max-parents=0", "main"))
    git(play.root, "merge", "-q", "--squash", "main")
    git(play.root, "commit", "-qm", "all of it")
    return str(codestate.code_at(play.ledger.git, "HEAD")["tree"])


def other_code(play: Play) -> None:
    play.commit("app.py", "answer = 41\n", "never released")


def test_a_release_that_came_in_an_archive_alone_is_of_the_code_of_that_commit(
    released: tuple[Play, str, str], tmp_path: Path
) -> None:
    play, run, _ = released
    play.do(runs.complete_run, run)
    play.do(runs.archive_run, run)
    tree = squashed(play)
    before = exporting.run_statement(play.ledger.view(), run)
    assert digests(read_back(before)[0]) == {
        "code": {"gitTree": tree}, "commit": {"gitCommit": git(play.root, "rev-parse", "HEAD")}
    }  # fmt: skip
    other_code(play)
    (play.root / layout.ARCHIVE / run / "a b\n").write_text("no archive")
    play.commit_all("a file that has no place there")
    assert exporting.run_statement(play.ledger.view(), run) == before
    git(tmp_path, "clone", "-q", "--depth", "1", play.root.as_uri(), "shallow")
    with pytest.raises(ForkMissing, match="the commit of the release"):
        exporting.run_statement(play.beside(tmp_path / "shallow").ledger.view(), run)


@pytest.mark.parametrize("how", ["loose", "archived", "archived again"])
def test_a_release_that_is_redacted_later_is_of_the_code_of_its_day(
    released: tuple[Play, str, str], tmp_path: Path, how: str
) -> None:
    play, run, _ = released
    path = event_of(play)
    play.do(runs.complete_run, run)
    if how != "loose":
        play.do(runs.archive_run, run)
        squashed(play)
    before = exporting.run_statement(play.ledger.view(), run)
    other_code(play)
    play.do(settling.redact_record, f"event_{path.stem[-12:]}", reason="a secret in its note")
    if how == "archived again":
        play.do(runs.archive_run, run)
    assert exporting.run_statement(play.ledger.view(), run) == before
    git(tmp_path, "clone", "-q", "--depth", "2", play.root.as_uri(), "shallow")
    with pytest.raises(ForkMissing, match="the commit of the release"):
        exporting.run_statement(play.beside(tmp_path / "shallow").ledger.view(), run)


def test_a_release_that_no_commit_brought_is_not_exported(released: tuple[Play, str, str]) -> None:
    play, run, _ = released
    play.do(settling.redact_record, f"event_{event_of(play).stem[-12:]}", reason="a secret in its note")
    exporting.run_statement(play.ledger.view(), run)
    squashed(play)
    assert "no commit of this history brought its release" in refused_as(play, run)


def test_a_release_that_came_with_a_merge_commit_alone_is_of_its_code(released: tuple[Play, str, str]) -> None:
    play, run, _ = released
    for branch in ("one", "two"):
        git(play.root, "checkout", "-q", "-b", branch, "main~1")
        git(play.root, "commit", "-q", "--allow-empty", "-m", branch)
    git(play.root, "merge", "-q", "--no-commit", "--no-ff", "one")
    git(play.root, "checkout", "main", "--", event_of_main(play))
    git(play.root, "commit", "-qm", "brought by a merge")
    assert git(play.root, "rev-parse", "HEAD^2")
    before = exporting.run_statement(play.ledger.view(), run)
    play.commit("app.py", "answer = 41\n", "later")
    assert exporting.run_statement(play.ledger.view(), run) == before


def test_a_release_that_came_twice_with_different_code_is_not_exported(released: tuple[Play, str, str]) -> None:
    play, run, _ = released
    git(play.root, "checkout", "-q", "-b", "other", "HEAD~1")
    (play.root / "app.py").write_text("answer = 41\n")
    git(play.root, "checkout", "main", "--", event_of_main(play))
    play.commit_all("the same release, other code")
    git(play.root, "checkout", "-q", "main")
    git(play.root, "merge", "-q", "--no-edit", "other")
    assert "its release came with different code" in refused_as(play, run)


def event_of_main(play: Play) -> str:
    """Return the path of the last event that the branch main has."""
    return git(play.root, "diff", "--name-only", "main~1", "main", "--", ".memento").splitlines()[0]


def refused_as(play: Play, run: str) -> str:
    with pytest.raises(exporting.NotReleased) as caught:
        exporting.run_statement(play.ledger.view(), run)
    return caught.value.message


def test_a_release_on_which_a_run_could_not_be_completed_is_not_exported(released: tuple[Play, str, str]) -> None:
    play, run, _ = released
    play.gate("quality_review", "failed", reason="It leaks.")
    assert refused_as(play, run).endswith(f"gate quality_review of {run} has failed")
    play.gate("quality_review", "passed")
    play.policy("  release: {approvals: 1}\n")
    assert "approvals: 0 of 1" in refused_as(play, run)


def test_a_shallow_clone_without_the_commit_of_the_release_says_so(
    released: tuple[Play, str, str], tmp_path: Path
) -> None:
    play, run, _ = released
    for number in range(3):
        play.commit("app.py", f"answer = {number}\n", "more")
    git(tmp_path, "clone", "-q", "--depth", "2", play.root.as_uri(), "shallow")
    shallow = play.beside(tmp_path / "shallow")
    with pytest.raises(ForkMissing, match="the commit of the release"):
        exporting.run_statement(shallow.ledger.view(), run)
    git(tmp_path / "shallow", "fetch", "-q", "--unshallow")
    assert exporting.run_statement(shallow.ledger.view(), run) == exporting.run_statement(play.ledger.view(), run)


def test_a_run_with_unfinished_work_is_not_exported_as_released(released: tuple[Play, str, str]) -> None:
    play, run, _ = released
    late = play.task("Late")
    with pytest.raises(exporting.NotReleased, match=f"{late} is pending"):
        exporting.run_statement(play.ledger.view(), run)


def key_file(folder: Path, kind: str, phrase: str = "") -> Path:
    path = folder / f"key-{kind}"
    subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", phrase, "-f", str(path)], check=True)
    return path


def public(path: Path) -> SSlibKey:
    from cryptography.hazmat.primitives.serialization import load_ssh_public_key

    return SSlibKey.from_crypto(load_ssh_public_key(path.with_suffix(".pub").read_bytes()))


@pytest.mark.parametrize("kind", ["ed25519", "ecdsa"])
def test_an_envelope_is_signed_with_the_key_and_with_no_other(
    play: Play, run: str, tmp_path: Path, cli: Call, kind: str
) -> None:
    evidence = play.evidence(play.task())
    key = key_file(tmp_path, kind)
    out = tmp_path / "attestation.jsonl"
    code, told, _ = cli("-C", str(play.root), "evidence", "export", evidence, "--key", str(key), "--out", str(out))
    assert (code, told.startswith(f"wrote {out}")) == (0, True)
    found = Envelope.from_dict(json.loads(out.read_text()))
    assert found.payload_type == "application/vnd.in-toto+json"
    found.verify([public(key)], 1)
    read_back(found.payload)
    assert found.payload == exported(play, evidence)[0]
    other = tmp_path / "other"
    other.mkdir()
    stranger = key_file(other, kind)
    with pytest.raises(VerificationError):
        found.verify([public(stranger)], 1)


def test_a_key_that_cannot_sign_is_refused_without_a_prompt(tmp_path: Path) -> None:
    nonsense = tmp_path / "nonsense"
    nonsense.write_text("hello")
    for path, why in (
        (tmp_path / "absent", "no such file"),
        (nonsense, "no private key"),
        (key_file(tmp_path, "ed25519", "secret words"), "passphrase"),
        (key_file(tmp_path, "rsa"), "neither Ed25519 nor ECDSA"),
    ):
        with pytest.raises(envelope.KeyUnfit, match=why) as caught:
            envelope.sealed([b"{}"], path)
        assert caught.value.token == "key_invalid"


def test_without_the_library_signing_says_what_to_install() -> None:
    script = (
        "import sys\nsys.modules['securesystemslib'] = None\n"
        "from pathlib import Path\nfrom memento_git.work.attest import envelope\n"
        "try:\n    envelope.sealed([b'{}'], Path('x'))\nexcept envelope.AttestExtraMissing as error:\n"
        "    print(error.token, error.hint)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"attest_extra_missing {adding('attest')}")


def test_the_command_line_wants_one_thing_to_export(play: Play, run: str, cli: Call) -> None:
    evidence = play.evidence(play.task())
    at = ("-C", str(play.root), "evidence", "export")
    assert cli(*at)[0] == 2
    assert cli(*at, evidence, "--run", run)[0] == 2
    code, out, _ = cli(*at, evidence, "--json")
    told = json.loads(out)
    assert (code, told["attestations"][0]["_type"]) == (0, "https://in-toto.io/Statement/v1")
    code, out, _ = cli(*at, evidence)
    assert json.loads(out) == told["attestations"][0]
    assert cli(*at, evidence, "--out", str(play.root / ".memento" / "x"))[0] == 1
    assert cli("-C", str(play.root), "evidence", "export", "--run", run)[0] == 1
