"""Checks from outside: each provider's shapes, what counts as a success, and one record for each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from memento_git.errors import MementoError
from memento_git.ledger.names import NoSuchRevision
from memento_git.verbs import batch
from memento_git.work import check_payloads as rules
from memento_git.work.actions import evidence_checks, evidences
from memento_git.work.check_payloads import Check, PayloadInvalid, ProviderUnknown
from memento_git.work.proof import trust
from tests.play import Play, git

if TYPE_CHECKING:
    from tests.play import Call

DATA: Final = Path(__file__).parent / "data" / "checks"
COMMIT: Final = "a" * 40

STATUSES: Final = [("ci/jenkins", "40", "success"), ("security/scan", "41", "error"), ("cla", "42", "pending")]
SHAPES: Final = {
    "github-check-runs": [("test", "1", "success"), ("lint", "2", "failure"), ("docs", "3", "skipped"),
                          ("deploy", "4", "in_progress")],
    "github-check-run": [("build", "5", "timed_out")],
    "github-check-run-webhook": [("test", "6", "success")],
    "github-workflow-runs": [("CI", "30", "success"), ("Nightly", "31", "startup_failure")],
    "github-workflow-run": [("CI", "32", "action_required")],
    "github-combined-status": STATUSES,
    "github-statuses": STATUSES,
    "gitlab-pipelines": [("pipeline", "50", "success"), ("pipeline", "51", "running")],
    "gitlab-pipeline": [("pipeline", "52", "canceled")],
    "gitlab-jobs": [("rspec", "60", "success"), ("lint", "61", "failed"), ("deploy", "62", "manual"),
                    ("slow", "63", "running")],
    "gitlab-pipeline-webhook": [("pipeline", "53", "failed"), ("rspec", "70", "failed")],
    "gitlab-job-webhook": [("rspec", "71", "success")],
    "buildkite-build": [("app", "0190aa", "failed"), (":pytest: test", "j1", "passed"), ("lint", "j2", "failed"),
                        ("deploy", "j4", "broken")],
    "buildkite-builds": [("app", "0190ab", "running")],
    "buildkite-webhook": [("app", "0190aa", "passed")],
}  # fmt: skip


def sample(name: str) -> bytes:
    return (DATA / f"{name}.json").read_bytes()


def test_every_sample_is_read_here() -> None:
    assert {path.stem for path in DATA.iterdir()} == set(SHAPES)


@pytest.mark.parametrize("name", SHAPES)
def test_each_shape_of_a_provider_is_read(name: str) -> None:
    provider = name.partition("-")[0]
    found = rules.parse(sample(name))
    assert [(one.name, one.id, one.conclusion) for one in found] == SHAPES[name]
    assert {one.provider for one in found} == {provider}
    assert {one.commit for one in found} == {COMMIT}
    assert rules.parse(sample(name), provider) == found
    for one in found:
        ended = trust.concluded(one.conclusion) != "observed" or one.conclusion == "skipped"
        assert bool(one.finished) is ended or one.conclusion == "manual"
        assert one.finished == "" or one.finished.startswith("2026-01-10T10:")


@pytest.mark.parametrize(("name", "other"), [("github-check-runs", "gitlab"), ("gitlab-jobs", "buildkite"),
                                             ("buildkite-build", "github")])  # fmt: skip
def test_a_payload_of_another_provider_is_refused(name: str, other: str) -> None:
    with pytest.raises(PayloadInvalid, match="no check, run, status"):
        rules.parse(sample(name), other)


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        ("passed", ("success", "passed")),
        ("failed", ("failure", "failed", "error", "cancelled", "canceled", "timed_out", "action_required",
                    "startup_failure", "broken", "expired")),
        ("observed", ("neutral", "skipped", "stale", "in_progress", "queued", "pending", "manual", "blocked", "SUCCESS",
                      "success!", "successful", "ok", "not success", "")),
    ],
)  # fmt: skip
def test_only_a_plain_success_passes(outcome: str, words: tuple[str, ...]) -> None:
    assert {trust.concluded(word) for word in words} == {outcome}


def github(**changes: Any) -> bytes:
    return json.dumps({**json.loads(sample("github-check-run")), **changes}).encode()


def gitlab(**changes: Any) -> bytes:
    return json.dumps({**json.loads(sample("gitlab-pipeline")), **changes}).encode()


@pytest.mark.parametrize(
    ("payload", "problem"),
    [
        (b"", "not JSON"), (b"{", "not JSON"), (b"\xff", "not JSON"), (b"[" * 100_000, "not JSON"),
        (b"[]", "no check in it"), (b'{"check_runs": []}', "no check in it"), (b"3", "JSON object"),
        (b"[3]", "JSON object"), (b"{}", "no check, run"), (b'{"check_runs": [3]}', "list of objects"),
        (b'{"check_runs": {}}', "list of objects"), (github(name=""), "name is missing"),
        (github(name=["a"]), "a text of"),
        (github(name="x" * 300), "at most 255"), (github(conclusion=True), "a text of"),
        (github(conclusion=None), "conclusion is missing"), (github(head_sha="abc"), "not a full commit id"),
        (github(head_sha="HEAD"), "not a full commit id"), (github(head_sha=["a"]), "a text of"),
        (github(completed_at="soon"), "not a time"), (github(completed_at=3), "not a time"),
        (github(completed_at="9999-12-31T23:59:59-14:00"), "not a time"),
        (github(html_url="javascript:alert(1)"), "not a link"),
        (github(html_url="https://"), "not a link"), (github(id=1.5), "a text of"),
        (b'{"object_kind": "pipeline"}', "must be an object"),
        (github(name="test\n next: rm"), "the payload, name: this text must be one line"),
        (github(name="t\u202ett"), "U.202E is not allowed"), (github(conclusion="\ud800"), "U.D800 is not allowed"),
        (gitlab(deployable={"id": 7}), "no check, run"), (gitlab(object_kind="deployment"), "no check, run"),
        (json.dumps([json.loads(github())] * 1001).encode(), "more than 1000 checks"),
        (b" " * (rules.MOST_BYTES + 1), "at most"),
    ],
)  # fmt: skip
def test_what_is_no_payload_is_refused(payload: bytes, problem: str) -> None:
    with pytest.raises(PayloadInvalid, match=problem):
        rules.parse(payload)


def test_a_provider_that_is_not_known_is_refused() -> None:
    with pytest.raises(ProviderUnknown):
        rules.parse(sample("github-check-run"), "jenkins")


@pytest.mark.parametrize("blocked", [True, 1, "true"])
def test_a_build_that_waits_for_somebody_to_unblock_it_has_not_passed_yet(blocked: Any) -> None:
    told = json.loads(sample("buildkite-webhook"))
    told["build"]["blocked"] = blocked
    for state, conclusion, finished in (
        ("passed", "blocked", False), ("Passed ", "blocked", False), ("failed", "failed", True),
    ):  # fmt: skip
        told["build"]["state"] = state
        (found,) = rules.parse(json.dumps(told).encode())
        assert (found.conclusion, bool(found.finished)) == (conclusion, finished)


def test_jobs_that_share_a_name_end_with_their_build_so_that_the_worst_of_them_counts() -> None:
    def job(number: int, state: str, *, retried: bool = False) -> dict[str, Any]:
        ended = f"2026-01-10T09:0{number}:00Z"
        return {"id": f"j{number}", "name": "test", "state": state, "finished_at": ended, "retried": retried}

    told = json.loads(sample("buildkite-build"))
    other = {**job(3, "passed"), "name": "other"}
    told["jobs"] = [job(0, "failed", retried=True), job(1, "failed"), job(2, "passed"), other]
    ended = {one.id: one.finished[11:16] for one in rules.parse(json.dumps(told).encode())}
    assert ended == {"0190aa": "10:03", "j0": "09:00", "j1": "10:03", "j2": "10:03", "j3": "09:03"}
    told.update(state="running", finished_at=None)
    assert [one.finished for one in rules.parse(json.dumps(told).encode()) if one.id in ("j1", "j2")] == ["", ""]


def test_a_word_in_another_case_has_the_end_that_its_provider_tells() -> None:
    (found,) = rules.parse(gitlab(status="SUCCESS "))
    assert (found.conclusion, bool(found.finished)) == ("success", True)


# What the ledger holds of them.


def of_head(play: Play, sampled: str, **changes: Any) -> list[Check]:
    """Return a sample's checks as if they were of HEAD."""
    head = git(play.root, "rev-parse", "HEAD")
    return [one._replace(commit=head, **changes) for one in rules.parse(sample(sampled))]


