"""Who may say that something was reproduced: the check that is running, or a runner whose key and name policy lists."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING

import pytest

from memento_git.ledger import layout, signer
from memento_git.model.ids import Ref
from memento_git.review.actions import check
from memento_git.review.diff_markdown import markdown
from memento_git.work import refusals as no
from memento_git.work import task_steps
from memento_git.work.actions import evidences, releases, reproducing, runs, settling
from memento_git.work.actions.comparing import compare
from memento_git.work.attest import signing
from memento_git.work.rows import task_row
from tests.play import Play, git
from tests.test_signatures import AGENT, make_key, public

if TYPE_CHECKING:
    from pathlib import Path

    from memento_git.work.proof.trust import Cited
    from tests.play import Call

CI = "CI <ci@example.invalid>"
CONFIG = """\
version: 1
policy:
  proof: {{test: {least}}}
  signatures: {{allowed_signers: .memento/allowed_signers, revoked: .memento/revoked}}
  reproduce:
    commands: [["true"], ["false"], [python3]]
    timeout: 60s
    runners: [{runners}]
"""


class Farm:
    """A ledger whose policy lists one runner: CI has a key that counts, Grace is known, the agent is nobody."""

    def __init__(self, play: Play, folder: Path) -> None:
        self.play, self.root = play, play.root
        self.ci, self.grace, self.agent = (make_key(folder, name) for name in ("ci", "grace", "agent"))
        self.write()
        play.planned()
        self.base = git(self.root, "rev-parse", "HEAD")

    def write(self, runners: str = "ci@example.invalid", least: str = "reproduced", **keys: str) -> None:
        (self.root / layout.CONFIG).write_text(CONFIG.format(runners=runners, least=least))
        (self.root / ".memento" / "revoked").write_text(keys.get("revoked", ""))
        known = f"ci@example.invalid {public(self.ci)}\ngrace@example.invalid {public(self.grace)}\n"
        (self.root / ".memento" / "allowed_signers").write_text(keys.get("allowed", known))
        self.play.commit_all("policy")

    def shown(self, task: str, *argv: str) -> str:
        draft = evidences.witness(self.play.ledger, argv or ("true",), kind="test", quiet=True)
        return str(self.play.do(evidences.record_draft, draft, tasks=[task]))

    def completed(self) -> tuple[str, str]:
        """Complete a task on a pass that was witnessed once."""
        task = self.play.task()
        evidence = self.shown(task)
        self.play.complete(self.play.claimed(task), evidence)
        return task, evidence

    def again(self, evidence: str, key: Path | None = None, by: str = CI) -> reproducing.Result:
        """Run again what a piece of evidence records, and record that."""
        other = self.play.as_(by)
        found = reproducing.reproduce(other.ledger, ids=[evidence])
        (one,) = reproducing.record(other.ledger, other.ledger.change, found, key=str(key or ""))
        return one

    def cited(self, evidence: str) -> Cited:
        state = self.play.state(evidence)
        found = state.evidence_named(evidence)
        return state.cited(Ref(found.id, found.digest))

    def path(self, evidence: str) -> Path:
        return self.root / self.play.state(evidence).index.evidence[evidence]

    def why(self, task: str) -> str:
        state = self.play.state(task)
        return "; ".join(state.proof(task).why)


@pytest.fixture
def farm(play: Play, tmp_path: Path) -> Farm:
    return Farm(play, tmp_path)


def test_what_a_listed_runner_ran_again_and_signed_is_reproduced_everywhere(farm: Farm, cli: Call) -> None:
    task, evidence = farm.completed()
    assert not farm.play.is_proven(task)
    made = farm.again(evidence, farm.ci)
    assert (made.status, made.doubt) == ("reproduced", "")
    assert farm.cited(evidence).trust == "reproduced"
    assert farm.cited(made.made).trust == "witnessed", "nobody ran the second again"
    assert farm.play.is_proven(task)
    at = ("-C", str(farm.root))
    for _ in range(2):
        held = json.loads(cli(*at, "status", "--json")[1])
        row = next(one for one in held["evidence"] if one["id"] == evidence)
        assert row["trust_level"] == "reproduced"
        assert row["reproductions"] == [{
            "id": made.made, "result": "reproduced", "differences": [], "actor": CI, "signature": "good",
            "signed_by": "ci@example.invalid", "counts": True, "why": None,
        }]  # fmt: skip
        assert [one["proven"] for one in held["tasks"]] == [True]
    row = json.loads(cli(*at, "evidence", "show", evidence, "--json")[1])["evidence"]
    assert (row["trust_level"], row["reproduced_by"]) == ("reproduced", [made.made])
    for words in (("report",), ("evidence", "list"), ("evidence", "show", evidence)):
        assert "reproduced" in cli(*at, *words)[1], words
    assert "run again by ci@example.invalid" in cli(*at, "report")[1]
    shown = cli(*at, "evidence", "show", evidence)[1]
    assert "by CI <ci@example.invalid>: reproduced, counts, signed by ci@example.invalid" in shown
    exported = json.loads(cli(*at, "evidence", "export", evidence)[1])
    assert "reproduced" in json.dumps(exported)
    assert not [one for one in check(farm.play.ledger, base=farm.base).findings if one.severity == "error"]
    assert not check(farm.play.ledger, no_base=True).findings


def test_policy_may_ask_for_reproduced_and_then_only_that_counts(farm: Farm) -> None:
    task, evidence = farm.completed()
    assert farm.why(task) == f"{evidence} is only witnessed, and reproduced is asked"
    state = farm.play.state(task)
    rerun = f"memento evidence reproduce --run {state.id} --record --sign"
    assert [step["command"] for step in task_steps.proving(task_row(state, task))] == [
        rerun, f"memento task reopen {task} --reason WHY",
    ]  # fmt: skip
    with pytest.raises(no.TaskUnproven, match="is only witnessed") as refused:
        farm.play.do(runs.complete_run, state.id)
    assert refused.value.hint.endswith(rerun)
    assert not farm.play.do(releases.release_run).event
    unsigned = farm.again(evidence)
    assert farm.why(task).endswith(f"reproduced is asked: {unsigned.made} ran it again, and nobody has signed it")
    assert "P001" in {one.code for one in check(farm.play.ledger, base=farm.base).findings if one.severity == "error"}
    farm.again(evidence, farm.ci)
    assert farm.why(task) == ""
    assert "P001" not in {one.code for one in check(farm.play.ledger, base=farm.base).findings}
    for gate in ("quality_review", "final_acceptance"):
        farm.play.gate(gate, "passed")
    assert farm.play.do(releases.release_run).event


def test_verification_that_asks_for_reproduced_is_met_by_a_runner(farm: Farm) -> None:
    farm.write(least="witnessed")
    task = farm.play.task("Strict", commands=["true"], trust="reproduced")
    evidence = farm.shown(task)
    farm.play.complete(farm.play.claimed(task), evidence)
    assert "which has no reproduced pass for this code" in farm.why(task)
    farm.again(evidence, farm.ci)
    assert farm.play.is_proven(task)


# Whose signature does not count, and that it says why.


@pytest.mark.parametrize(("key", "by", "why"), [
    ("", CI, "nobody has signed it"),
    ("grace", "grace@example.invalid", "it is signed by grace@example.invalid, whom policy.reproduce.runners does not"),
    ("agent", CI, "its key is not among the allowed signers"),
    ("agent", AGENT, "its key is not among the allowed signers"),
])  # fmt: skip
def test_whose_key_is_not_a_listed_runners_reproduces_nothing(
    farm: Farm, cli: Call, key: str, by: str, why: str
) -> None:
    task, evidence = farm.completed()
    made = farm.again(evidence, getattr(farm, key) if key else None, by)
    assert why in made.doubt
    cited = farm.cited(evidence)
    assert cited.trust == "witnessed"
    assert cited.doubt.startswith(f"{made.made} ran it again, and {made.doubt}")
    assert made.doubt in farm.why(task)
    assert f"but {made.doubt}" in cli("-C", str(farm.root), "report")[1].replace("\\", "")
    (row,) = json.loads(cli("-C", str(farm.root), "evidence", "show", evidence, "--json")[1])["evidence"][
        "reproductions"
    ]
    assert (row["counts"], row["why"]) == (False, made.doubt)


def test_an_agent_finds_no_way_without_the_key(farm: Farm, cli: Call, tmp_path: Path) -> None:
    task, evidence = farm.completed()
    at = ("-C", str(farm.root), "evidence", "reproduce", evidence)
    code, _, err = cli(*at, "--sign", "--actor", CI)
    assert (code, "signing_key_missing" in err, "running again" in err) == (1, True, False)
    (tmp_path / "known.pub").write_text(f"{public(farm.ci)}\n")
    code, _, err = cli(*at, "--actor", CI, "--key", str(tmp_path / "known.pub"))
    assert (code, "signing_refused" in err) == (1, True), "the public key alone signs nothing"
    code, out, _ = cli(*at, "--actor", CI, "--key", str(farm.agent))
    assert code == 0
    assert "which does not raise its trust: its key is not among the allowed signers" in out
    locked = make_key(tmp_path, "locked", "secret")
    assert "signing_refused" in cli(*at, "--key", str(locked))[2]
    assert not farm.play.is_proven(task)


@pytest.mark.parametrize(("keys", "why"), [
    ({"allowed": 'ci@example.invalid valid-before="20200101" {ci}'}, "its key was not valid at that time"),
    ({"allowed": 'ci@example.invalid namespaces="git" {ci}'}, "its key is not among the allowed signers"),
    ({"allowed": "grace@example.invalid {grace}"}, "its key is not among the allowed signers"),
    ({"allowed": "grace@example.invalid {ci}"}, "its signature is somebody else's: it is of grace@example.invalid"),
    ({"revoked": "{ci}"}, "its key is revoked"),
    ({"runners": ""}, "policy.reproduce.runners lists nobody"),
    ({"runners": "grace@example.invalid"}, "signed by ci@example.invalid, whom policy.reproduce.runners does not"),
])  # fmt: skip
def test_a_key_or_a_name_that_counts_no_more_takes_its_reruns_with_it(
    farm: Farm, cli: Call, keys: dict[str, str], why: str
) -> None:
    """Also in what is shown: the run's files are the same, and so would be the key of what is kept."""
    _, evidence = farm.completed()
    farm.again(evidence, farm.ci)
    at = ("-C", str(farm.root), "status", "--json")
    assert [one["proven"] for one in json.loads(cli(*at)[1])["tasks"]] == [True]
    known = {"ci": public(farm.ci), "grace": public(farm.grace)}
    farm.write(**{key: f"{value.format(**known)}\n" if key != "runners" else value for key, value in keys.items()})
    assert farm.cited(evidence).trust == "witnessed"
    assert why in farm.cited(evidence).doubt
    (row,) = json.loads(cli(*at)[1])["tasks"]
    assert row["proven"] is False
    assert any(why in told for told in row["unproven_because"])


