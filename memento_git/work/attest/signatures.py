"""Signatures of a ledger: made when policy or the user asks, checked by the keys that the commit being read names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memento_git.errors import Refused
from memento_git.ledger import codec, layout, signer
from memento_git.model import states
from memento_git.model.ids import kind_of, parse_ref
from memento_git.model.work import Event, Evidence
from memento_git.work.attest import signing
from memento_git.work.attest.signers import KnownSigners, Verifier, examine, refuse_renamed, signers_at
from memento_git.work.dispatch import handout
from memento_git.work.gates import gates

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from memento_git.ledger.transaction import Transaction
    from memento_git.model.policy import Policy
    from memento_git.model.rows import AnyRow, GateRow, PlanRow, TaskRow
    from memento_git.work.state import RunState

DONE: Final = {"passed": "passed", "waived": "been waived"}


class SignatureRequired(Refused):
    token = "signature_required"
    sentence = "{what} needs a signature: {why}"
    hint_ = "whoever may sign does it again with --sign; policy.signatures in .memento/config.yaml says who"


class SignatureUnfit(Refused):
    """A signature that nothing demands would not be good: `check` finds it wherever it stands."""

    token = "signing_refused"
    sentence = "a signature with this key would not be good: {why}"
    hint_ = "sign as the one whose key it is, with one that counts; or leave --sign and --key out"


class SignersMissing(Refused):
    token = "signers_missing"
    sentence = "policy demands signatures, and it {why}"
    hint_ = signing.KEYS


class Sealer:
    """Signs what one action writes, and refuses what policy would not take."""

    def __init__(self, tx: Transaction, policy: Policy, *, sign: bool, key: str) -> None:
        self.tx, self.policy = tx, policy
        self.sign, self.key = sign or bool(key), key

    def foreseen(self, event: Event) -> Event:
        """Return an event as it will be, to be judged before anybody is asked for a signature."""
        signs = self.sign or signing.demanded(self.policy.signatures, event) is not None
        return event._replace(data={**event.data, "signature": "foreseen"}) if signs else event

    def event(self, event: Event, data: bytes) -> tuple[Event, bytes]:
        """Return an event and its bytes, signed where that is asked."""
        gate = event.get("gate")
        what = f"gate {gate} {event.do} on {event.of}" if gate else f"the approval of {event.of}"
        signed = self._signed(event, data, what=what)
        if signed == data:
            return event, data
        parts = signing.split(signed)
        armored = parts[1] if parts else ""
        return event._replace(data={**event.data, "signature": armored}, digest=codec.digest_of(signed)), signed

    def evidence(self, run: str, values: dict[str, Any], data: bytes) -> bytes:
        """Return the bytes of evidence, signed where that is asked."""
        path = layout.evidence_path(run, values["id"])
        return self._signed(Evidence(values["id"], run, values, "", path), data, what="this approval")

    def _signed(self, record: Event | Evidence, data: bytes, *, what: str) -> bytes:
        names = signing.demanded(self.policy.signatures, record)
        if names is None and not self.sign:
            return data
        git = self.tx.ledger.git
        found = signers_at(git, self.tx.view.commits[0] if self.tx.view.commits else "", self.policy)
        if names is not None and found.why:
            raise SignersMissing(why=found.why)
        ledger = self.policy.signatures.get("ledger", "")
        refuse_renamed(git, ledger)
        key = signer.key_of(self.tx.ledger.settings, self.key, git)
        armored = signer.sign(signing.cover(ledger, record.run, record.id, data), key, signing.NAMESPACE)
        signed = signing.seal(data, armored)
        seen = examine(record._replace(data={**record.data, "signature": armored}), signed, found)
        if names is not None and (why := signing.fault(seen, names)):
            raise SignatureRequired(what=what, why=why)
        if seen.state not in ("good", *signing.DOUBTFUL):
            raise SignatureUnfit(why=seen.told)
        if seen.state in signing.DOUBTFUL and not found.why:
            self.tx.ledger.warn(f"signed, but {seen.told}")
        return signed


def missing(
    state: RunState, scopes: Iterable[str], *, but: Sequence[str] = (), verifier: Verifier | None = None,
    opened: Event | None = None,
) -> list[str]:  # fmt: skip
    """Return which of the approvals and verdicts that hold lack the signature that policy demands, each with why.

    They are those of the canonical plan, of all gates of the scopes that have passed or were waived, or whose failure
    was lifted so, but for the run's own gates named in `but`, and of what proves tasks. Where no plan holds any more,
    or a gate has failed since, they are those that a dispatch had seen as it was `opened`.
    """
    if not state.policy.must_be_signed:
        return []
    verifier = verifier or Verifier(state.view, state.policy)
    told = []
    known = state.fold.seen_by(opened) if opened is not None else ()
    if plan := state.canonical:
        told += _plan(state, verifier, plan)
    elif opened is not None and (given := handout.approvals_seen(state, opened)):
        told += _approved(state, verifier, given)
    for scope in scopes:
        for gate in sorted(state.gates(scope)):
            holding = gates.lifting(state, scope, gate, known) if scope != state.id or gate not in but else ()
            if holding and (why := signing.none_signed(state.policy.signatures, holding, verifier.seen)):
                told.append(f"gate {gate} of {scope} has {DONE[holding[0].do]} without the signature it needs: {why}")
        if kind_of(scope) == "task":
            told += unsigned_proof(state, scope, verifier)
    return told


def unsigned_proof(state: RunState, task: str, verifier: Verifier | None = None) -> list[str]:
    """Return which approvals prove a task, or are shown for it as policy asks, and lack their signature.

    A failed gate of the task makes no difference: anybody may fail it, and pass it later.
    """
    if "approvals" not in state.policy.must_be_signed:
        return []
    if state.task_status(task) not in states.DONE or not state.proof(task).proven:
        return []
    verifier = verifier or Verifier(state.view, state.policy)
    proving = state.proof(task).by
    shown = "approval" in state.asked(task).evidence
    names = dict.fromkeys(parse_ref(ref).id for event in state.ends(task) for ref in event.evidence)
    told = []
    for one in state.pieces(names):
        if one.kind != "approval" or not (shown or one.id in proving):
            continue
        asked = signing.demanded(state.policy.signatures, one)
        if asked is not None and (why := signing.fault(verifier.seen(one), asked)):
            told.append(f"task {task} rests on {one.id} without the signature it needs: {why}")
    return told


def mark_lacking(
    state: RunState,
    *,
    plans: Iterable[PlanRow] = (),
    tasks: Iterable[TaskRow] = (),
    verdicts: Iterable[GateRow] = (),
    found: KnownSigners | None = None,
) -> None:
    """Say in rows where the signature is lacking that policy demands, by the signers `found`.

    In that of the canonical plan, and in those of proven tasks what they rest on, where such approvals must be signed;
    in those of gates that their verdict fell. A verdict that is late, or fell for something else, is told as that.
    """
    demanded = state.policy.must_be_signed
    canonical = [row for row in plans if row["id"] == state.canonical] if "plan_approval" in demanded else []
    proven = [row for row in tasks if row["proven"]] if "approvals" in demanded else []
    given = (
        [row for row in verdicts if row["status"] in DONE and not (row["late"] or row["fallen"])] if demanded else []
    )
    if not (canonical or proven or given):
        return
    verifier = Verifier(state.view, state.policy, found, keep=found is None)
    for plan in canonical:
        plan["unsigned"] = _plan(state, verifier, plan["id"])
    for task in proven:
        task["unsigned"] = unsigned_proof(state, task["id"], verifier)
    for verdict in given:
        holding = gates.lifting(state, verdict["scope"], verdict["kind"])
        if why := signing.none_signed(state.policy.signatures, holding, verifier.seen) if holding else "":
            verdict["fallen"] = f"without the signature that policy demands: {why}"
    verifier.close()


def signs_as(state: RunState, record: Event | Evidence, actor: str) -> bool:
    """Tell whether the key that signed a record may sign it as an actor, too, whoever it says it is by."""
    verifier = state.runners.verifier if state.runners else Verifier(state.view, state.policy)
    return verifier.signs_as(record, (actor,))


def is_signed(state: RunState, plan: str) -> bool:
    """Tell whether the approval that makes a plan canonical is signed as well as policy could ask."""
    verifier = Verifier(state.view, state.policy)
    return any(
        not signing.fault(verifier.seen(event), signing.demanded(state.policy.signatures, event) or ())
        for event in state.approving(plan)
    )


def _plan(state: RunState, verifier: Verifier, plan: str) -> list[str]:
    if "plan_approval" not in state.policy.signatures["require"]:
        return []
    found = state.approving(plan)
    fitting = [event for event in found if event.get("text") == state.told(plan).digest]
    if told := _approved(state, verifier, fitting or found):
        return told
    return [] if fitting else [f"plan {plan} has another text than the one that was signed"]


def _approved(state: RunState, verifier: Verifier, approvals: Sequence[Event]) -> list[str]:
    """Return that approvals of equal standing lack the signature that they need, or nothing."""
    why = signing.none_signed(state.policy.signatures, approvals, verifier.seen)
    plan = approvals[0].of if approvals else state.canonical
    return [f"plan {plan} was approved without the signature it needs: {why}"] if why else []


def answers(
    state: RunState, evidence: Iterable[Evidence], authors: Collection[str]
) -> dict[str, signing.Signer] | None:
    """Return the approvals that count, as evidence -> whose signature it is; None where policy demands none.

    They count by the keys of who judges the run, or else of its own view. A key that may sign as one of the `authors`
    is theirs.
    """
    if "approvals" not in state.policy.must_be_signed:
        return None
    verifier = state.runners.verifier if state.runners else Verifier(state.view, state.policy)
    counting = {}
    for one in evidence:
        names = signing.demanded(state.policy.signatures, one)
        if names is None or "text" not in one.data:
            continue
        if not signing.fault(seen := verifier.seen(one), names):
            key = signing.key_in(one.data["signature"])
            counting[one.id] = signing.Signer(seen.by, key, verifier.signs_as(one, authors))
    return counting


def fill(state: RunState, shown: Sequence[AnyRow], found: KnownSigners | None = None) -> None:
    """Say in rows of signed records what their signatures come to, and whose they are; by the signers `found`."""
    verifier = Verifier(state.view, state.policy, found, keep=True)
    for row in shown:
        event = row.get("approval_event_id") or row.get("event_id")
        record = state.event(event) if event else state.evidence(row["id"])
        if record is not None and row["signature"] != "none":
            seen = verifier.seen(record)
            row["signature"], row["signed_by"] = seen.state, seen.by or None
    verifier.close()