def held(play: Play, run: str) -> list[dict[str, Any]]:
    state = play.state(run)
    found = [state.evidence(name) for name in state.ids("evidence")]
    return [one.data for one in found if one is not None]


def test_each_check_is_one_piece_of_evidence_bound_to_its_commits_code(play: Play, run: str) -> None:
    from memento_git.work import codestate

    new, old = play.do(evidence_checks.add_checks, of_head(play, "github-check-runs"), run=run)
    assert (len(new), old) == (4, [])
    head = git(play.root, "rev-parse", "HEAD~1")
    found = {data["check"]["name"]: data for data in held(play, run)}
    assert {name: data["outcome"] for name, data in found.items()} == {
        "test": "passed", "lint": "failed", "docs": "observed", "deploy": "observed",
    }  # fmt: skip
    assert found["test"]["check"] == {
        "provider": "github", "name": "test", "id": "1", "conclusion": "success", "commit": head,
        "url": "https://github.example/acme/app/runs/1", "finished": "2026-01-10T10:05:00.000Z",
    }  # fmt: skip
    assert found["test"]["code"] == {"tree": codestate.code_at(play.ledger.git, "HEAD")["tree"], "head": head}
    state = play.state(run)
    assert {state.trust_in(one) for name in state.ids("evidence") if (one := state.evidence(name))} == {"reported"}
    assert {data["kind"] for data in found.values()} == {"ci"}


