"""Briefs and bundles: all that a worker needs for a task, within a budget of tokens, with a digest of its content."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Final

from memento_git.errors import Refused
from memento_git.model.markup import block, code, plain
from memento_git.model.tokens import tokens
from memento_git.work.dispatch import packet
from memento_git.work.proof.verification import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memento_git.ledger.view import View
    from memento_git.model.rows import Row

TOLD_LATER: Final = {
    "digest": "0" * 64, "id": "bundle_000000000000", "bundle_hash": "0" * 64, "budget": 1_000_000, "tokens": 1_000_000,
}  # fmt: skip
LEAST_FIRST: Final = (
    "notes", "files", "plan", "dependencies", "attempts", "task_description", "constraints", "verification_policy",
)  # fmt: skip
NAMES: Final = {"task_description": "description", "verification_policy": "verification"}


class BudgetTooSmall(Refused):
    token = "budget_too_small"
    sentence = "the brief of {task} needs about {least} tokens at least, and {budget} are allowed"
    hint_ = "criteria, safety rules and reporting contract are never left out: give --budget {least} or more"


def brief(view: View, given: str, *, budget: int = 0, notes: Sequence[Row] = ()) -> Row:
    """Return the brief of the task that a prefix names; with a budget, of about so many tokens at most."""
    return _told(_fitted(packet.facts(view, given, notes=notes), budget))


def bundle(view: View, given: str, *, budget: int = 0, notes: Sequence[Row] = ()) -> Row:
    """Return the brief of a task with the beginnings of its files, under an id that follows from its content."""
    row = _told(_fitted(packet.facts(view, given, excerpts=True, notes=notes), budget))
    return {**row, "id": f"bundle_{row['digest'][:12]}", "bundle_hash": row["digest"]}


def _told(row: Row) -> Row:
    return {**row, "digest": hashlib.sha256(canonical(row)).hexdigest()}


def canonical(row: Row) -> bytes:
    """Return the JSON that a digest is of: sorted keys, no spaces, UTF-8."""
    return json.dumps(row, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def estimate(row: Row) -> int:
    """Return about how many tokens a brief has, as text or JSON, whichever is longer."""
    return max(map(tokens, (as_markdown(row), json.dumps({**row, **TOLD_LATER}, ensure_ascii=False))))


def _fitted(row: Row, budget: int) -> Row:
    """Return a brief with its estimate, least important parts left out until it is within the budget; 0 is no limit."""
    row = {**row, "budget": budget or None, "tokens": 0}
    row["tokens"] = estimate(row)
    smaller = _without(row)
    while budget and row["tokens"] > budget:
        least = next(smaller, None)
        if least is None:
            raise BudgetTooSmall(task=row["task_id"], least=row["tokens"], budget=budget)
        row = least
    return row


def _without(row: Row) -> Iterator[Row]:
    """Yield a brief with ever more left out: excerpts from the last on, then section by section."""
    for one in reversed(row.get("excerpts", [])):
        held = [other for other in row["excerpts"] if other["path"] != one["path"]]
        row = _less(row, "excerpts", held, f"excerpt of {one['path']}", len(one["text"]))
        yield row
    for section in LEAST_FIRST:
        if row[section]:
            empty = None if isinstance(row[section], dict) else type(row[section])()
            size = len(json.dumps(row[section], ensure_ascii=False))
            row = _less(row, section, empty, NAMES.get(section, section), size)
            yield row


def _less(row: Row, section: str, held: object, name: str, size: int) -> Row:
    """Return a brief with less in one section; a rest that was left out before goes with its excerpt or section."""
    rest = f"rest of {name.removeprefix('excerpt of ')}" if section == "excerpts" else f"rest of the {name}"
    before = [one for one in row["omitted"] if one["section"] != rest]
    size += sum(one["characters"] for one in row["omitted"] if one["section"] == rest)
    paths = [] if section == "files" else row["relevant_files"]
    row = {**row, "relevant_files": paths, section: held, "omitted": [*before, packet.left_out(name, size)]}
    return {**row, "tokens": estimate(row)}


def as_markdown(row: Row) -> str:
    """Return a brief as Markdown, in which no text of the ledger acts as a heading or a rule."""
    lines = [f"# {plain(row['task_title'])}", "", f"Task `{row['task_id']}` of the goal: {plain(row['goal'])}", ""]
    about = [f"{name} {plain(row[key])}" for key, name in ABOUT.items() if row[key]]
    lines += [", ".join(about), ""] if about else []
    lines += _block("Description", row["task_description"])
    lines += _section("Done when", [plain(one) for one in row["acceptance_criteria"]])
    lines += _section("Constraints", [plain(one) for one in row["constraints"]])
    lines += _section("Proof", _proof(row["verification_policy"]))
    lines += _section("Rests on", ["\n".join(_dependency(one)) for one in row["dependencies"]])
    lines += _section("Earlier attempts", [_attempt(one) for one in row["attempts"]])
    lines += _section("Files", [_file(one) for one in row["files"]])
    lines += _section("Notes about these files", [f"`{one['id']}` {plain(one['title'])}" for one in row["notes"]])
    lines += _plan(row["plan"])
    for one in row.get("excerpts", []):
        lines += _block(f"Excerpt: {code(one['path'])}", one["text"])
    lines += _section("Rules", row["safety_constraints"])
    lines += _section("Reporting", row["reporting_contract"])
    lines += _section(
        "Left out", [f"{plain(one['section'])}: {one['characters']} characters" for one in row["omitted"]]
    )
    return "\n".join([*lines, row["hidden_context_policy"], ""])


ABOUT: Final = {"role": "for", "task_kind": "kind", "task_risk": "risk", "task_size": "size"}


def _section(title: str, items: list[str]) -> list[str]:
    return [f"## {title}", "", *(f"- {item}" for item in items), ""] if items else []


def _block(title: str, text: str) -> list[str]:
    return [f"## {title}", "", *block(text), ""] if text.strip() else []


def _proof(asked: Row | None) -> list[str]:
    """Return what proves the task: commands so that they can be copied, and what else is asked, by whom."""
    if asked is None:
        return []
    kinds = {kind: f"{kind} ({trust} or better)" for kind, trust in asked["proof"].items()}
    commands = {shown(one["run"]): one for one in asked["commands"]}
    wanted = " and ".join(f"of kind {kinds[kind]}" for kind in asked["evidence"] if kind in kinds)
    named = [f"passing evidence {wanted}"] if wanted else []
    for line, one in commands.items():
        reports = f", writing {', '.join(code(path) for path in one['reports'])}" if one["reports"] else ""
        time = f", within {one['timeout']} s" if one["timeout"] else ""
        named.append(f"{code(line)} must pass at the top of the repository, as {one['kind']}{reports}{time}")
    if not any(kind in kinds for kind in (*asked["evidence"], *(one["kind"] for one in asked["commands"]))):
        several = "of one of these kinds" if len(kinds) > 1 else "of kind"
        named = [f"passing evidence {several}: {', '.join(kinds.values())}", *named]
    others = [why for why in asked["why"] if not any(why.endswith(code(line)) for line in commands)]
    return [f"Needed: {named[0]}", *named[1:], *(plain(why) for why in others)]


def _dependency(one: Row) -> list[str]:
    why = f": {'; '.join(map(plain, one['unproven_because']))}" if one["unproven_because"] else ""
    proof = {True: ["proven"], False: [f"unproven{why}"]}.get(one["proven"], []) if one["title"] else []
    stands = ", ".join([one["status"], *proof, *one["doubts"]])
    lines = [f"{plain(one['title'] or 'a task that is missing')} (`{one['id']}`, {stands})"]
    for found in one["evidence"]:
        command = f": {code(found['command'])}" if found["command"] else ""
        said = f"; {plain(found['summary'])}" if found["summary"] else ""
        lines.append(f"  - `{found['id']}` {found['kind']}, {found['trust_level']}{command}{said}")
    return lines


def _attempt(one: Row) -> str:
    who = plain(one["executor"] or one["by"])
    said = f": {plain(one['reason'])}" if one["reason"] else ""
    kind = f" ({one['category']})" if one["category"] else ""
    unmet = f"; unmet: {'; '.join(plain(line) for line in one['unmet'])}" if one["unmet"] else ""
    return f"{one['at'][:16]} {who} {one['ended']}{kind}{said}{unmet}"


def _file(one: Row) -> str:
    return f"{code(one['path'])} {one['blob'][:12] if one['blob'] else 'is not in this commit'}"


def _plan(plan: Row | None) -> list[str]:
    if plan is None:
        return []
    stands = f" ({', '.join(plan['doubts'])})" if plan["doubts"] else ""
    lines = _block(f"Plan: {plain(plan['title'])}{stands}", plan["body"])
    lines += _section("The plan is reached when", [plain(one) for one in plan["acceptance_criteria"]])
    return lines + _section("Risks", [plain(one) for one in plan["risks"]])