def test_a_file_of_keys_that_is_gone_is_said(farm: Farm) -> None:
    _, evidence = farm.completed()
    farm.again(evidence, farm.ci)
    git(farm.root, "rm", "-q", ".memento/allowed_signers")
    farm.play.commit_all("nobody")
    assert "there is no such file at this commit" in farm.cited(evidence).doubt


def test_without_ssh_keygen_it_is_said_and_not_remembered(
    farm: Farm, cli: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _, evidence = farm.completed()
    farm.again(evidence, farm.ci)
    (tmp_path / "bin").mkdir()
    found = shutil.which("git")
    assert found is not None
    (tmp_path / "bin" / "git").symlink_to(found)
    at = ("-C", str(farm.root), "status", "--json")
    with monkeypatch.context() as poor:
        poor.setenv("PATH", str(tmp_path / "bin"))
        told = json.dumps(json.loads(cli(*at)[1])["tasks"])
        assert "its signature could not be checked here" in told
    assert [one["proven"] for one in json.loads(cli(*at)[1])["tasks"]] == [True]
    with monkeypatch.context() as poor:
        poor.setenv("PATH", str(tmp_path / "bin"))
        assert [one["proven"] for one in json.loads(cli(*at)[1])["tasks"]] == [True], "what was found is kept"


# Signatures over something else.


def test_a_signed_rerun_serves_no_other_evidence_and_bears_no_edit(farm: Farm) -> None:
    _, first = farm.completed()
    task, second = farm.completed()
    path = farm.path(farm.again(first, farm.ci).made)
    original = path.read_text()
    other = farm.cited(second).ref
    replayed = re.sub(r"reproduces: \S+", f"reproduces: {other}", original)
    for text in (replayed, original.replace("exit: 0", "exit: 0\n  timed_out: false"), f"{original}#\n"):
        farm.play.commit(path, text, "edited")
        assert farm.cited(second).trust == "witnessed"
        assert farm.cited(first).trust == "witnessed"
    assert not farm.play.is_proven(task)
    name = path.stem
    copy = path.with_name(path.name.replace(name, name[:-11] + name[-11:][::-1]))
    path.write_text(original)
    copy.write_text(replayed.replace(name, copy.stem))
    farm.play.commit_all("copied")
    assert farm.cited(second).trust == "witnessed"
    assert farm.cited(second).doubt.endswith("its signature is not for these bytes in this place")
    assert farm.cited(first).trust == "reproduced"


def test_a_signature_for_another_purpose_is_no_runners(farm: Farm) -> None:
    _, evidence = farm.completed()
    made = farm.again(evidence).made
    path = farm.path(made)
    run = farm.play.state(made).id
    body = path.read_bytes()
    for covered, space in ((signing.cover("", run, made, body), "git"), (body, signing.NAMESPACE)):
        path.write_bytes(signing.seal(body, signer.sign(covered, str(farm.ci), space)))
        farm.play.commit_all("signed by hand")
        assert farm.cited(evidence).trust == "witnessed"
        assert "not for these bytes" in farm.cited(evidence).doubt
    path.write_bytes(
        signing.seal(body, signer.sign(signing.cover("", run, made, body), str(farm.ci), signing.NAMESPACE))
    )
    farm.play.commit_all("as it should be")
    assert farm.cited(evidence).trust == "reproduced"


def test_a_first_that_is_edited_after_its_rerun_is_not_what_was_run_again(farm: Farm) -> None:
    _, evidence = farm.completed()
    farm.again(evidence, farm.ci)
    path = farm.path(evidence)
    farm.play.commit(path, path.read_text().replace("seconds: ", "seconds: 1"), "edited")
    assert farm.cited(evidence).trust == "witnessed"


def test_a_signed_rerun_that_differs_raises_nothing_and_speaks_against(farm: Farm) -> None:
    task = farm.play.task()
    evidence = farm.shown(task, "false")
    path = farm.path(evidence)
    path.write_text(path.read_text().replace("outcome: failed", "outcome: passed").replace("exit: 1", "exit: 0"))
    farm.play.commit_all("by hand")
    made = farm.again(evidence, farm.ci)
    assert (made.status, made.doubt) == ("differs", "")
    cited = farm.cited(evidence)
    assert (cited.trust, "exit code 0 is recorded, 1 came out" in cited.contradicted) == ("witnessed", True)


def test_a_retracted_rerun_and_one_on_other_code_raise_nothing(farm: Farm) -> None:
    _, evidence = farm.completed()
    made = farm.again(evidence, farm.ci).made
    farm.play.do(evidences.retract, made, reason="the machine was broken")
    assert farm.cited(evidence).trust == "witnessed"
    (farm.root / "left.txt").write_text("not committed\n")
    _, other = farm.completed()
    (farm.root / "left.txt").unlink()
    found = farm.again(other, farm.ci)
    assert (found.status, found.doubt) == ("reproduced", "it ran on other code than the first")
    cited = farm.cited(other)
    assert (cited.trust, cited.contradicted) == ("witnessed", "")
    assert cited.doubt == f"{found.made} ran it again, and it ran on other code than the first"


def test_a_rerun_on_other_code_is_shown_with_what_it_is_worth(farm: Farm, cli: Call) -> None:
    """Also one that came to something else: of other code it contradicts nothing."""
    (farm.root / "left.txt").write_text("not committed\n")
    _, evidence = farm.completed()
    (farm.root / "left.txt").unlink()
    made = farm.again(evidence, farm.ci).made
    at = ("evidence", "show", evidence, "-C", str(farm.root))
    row = json.loads(cli(*at, "--json")[1])["evidence"]
    (again,) = row["reproductions"]
    assert (again["id"], again["result"], again["counts"]) == (made, "other_code", False)
    assert (row["reproduced_by"], row["contradicted_by"]) == ([], [])
    assert "does not count: it ran on other code than the first" in cli(*at)[1]


# The base says who a runner is.


@pytest.mark.parametrize("door", ["policy", "keys"])
def test_a_branch_that_lists_its_own_runner_is_found(farm: Farm, door: str, cli: Call) -> None:
    if door == "policy":
        farm.write(runners="ci@example.invalid, grace@example.invalid")
        key, by = farm.grace, "grace@example.invalid"
    else:
        farm.write(allowed=f"ci@example.invalid {public(farm.agent)}\n")
        key, by = farm.agent, CI
    task, evidence = farm.completed()
    made = farm.again(evidence, key, by).made
    assert farm.play.is_proven(task), "by its own policy"
    found = {one.code: one for one in check(farm.play.ledger, base=farm.base).findings}
    assert found["P001"].severity == "error"
    assert f"{evidence} is only witnessed, and reproduced is asked: {made} ran it again" in found["P001"].message
    assert found["K003"].message.startswith(f"{made} was run again by ")
    assert ("reproduce.runners: what grace@example.invalid runs" in found["C003"].message) == (door == "policy")
    assert cli("-C", str(farm.root), "check", "--base", farm.base)[0] == 5
    held = compare(farm.play.ledger, f"{farm.base}..HEAD")
    (run,) = held["runs"]
    assert [one["proven"] for one in run["tasks"]] == [False]
    assert [(one["result"], one["counts"]) for one in run["reproductions"]] == [("reproduced", False)]


def test_who_was_listed_before_is_no_weakness(farm: Farm) -> None:
    farm.write(runners="ci@example.invalid, grace@example.invalid")
    base = git(farm.root, "rev-parse", "HEAD")
    _, evidence = farm.completed()
    farm.again(evidence, farm.grace, "grace@example.invalid")
    assert not {one.code for one in check(farm.play.ledger, base=base).findings} & {"C003", "K003", "P001"}


def test_the_running_check_counts_what_it_has_just_run_again(farm: Farm, cli: Call) -> None:
    task, evidence = farm.completed()
    tip = git(farm.root, "rev-parse", "HEAD")
    at = ("-C", str(farm.root), "check", "--base", farm.base, "--format", "json")
    believed = json.loads(cli(*at)[1])
    assert "P001" in {one["code"] for one in believed["findings"]}
    code, out, _ = cli(*at, "--reproduce")
    assert (code, json.loads(out)["findings"]) == (0, [])
    assert git(farm.root, "rev-parse", "HEAD") == tip, "nothing is written"
    assert farm.cited(evidence).trust == "witnessed"
    assert not farm.play.is_proven(task)


def test_the_running_check_does_not_count_what_it_ran_on_other_code(farm: Farm, cli: Call) -> None:
    (farm.root / "left.txt").write_text("not committed\n")
    farm.completed()
    (farm.root / "left.txt").unlink()
    code, out, _ = cli("-C", str(farm.root), "check", "--base", farm.base, "--reproduce", "--format", "json")
    assert (code, [one["code"] for one in json.loads(out)["findings"] if one["severity"] == "error"]) == (5, ["P001"])


# What a diff tells.


def test_a_diff_tells_what_was_signed_and_what_was_run_again(farm: Farm, cli: Call) -> None:
    _, first = farm.completed()
    _, second = farm.completed()
    lied = farm.shown(farm.play.task(), "false")
    path = farm.path(lied)
    path.write_text(path.read_text().replace("outcome: failed", "outcome: passed").replace("exit: 1", "exit: 0"))
    farm.play.commit_all("by hand")
    good, plain, bad = farm.again(first, farm.ci).made, farm.again(second).made, farm.again(lied, farm.ci).made
    farm.play.as_("grace@example.invalid").gate("quality_review", "passed", key=str(farm.grace))
    farm.play.as_(CI).gate("final_acceptance", "passed", key=str(farm.agent))
    yes = farm.play.as_("grace@example.invalid").do(evidences.approve, first, key=str(farm.grace))
    at = ("-C", str(farm.root), "diff", f"{farm.base}..HEAD")
    held = json.loads(cli(*at, "--json")[1])
    (run,) = held["runs"]
    assert held["counts"]["signatures"] == 3
    assert held["counts"]["reproductions"] == 3
    assert [(one["what"], one["actor"], one["signature"], one["signed_by"]) for one in run["signatures"]] == [
        ("gate final_acceptance passed", CI, "unknown_key", None),
        ("gate quality_review passed", "grace@example.invalid", "good", "grace@example.invalid"),
        (f"approval of {first}, passed", "grace@example.invalid", "good", "grace@example.invalid"),
    ]  # fmt: skip
    told = {one["id"]: (one["of"], one["result"], one["counts"], one["command"]) for one in run["reproductions"]}
    assert told == {
        good: (first, "reproduced", True, ["true"]),
        plain: (second, "reproduced", False, ["true"]),
        bad: (lied, "differs", True, ["false"]),
    }  # fmt: skip
    text = cli(*at)[1]
    assert "3 signatures, 3 run again" in text
    assert f"{yes} approval of {first}, passed by grace@example.invalid: signed by grace@example.invalid" in text
    assert f"{first} true exit 0: reproduced ({good} by CI): counts, signed by ci@example.invalid" in text
    assert f"{second} true exit 0: reproduced ({plain} by CI): does not raise its trust: nobody has signed it" in text
    assert f"{lied} false exit 1: differs ({bad} by CI): exit code 0 is recorded, 1 came out" in text
    assert "gate quality review passed by grace@example.invalid: signed by grace@example.invalid" in text
    assert "by CI: signature not good: its key is not among the allowed signers" in text
    assert f"  {good} test, witnessed" not in text, "told once"
    shown = markdown(held)
    assert f"`{lied}` `false` exit 1: **differs** (`{bad}` by CI)" in shown
    assert "**signature not good: its key is not among the allowed signers**" in shown


def test_a_diff_tells_of_a_revoked_runner_though_no_run_changed(farm: Farm) -> None:
    task, evidence = farm.completed()
    farm.again(evidence, farm.ci)
    tip = git(farm.root, "rev-parse", "HEAD")
    farm.write(revoked=f"{public(farm.ci)}\n")
    (run,) = compare(farm.play.ledger, f"{tip}..HEAD")["runs"]
    assert [(one["id"], one["proven_before"]) for one in run["tasks"] if one["proven"] is False] == [(task, True)]


def test_a_withdrawn_rerun_is_void_in_a_diff(farm: Farm) -> None:
    _, evidence = farm.completed()
    made = farm.again(evidence, farm.ci).made
    farm.play.do(evidences.retract, made, reason="mistake")
    (run,) = compare(farm.play.ledger, f"{farm.base}..HEAD")["runs"]
    assert [(one["result"], one["counts"]) for one in run["reproductions"]] == [("void", False)]


def test_a_diff_says_that_what_was_run_again_may_have_been_redacted(farm: Farm) -> None:
    _, evidence = farm.completed()
    farm.again(evidence, farm.ci)
    farm.play.do(settling.redact_record, evidence, reason="a token in the output")
    (run,) = compare(farm.play.ledger, f"{farm.base}..HEAD")["runs"]
    (told,) = run["reproductions"]
    assert (told["result"], "what it names was redacted" in told["why"]) == ("void", True)


def test_a_runner_signs_for_no_other_ledger_than_the_base_names(farm: Farm, cli: Call) -> None:
    """A branch would have the runner's signature for evidence of the ledger that it says it is."""
    _, evidence = farm.completed()
    git(farm.root, "switch", "-qc", "work")
    config = farm.root / layout.CONFIG
    config.write_text(config.read_text().replace("signatures: {", "signatures: {ledger: ada/bank, "))
    before = farm.play.commit_all("a name")
    for base in ([], ["--base", farm.base]):
        named = [] if base else [evidence]
        code, out, _ = cli(
            "evidence", "reproduce", *named, *base, "-C", str(farm.root), "--key", str(farm.ci), "--json"
        )
        told = json.loads(out)
        assert (code, told["error"]) == (1, "ledger_renamed")
        assert "is named 'ada/bank' here, and nothing at" in told["message"]
        assert git(farm.root, "rev-parse", "HEAD") == before
    assert cli("evidence", "reproduce", "--base", farm.base, "-C", str(farm.root))[0] == 0