def test_a_check_that_is_delivered_twice_is_recorded_once(play: Play, run: str) -> None:
    found = of_head(play, "github-check-runs")
    first, _ = play.do(evidence_checks.add_checks, found, run=run)
    assert play.do(evidence_checks.add_checks, found, run=run) == ([], first)
    assert play.do(evidence_checks.add_checks, [found[0], found[0]], run=run) == ([], [first[0], first[0]])
    again = found[0]._replace(conclusion="failure", finished="2026-01-10T11:00:00.000Z")
    assert len(play.do(evidence_checks.add_checks, [again, again], run=run)[0]) == 1
    assert len(held(play, run)) == 5


def test_a_typed_word_that_comes_back_after_another_is_news(play: Play, run: str) -> None:
    for word, new in (("success", True), ("success", False), ("failure", True), ("success", True)):
        assert play.do(evidence_checks.record_check, "jenkins", conclusion=word, run=run)[1] is new
    assert len(held(play, run)) == 3


def test_a_retracted_check_does_not_come_back_with_its_next_delivery(play: Play, run: str) -> None:
    found = of_head(play, "github-check-run")
    (first,), _ = play.do(evidence_checks.add_checks, found, run=run)
    play.do(evidences.retract, first, reason="Of another repository.")
    assert play.do(evidence_checks.add_checks, found, run=run) == ([], [first])


def test_a_check_of_a_task_is_evidence_for_that_task_alone(play: Play, run: str) -> None:
    task = play.task(run=run)
    found = of_head(play, "github-check-run")
    play.do(evidence_checks.add_checks, found, run=run)
    play.do(evidence_checks.add_checks, found, tasks=[task])
    assert [data.get("for") for data in held(play, run)].count([task]) == 1


def test_a_check_of_a_commit_that_is_not_here_is_refused_with_the_way_to_get_it(play: Play, run: str) -> None:
    with pytest.raises(evidence_checks.CommitUnknown, match=COMMIT) as refusal:
        play.do(evidence_checks.add_checks, rules.parse(sample("github-check-runs")), run=run)
    assert f"git fetch origin {COMMIT}" in refusal.value.hint
    assert held(play, run) == []


def test_a_check_that_ends_in_the_future_is_refused(play: Play, run: str) -> None:
    with pytest.raises(PayloadInvalid, match="in the future"):
        play.do(
            evidence_checks.add_checks, of_head(play, "github-check-run", finished="2999-01-01T00:00:00.000Z"), run=run
        )


@pytest.mark.parametrize("name", ["red\u202egreen", "a\x1b[31m", "two\nlines"])
def test_a_name_that_would_steer_a_terminal_is_refused(play: Play, run: str, name: str) -> None:
    with pytest.raises(MementoError) as refusal:
        play.do(evidence_checks.add_checks, of_head(play, "github-check-run", name=name), run=run)
    assert refusal.value.token == "text_invalid"


def test_a_secret_in_an_address_is_refused(play: Play, run: str) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    with pytest.raises(MementoError) as refusal:
        play.do(
            evidence_checks.add_checks, of_head(play, "github-check-run", url=f"https://x.example/?t={secret}"), run=run
        )
    assert refusal.value.token == "secret_found"
    assert secret not in refusal.value.message


def test_the_commit_that_is_named_must_be_the_one_that_was_said() -> None:
    payload = json.loads(sample("github-statuses"))
    for one in payload:
        one["url"] = None
    text = json.dumps(payload).encode()
    with pytest.raises(evidence_checks.CommitMissing, match="names no commit"):
        evidence_checks.parse(text)
    assert {one.commit for one in evidence_checks.parse(text, commit=COMMIT)} == {COMMIT}
    with pytest.raises(evidence_checks.CommitMissing, match="bbbb"):
        evidence_checks.parse(sample("github-statuses"), commit="b" * 40)


def test_a_typed_check_is_of_heads_commit_and_says_that_it_was_typed(play: Play, run: str) -> None:
    head = git(play.root, "rev-parse", "HEAD")
    identity, new = play.do(
        evidence_checks.record_check, "GitHub-Actions", conclusion="Success", status="completed", id="77", run=run,
        url="https://ci.example/77",
    )  # fmt: skip
    assert new
    (data,) = held(play, run)
    told = {"provider": "github-actions", "name": "github-actions", "id": "77", "conclusion": "success"}
    assert data["check"] == {**told, "commit": head, "url": "https://ci.example/77"}
    assert (data["id"], data["outcome"]) == (identity, "passed")
    assert "typed in" in data["summary"]


@pytest.mark.parametrize("is_batch", [False, True])
def test_a_typed_check_of_another_commit_is_recorded_of_that_one(play: Play, run: str, *, is_batch: bool) -> None:
    first = git(play.root, "rev-list", "--max-parents=0", "HEAD")
    record = batch.check_evidence if is_batch else evidence_checks.record_check
    play.do(record, provider="ci", conclusion="success", commit=first[:10], run=run)
    (data,) = held(play, run)
    assert data["check"]["commit"] == first != git(play.root, "rev-parse", "HEAD")
    assert data["code"]["head"] == first
    with pytest.raises(NoSuchRevision):
        play.do(record, provider="ci", conclusion="success", commit="nowhere", run=run)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"status": "success"}, "conclusion"),
        ({"status": "completed"}, "conclusion"),
        ({}, "conclusion"),
        ({"status": "in_progress", "conclusion": "success"}, "has none yet"),
        ({"conclusion": "success", "url": "ftp://x"}, "not a link"),
    ],
)
def test_a_typed_status_alone_is_no_success(play: Play, run: str, options: dict[str, str], problem: str) -> None:
    with pytest.raises(PayloadInvalid, match=problem):
        play.do(evidence_checks.record_check, "github", run=run, **options)
    assert play.do(evidence_checks.record_check, "github", status="queued", run=run)[1]
    assert [data["outcome"] for data in held(play, run)] == ["observed"]


def test_a_typed_provider_must_be_a_word(play: Play, run: str) -> None:
    with pytest.raises(PayloadInvalid, match="word of small letters"):
        play.do(evidence_checks.record_check, "-- --", conclusion="success", run=run)


def test_an_outcome_that_is_written_by_hand_does_not_outlive_the_conclusion(play: Play, run: str) -> None:
    play.do(evidence_checks.add_checks, of_head(play, "github-check-run"), run=run)
    (path,) = play.root.glob(".memento/runs/*/evidence/*/*.yaml")
    play.commit(path, path.read_text().replace("outcome: failed", "outcome: passed"), "forged")
    state = play.state(run)
    one = state.evidence_named(state.ids("evidence")[0])
    assert (one.data["outcome"], trust.outcome_of(one.data)) == ("passed", "failed")
    assert "disagrees with what it says" in trust.fault(trust.Cited(one.id, one, "recorded", "reported"), run)


# On the command line.


def test_a_payload_is_taken_from_a_file_and_from_standard_input(
    play: Play, run: str, cli: Call, tmp_path: Path
) -> None:
    head = git(play.root, "rev-parse", "HEAD")
    file = tmp_path / "checks.json"
    file.write_bytes(sample("github-check-runs").replace(COMMIT.encode(), head.encode()))
    code, out, _ = cli("evidence", "check", str(file), "-C", str(play.root), "--run", run, "--json")
    answer = json.loads(out)
    assert (code, [row["outcome"] for row in answer["checks"]]) == (0, ["passed", "failed", "observed", "observed"])
    assert answer["evidence"] == answer["checks"][0]
    assert answer["evidence"]["check"]["name"] == "test"
    code, out, _ = cli("evidence", "check", str(file), "-C", str(play.root))
    assert (code, out.count("known already")) == (0, 4)
    play.do(evidences.retract, answer["evidence"]["id"], reason="Of another repository.")
    assert cli("evidence", "check", str(file), "-C", str(play.root))[1].count("known already, retracted") == 1
    code, out, _ = cli("report", "-C", str(play.root))
    assert "github: test success" in out


def test_one_way_of_saying_a_check_is_enough(play: Play, run: str, cli: Call) -> None:
    at = ("-C", str(play.root), "--run", run, "--json")
    for words in ((), ("--fetch",), ("--fetch", "--conclusion", "success", "--repo", "a/b")):
        assert json.loads(cli("evidence", "check", *words, *at)[1])["error"] == "usage"
    for options, other, vain in (
        (("--conclusion", "success", "--repo", "a/b", "--api", "https://x"), "--fetch", "--repo and --api"),
        (("--fetch", "--repo", "a/b", "--name", "unit"), "--conclusion", "--name"),
    ):
        told = json.loads(cli("evidence", "check", *options, *at)[1])
        assert (told["error"], told["message"]) == ("usage", f"only {other} has a use for {vain}")
    code, out, _ = cli("evidence", "check", "--provider", "jenkins", "--conclusion", "success", *at)
    assert (code, json.loads(out)["evidence"]["outcome"]) == (0, "passed")


def test_a_file_of_checks_is_asked_about_a_commit_by_any_name_of_it(play: Play, run: str, cli: Call) -> None:
    head = git(play.root, "rev-parse", "HEAD")
    file = play.root / "checks.json"
    file.write_bytes(sample("github-check-run").replace(COMMIT.encode(), head.encode()))
    at = ("evidence", "check", str(file), "-C", str(play.root), "--run", run, "--json", "--commit")
    assert json.loads(cli(*at, "HEAD^")[1])["error"] == "check_commit_mismatch"
    assert json.loads(cli(*at, "nowhere")[1])["error"] == "revision_not_found"
    for words in ([str(file)], ["--conclusion", "success"]):
        told = json.loads(cli("evidence", "check", *words, "-C", str(play.root), "--json", "--commit", "f" * 40)[1])
        assert told["error"] == ("check_commit_mismatch" if words == [str(file)] else "check_commit_unknown")
    file.write_bytes(sample("gitlab-pipeline").replace(COMMIT.encode(), b"f" * 40))
    assert json.loads(cli(*at, "f" * 40)[1])["hint"] == f"bring it here first: git fetch origin {'f' * 40}"
    file.write_bytes(sample("github-check-run").replace(COMMIT.encode(), head.encode()))
    git(play.root, "branch", "checked")
    for name in ("HEAD", "checked", head[:8], head):
        assert json.loads(cli(*at, name)[1])["evidence"]["check"]["commit"] == head
        git(play.root, "reset", "-q", "--hard", head)
    apply = f"- {{do: evidence check, file: checks.json, run: {run}, commit: checked}}\n"
    assert play.do(batch.apply, apply.encode())


def test_apply_takes_checks_too(play: Play, run: str) -> None:
    head = git(play.root, "rev-parse", "HEAD")
    (play.root / "checks.json").write_bytes(sample("github-check-run").replace(COMMIT.encode(), head.encode()))
    text = (
        f"- {{do: evidence check, file: checks.json, run: {run}}}\n"
        f"- {{do: evidence check, provider: jenkins, conclusion: success, run: {run}}}\n"
    )
    done = play.do(batch.apply, text.encode())
    assert [row["do"] for row in done] == ["evidence check", "evidence check"]
    assert sorted(data["outcome"] for data in held(play, run)) == ["failed", "passed"]
