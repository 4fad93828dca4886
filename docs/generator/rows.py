"""The page of JSON answers: the envelope, and every key of every row with its meaning."""

from __future__ import annotations

from typing import Any, Final, NotRequired, get_args, get_origin, get_type_hints

from docs.generator.words import table, whole_page
from memento_git.model import note_rows, rows


def keys_of(row: type) -> dict[str, str]:
    """Return the keys of a row with what each tells, as its type has them."""
    return {key: _told(kind) for key, kind in get_type_hints(row, include_extras=True).items()}


def _told(kind: Any) -> str:
    annotated = get_args(kind)[0] if get_origin(kind) is NotRequired else kind
    return str(annotated.__metadata__[0])


RUN: Final = keys_of(rows.RunRow)
PLAN: Final = keys_of(rows.PlanRow)
TASK: Final = keys_of(rows.TaskRow)
DISPATCH: Final = keys_of(rows.DispatchRow)
GATE: Final = keys_of(rows.GateRow)
EVIDENCE: Final = keys_of(rows.EvidenceRow)
EVENT: Final = keys_of(rows.EventRow)
TROUBLE: Final = keys_of(rows.TroubleRow)

BRIEF: Final = {
    "goal": "the run's goal", "constraints": "the run's", "run_id": "the run", "plan": "id, title, body, "
    "acceptance_criteria, risks, doubts of the canonical plan, or null", "task_id": "the task",
    "task_title": "its title", "task_description": "its Markdown", "task_status": "its state",
    "task_kind": "or null", "task_risk": "or null",
    "task_size": "or null", "role": "who should do it, or null", "acceptance_criteria": "list",
    "verification_policy": "what verification will ask: proof (least trust by kind), evidence, trust, commands, why",
    "dependencies": "id, title, status, proven, proven_by, unproven_because, evidence (id, kind, trust_level, command, "
    "summary), doubts (what takes from its state)",
    "attempts": "earlier ones, also of the task that it repairs: task_id, ended, by, at, executor, "
    "category, reason, unmet", "relevant_files": "paths",
    "files": "path, blob (git id at the commit, or null), type (file, folder, other), bytes",
    "notes": "of `task brief` and `task bundle`: live notes about these files: id, title, path",
    "excerpts": "only in a bundle: path, text, redacted", "repo_path": "always `.`: no path of a machine",
    "safety_constraints": "rules", "reporting_contract": "how to hand in results",
    "hidden_context_policy": "that nothing of a chat is in it", "omitted": "what was left out: section, characters",
    "budget": "tokens that were allowed, or null", "tokens": "estimate: bytes of UTF-8, as text or JSON, by three",
    "digest": "SHA-256 of all other keys as JSON, keys sorted, without spaces",
    "id": "only in a bundle: `bundle_` and the start of the digest", "bundle_hash": "only in a bundle: the digest",
}  # fmt: skip
BOARD: Final = {
    "format": "1; raised with every change that a reader must know of", "run_id": "the run", "goal": "what it is for",
    "run_status": "its state", "columns": "name (a task's status), title, count, cards; in this order, also empty "
    "ones: pending, dispatched, in_progress, blocked, completed, accepted, rejected, cancelled, contested",
}  # fmt: skip
CARD: Final = {
    "id": "the task", "title": "what is to be done", "column": "its status: what its events come to",
    "claimants": "who holds it now", "executor": "to whom it was handed last, or null",
    "dispatch_ids": "its open dispatches", "expired": "a claim's lease is over",
    "blocked_by": "dependencies that are not proven, and gates of it that failed",
    "reason": "why it is blocked, rejected or cancelled, or null", "ready": "could be handed out now",
    "proven": "true, false, or null while it is not completed",
    "unsigned": "approvals that it rests on without the signature that policy demands",
    "doubts": "what takes from its state, in the words of `status`: stale, unsigned, late",
    "stale": "all that proves it is of other code than this commit's, and no other task shows that it passed since",
    "late": "something came after the run's completion",
    "kind": "or null", "risk": "or null", "size": "or null", "role": "or null",
}  # fmt: skip
ROLE: Final = keys_of(rows.RoleRow)
REPORT: Final = {
    "text": "the report as Markdown, or in the format that was asked", "generated_at": "when it was made",
    "blockers": "what holds the run up: kind, record, about", "risks": "of the plan, and open tasks of high risk: "
    "record, about", "verification": "what proves tasks: evidence_id, kind, trust_level, outcome, command, exit_code, "
    "stale, uncommitted, passed_since, task_ids",
    "changed_files": "path, evidence_ids of diffs that changed it, task_ids of done tasks about it",
    "recovered": "dispatches that were taken back: dispatch_id, task_id, requeued_dispatch_id, evidence_id and "
    "bundle_path of what the next worker needs, or null",
}  # fmt: skip
STATUS: Final = {
    "state": "the run's status, or null", "run": "one run; null where the ledger has none yet, and the lists are empty",
    "plans": "its plans", "tasks": "its tasks",
    "dispatches": "its dispatches", "gates": "the latest verdict of each gate, and gates that policy asks for",
    "evidence": "its evidence", "audit": "its events, each after what it had seen",
    "trouble": "what needs settling", "findings": "what is wrong in files: code, path, line, message, fix, severity",
    "counts": "tasks by state; proven; unproven; unreadable, where there are any", "ready": "ids of ready tasks",
    "stale": "ids of stale evidence",
    "ahead": "ids of events whose clock is more than five minutes ahead of now",
    "next": "what could be done: why, command", "uncommitted": "ledger files that differ from HEAD: not counted",
    "omitted": "how many rows of each list --limit left out",
    "roles": "actors, and the roles that tasks ask for: what each did last",
    "live": "worker processes of this machine that work on the run's tasks",
    "archived": "all of the run's files are in archives",
    "knowledge": "how many notes are live (active or parked), contested, and of all these expired; in `report` notes "
    "that a link, or the evidence they rest on, leads from to the run, its plans, tasks or evidence: id, kind, title, "
    "status, live, expired, origin, links (rel, to)",
    "also_open": "other runs that are not finished, the latest first, where no run is named",
}  # fmt: skip
LIVE: Final = keys_of(rows.LiveRow)
JOB: Final = {
    "dispatch_id": "what was taken back, or only cleaned up after", "task_id": "its task", "run_id": "its run",
    "why": "what was found", "partial": "commit that keeps its work, or null",
    "requeued_dispatch_id": "the dispatch that follows it, or null", "status": "of the task now",
    "recovery_mode": "`regenerate_context_bundle` where a bundle was made again, otherwise null",
    "native_session_required": "always false: the bundle is all that the next worker needs",
    "verification_policy": "what the task's own text asks of verification, or null",
    "bundle_id": "of the bundle that was made again, or null", "context_bundle_hash": "its digest, or null",
    "context_bundle_path": "its file in the repository, or null", "evidence_id": "the note that holds it, or null",
}  # fmt: skip
ENDED: Final = {
    "task": "which task", "status": "completed, failed, lost (ended by somebody else), died (its worker was killed)",
    "dispatch": "the dispatch, or empty", "proven": "of a completed one", "branch": "where its work is, or empty",
    "category": "what kind of failure it was, or empty",
    "reason": "why it failed; of a completed one what it lacks; or empty",
}  # fmt: skip
NEXT: Final = {
    "action": "first, retry, fallback, repair, escalate, none", "executor": "who should do it, or null",
    "why": "what it follows from",
}  # fmt: skip
DECISION: Final = {
    "selected_executor": "who should do the task, or null", "fallback_chain": "who comes next, in order",
    "rejected_executors": "executor, rules (health, sandbox, scope, risk, budget, tried), reasons, hard: no "
    "wish lifts it",
    "scores": "of those who are not rejected: executor, score, its parts expected, unsure, cost; outcomes and "
    "outcomes_of_kind, as they weigh today", "reasons": "why the first is the first",
    "risk": "low, medium, high: the task's own or, raised, what past failures make it",
    "risk_adjustments": "from, to, why", "requires_user_approval": "a person should agree first",
    "approval_because": "why", "context_profile": "brief, or bundle where more is at stake",
    "auto_dispatch": "always false", "user_override": "of --executor: executor, honoured, reasons; or null",
    "budget": "attempts, lost, cost, spent, and exceeded: why one more is beyond it, or null",
    "step": f"{', '.join(NEXT)}: what the attempts so far lead to",
}  # fmt: skip
DIFF: Final = {
    "base": "the older commit", "bases": "it, or several where both sides merged each other: what they have together",
    "judged_by": "the commit whose policy judges what came since",
    "tips": "the newer commit; several: their union", "notes": "what to know besides",
    "counts": "how many: runs, tasks, added, completed, proven, unproven, contested, stale, late, plans, gates, "
    "evidence, signatures, reproductions, forbidden, weakened, notes, touched, files",
    "forbidden": "files that were changed or removed although a ledger only grows: "
    "path, change, kind, record", "policy": "null, or changed (what it asks, not only its words), diff (lines of a "
    "unified diff), weakened (rules that ask less)", "new": "the older commit has no ledger, and no policy",
    "runs": "what happened to each run that changed",
    "knowledge": "what happened to each note that changed",
    "touched": "notes about code that the change touches, as in `check --diff`",
    "files": "further files of the ledger that differ, of which nothing else is told: path, change (added, changed, "
    "removed)",
}  # fmt: skip
DIFF_NOTE: Final = {
    "id": "the note", "kind": "fact, decision, lesson, …", "domain": "the folder that it lies in",
    "title": "its name now; null, as all that it said, where it is redacted", "key": "or null",
    "change": "added, changed, removed", "from": "its state, or null",
    "to": "its state, or null",
    "happened": "added, revised, removed or `not on this branch`, and the verbs of its new events in their order; "
    "`event redacted` where that took out what one of them says, and not the note; `not counted` "
    "of one that is illegal or cannot be read",
    "by": "who wrote or revised it, or did that; who revised it is what git's commits say",
    "at": "when the last of it happened",
    "reason": "the last reason or word that an event gave, or null",
    "successor": "the note that took its place, or null",
    "contested": "it became so", "origin": "person, agent, command, import, or null", "about": "places in the code",
    "supersedes": "of a new note: whose place it takes",
    "links": "new events: change (linked, unlinked), rel, to, reason",
    "text": "of a note that was added or removed: its Markdown, else null",
    "texts": "revised parts: field, words (change: same, added, removed, left_out; text)",
    "illegal": "new events without effect: id, action (kind and verb), actor, problem",
}  # fmt: skip
TOUCHED: Final = {
    "note": "the note", "title": "its name", "kind": "what it is", "status": "its state",
    "anchor": "the place that it is about, as it was written",
    "state": "ok, moved, changed, gone, unpinned, unknown",
    "path": "where that is now", "lines": "which lines, where it is lines or a symbol",
    "edited": "which of them differ",
    "symbol": "its name now", "why": "what is not plain", "old": "git id of the content then", "new": "git id now",
}  # fmt: skip
DIFF_RUN: Final = {
    "id": "the run", "goal": "what it is for", "change": "added, changed, removed", "from": "its state, or null",
    "to": "its state, or null", "way": "the states from the one to the other; empty where it was added or removed",
    "by": "who moved it, who did so last at the end", "reason": "why, or null",
    "doubts": "what takes from that it is completed",
    "texts": "revised texts: field, words (change: same, added, removed, left_out; text)",
    "plans": "id, title, change, from, to, by, reason, changed_since_approval, unapproved (see a plan; by "
    "either side's policy), unsigned (see a plan; by the older side's policy), approved_again (it was canonical, and "
    "somebody approved it once more), superseded_by (see a plan), texts, replaces (of one that became canonical in the "
    "place of another: the other's id, and texts that are not its)",
    "tasks": "what happened to each task that changed",
    "gates": "kind, scope, from, to (fallen: by either side's policy), way (what it was, one after the other), by, "
    "reason, evidence, late, proof (what of that the newer commit holds, as of a task)",
    "evidence": "what was added or withdrawn: id, kind, trust_level, outcome, command, folder, exit_code, covers, "
    "absent, beside, reports, holds, summary, actor (who recorded it), task_ids, approves, uri, moved, change, from, "
    "to, by, trust_before, reason",
    "signatures": "what was signed: record, what, actor, event_id (null of evidence), signature, signed_by; by the "
    "keys of the older commit",
    "reproductions": "what was run again: id, of (the first evidence), result (reproduced, differs, other_code, void), "
    "differences, command, folder, exit_code, covers, absent, task_ids, actor, signature, signed_by, counts (policy "
    "lists the runner who signed it), why it does not, less_covered (where its reports cover less than those of the "
    "first)",
    "trouble": "what needs settling now and did not before", "settled": "what needed settling and no longer does",
    "findings": "what is wrong in files now and was not before: code, path, line, message",
    "illegal": "new events without effect", "mended": "events that settle, void or redact",
    "archived": "it was packed into an archive", "event_count": "how many events came",
    "spike": "it may hand out without a plan",
}  # fmt: skip
DIFF_TASK: Final = {
    "id": "the task", "title": "what is to be done", "change": "added, changed, removed", "from": "its state, or null",
    "to": "its state, or null", "way": "the states from the one to the other", "by": "who moved it",
    "reason": "why it was moved last, or null", "last_reason": "the last that was given before it was done, or null",
    "proven": "true, false, or null while not completed", "proven_before": "the same at the older commit",
    "proof": "what proves it: id, kind, trust_level, outcome, command, folder, exit_code, covers, "
    "absent, beside (see evidence), reports, holds (files, check, diff, answer, as text), summary, stale, "
    "uncommitted, passed_since",
    "asked": "what is asked of its proof, each with the rule that asks", "criteria": "of a task that was added",
    "kind": "or null", "risk": "or null", "files": "that it is about",
    "failed_since": "the latest runs of the commands of that, where they failed after it: as proof",
    "failed_before": "there were some at the older commit",
    "unproven_because": "why it is not proven",
    "unsigned": "approvals that it rests on without the signature that the older side's policy demands",
    "unproven_by_older": "why it is not proven by the older side's policy, which judges in `check --base`; or empty",
    "overridden": "what policy would not let through: beyond the budget, with destructive commands, taken by force",
    "became": "which of stale, late, incomplete, spike, contested it was not before", "selected_dispatch_id": "or null",
    "texts": "revised texts, as of a run", "repairs": "the rejected task that it makes good: id, texts (of that one, "
    "which it has not or has otherwise, as of a run); or null",
    "events": "what happened: id, record, action (kind and verb), actor, created_at, summary, problem",
}  # fmt: skip
RERUN: Final = {
    "evidence_id": "what was run again", "run_id": "its run", "task_ids": "tasks that it may prove",
    "result": "reproduced, differs, cannot", "why": "in what it differs, why it cannot, and what else to know",
    "where": "the code that it ran on: tree (all that was seen), tracked (without the untracked files), head (no "
    "commit here holds it); null where it did not come to it", "commit": "of that code, or null",
    "command": "argv, or null", "exit_code": "that came out now, or null",
    "recorded_id": "the evidence that was recorded of it, or null",
    "doubt": "why what was recorded does not make the first reproduced, or null",
}  # fmt: skip
NOTE: Final = keys_of(note_rows.NoteRow)
RECIPE: Final = {
    "name": "its only identity", "about": "what it is for, or null", "built_in": "it comes with the tool",
    "parameters": "list of `name`, `about`, `default`, `optional`", "pipes": "recipes that it takes notes from",
    "writes": "what it, and those that it takes notes from, write with --apply: compress, claim, link",
    "problem": "of `recipe list`: why it cannot be run, or null; the keys above but the name are then null",
    "text": "of `recipe show`: its YAML",
}  # fmt: skip
RECIPE_STEP: Final = {
    "recipe": "whose step it is", "part": "in which of its parts, counted from 1, or null",
    "do": "the step; `combine: ` and how for what puts parts together", "notes": "how many notes there were after it",
    "left_out": "how many it left out", "skipped": "why a sink writes nothing, or null",
}  # fmt: skip
RECIPE_WRITE: Final = {
    "do": "compress, claim, link", "of": "notes that it is about",
    "note": "the note that was made; null without --apply",
    "existing": "the note that says it already, or null", "title": "of the new note, or null",
    "text": "of the new note, or null", "rel": "of links, or null", "to": "of links, or null",
}  # fmt: skip
LEARNT: Final = {
    "name": "of the recipe", "thread": "whose notes it was learnt from", "text": "its YAML",
    "notes": "how many live notes the thread has", "found": "how many of them it finds", "others": "how many others",
    "f1": "of its right and its missing ones, 0 to 1", "missed": "ids of the thread's notes that it does not find",
    "also": "ids of the others", "tried": "all drafts: `size` (how much it says), `found`, `others`, `f1`, `steps`",
}  # fmt: skip
THREAD: Final = {
    "thread": "its name", "notes": "how many there are", "states": "state -> how many", "domains": "where they lie",
    "actors": "who wrote them", "began": "when the first was made", "latest": "when the last was made",
}  # fmt: skip
PROJECT: Final = {
    "name": "as you call it", "path": "its folder on this machine",
    "state": "ok, gone (no folder is there), no_ledger, unreadable (memento -C PATH doctor says why)",
}  # fmt: skip
HIT: Final = keys_of(note_rows.HitRow)
CODE: Final = {
    "moment": "work_tree, or commit (with --at, or in a bare repository)", "commit": "or null",
    "blob": "only in `code read`: git id of the file as it is shown",
    "changed": "only in `code read`: the work tree's file differs from HEAD's; null of a commit's",
}  # fmt: skip
CODE_NOTE: Final = {
    "id": "the note", "kind": "of the note", "title": "its name", "key": "or null",
    "status": "active, parked, contested", "expired": "its time is over",
    "incomplete": "files of its events are missing or cannot be read",
    "origin": "person, agent, command, import", "actor": "who wrote it", "created_at": "when",
    "confirmed_at": "when it was last confirmed, or null", "contradicted_by": "ids of notes",
    "evidence": "ids of what it rests on", "orders": "what makes its text read like orders to the reader",
    "text": "its Markdown", "anchor": "the place as the note names it", "state": "ok, moved, changed, gone, unpinned, "
    "unknown", "stale": "the state is changed, gone or unknown", "path": "where it is now",
    "lines": "such as 12-40, now; null of a whole file", "edited": "those of them that differ", "why": "or null",
}  # fmt: skip
CODE_READ: Final = {
    "path": "the file", "code": "which code it is", "lines": "first, last that are shown; wanted: the last that was "
    "asked for; total", "text": "the lines, joined by newlines",
    "notes": "those of these lines, of the whole file and of folders above",
    "elsewhere": "how many notes there are at other lines of the file", "stale": "ids of stale notes of the whole file",
    "coverage": "symbols (named parts of the file), noted (those with a note), share or null, problem or null",
}  # fmt: skip
CODE_GREP: Final = {
    "code": "which code it is", "regex": "the expression", "engine": "perl, or extended where this git knows no other",
    "matches": "lines that match, all", "files_total": "files that match", "files_omitted": "files that are not shown",
    "files_away": "files that were not searched: this partial clone lacks them",
    "files": "path, matches, lines (line, text, cut), omitted, notes (id, kind, title, state, stale, lines), "
    "answers_intent",
}  # fmt: skip
CODE_FILE: Final = {
    "path": "the file", "bytes": "in `ls`: its size", "language": "or null",
    "notes": "in `ls` and `coverage` how many; in `map` their ids", "stale": "how many of them are stale",
    "parts": "in `map`: name, lines, notes (ids) of symbols, in Markdown of headings",
    "imports": "in `map`: paths; of Go, packages", "imported_by": "in `map` paths, in `coverage` how many",
    "problem": "in `map`: why its parts are not known, or null",
    "symbols": "in `coverage`: how many there are", "noted": "how many of them a note is about",
    "share": "noted by symbols", "dark": "names of the others",
}  # fmt: skip
USAGE: Final = {
    "looked_at": "since (or null), commits (of code), note_commits, most (of each), wide (those that changed more than "
    "50 files, of which `together` takes no heed), notes (live ones), "
    "shallow (whether earlier commits are not in this clone)",
    "together": "path (a file that no note covers), with (a file that `notes` are about), commits (that changed both), "
    "of (that changed `with`), own (that changed `path`)",
    "corrected": "note, title, kind, status, times, superseded (ids of what it took the place of), revised (how often "
    "texts were revised), reasons",
    "volatile": "note, title, kind, status, commits (that changed `paths`), since (those later than `looked_at`), "
    "looked_at (confirmed, else made)",
    "cited_together": "notes (two: note, title, kind, status), places (where: note, evidence, thread or commit, and "
    "which)",
    "uncited": "note, title, kind, status, created_at, confirmed_at (or null)",
    "omitted": "name of a list -> how many rows are left out",
}  # fmt: skip
SCAN: Final = {
    "code": "which code it is", "drafts": "what was made: id, title, path, symbol (null: the whole file)",
    "replaced": "ids of drafts that were dropped, since their place says something else now or nothing",
    "left_out": "what is not fit for a note: path, symbol, why",
    "failed": "files about which the command of --describe-with told nothing: path, why; `ok` is then false",
    "files": "read; unchanged: known by their content; left: beyond the limit; too_large; noted: have notes, so "
    "--describe-with passes them over; not_parsed: by language",
}  # fmt: skip

TABLES: Final = {
    "Run": RUN, "Plan": PLAN, "Task": TASK, "Dispatch": DISPATCH, "Gate": GATE, "Evidence": EVIDENCE,
    "Output (evidence show)": keys_of(rows.OutputRow),
    "Event (audit)": EVENT, "Trouble": TROUBLE, "Role": ROLE,
    "Board": BOARD, "Card (of board)": CARD, "Report": REPORT,
    "Brief (payload, bundle)": BRIEF,
    "Living worker (live)": LIVE, "Recovered (jobs)": JOB, "Ended (of dispatch work)": ENDED,
    "Diff": DIFF, "Run (of diff)": DIFF_RUN, "Task (of diff)": DIFF_TASK,
    "Run again (results)": RERUN, "Note": NOTE, "Hit (of recall)": HIT,
    "Code (code)": CODE, "Note at a place (of code read)": CODE_NOTE, "Code read": CODE_READ, "Code grep": CODE_GREP,
    "File (of code ls, map, coverage)": CODE_FILE, "Scan": SCAN,
    "Check usage": USAGE, "Recipe": RECIPE, "Recipe (of recipe learn)": LEARNT,
    "Project (projects)": PROJECT, "Thread (of note threads)": THREAD,
    "Step (of recipe run)": RECIPE_STEP, "Write (of recipe run)": RECIPE_WRITE,
    "Note (of diff)": DIFF_NOTE, "Place of a note (anchors, touched)": TOUCHED,
}  # fmt: skip

SYNC: Final = {
    "remote": "with which", "branch": "its name there", "outcome": "up_to_date, pushed, fast_forwarded, merged",
    "before": "commit here before", "after": "commit here after", "merges": "merge commits that were made",
    "pushes": "pushes that it took", "pushed": "the remote has `after` by this",
    "trouble": "what is newly contested, illegal or incomplete, as in `status`",
    "lost_claims": "claims of yours that others contest: task_id, dispatch_id, claimed_by",
    "ended_claims": "claims of yours that others ended: task_id, dispatch_id, status, by, reason",
    "findings": "errors that came, or that the merge made, as sentences; but for those in `trouble`",
    "released": "dispatches whose claims on the remote were removed",
    "waiting": "completed dispatches whose claims hold on: the completion is on this branch alone",
    "next": "what is to be done about `trouble` or `findings`: why, command",
}  # fmt: skip
WHOLE: Final = {"DISPATCH": "the keys of a dispatch", "KIND": "the record under its kind"}
ANSWERS: Final = {
    "init": "workspace created state collapse_events next",
    "update": "version steps",
    "guide": "name text",
    "mcp --tools": "tools",
    "web": "url",
    "guide --out": "path",
    "status": " ".join(STATUS),
    "report": " ".join([*REPORT, *(key for key in STATUS if key != "state")]),
    "report --out": "out format bytes",
    "diff": " ".join(DIFF),
    "comment": "action id url reason",
    "log": "audit page",
    "log --commits": "commits page",
    "show": "KIND audit",
    "show --what blame": "place blame",
    "run list": "runs page",
    "run start": "run next",
    "run show": "run",
    "run pause": "command run incomplete live next",
    "run resume": "command run next",
    "run cancel": "command run incomplete live next",
    "run complete": "run next",
    "plan list": "plans page",
    "plan draft": "plan next",
    "plan approve": "plan next",
    "plan reject": "plan next",
    "plan show": "plan",
    "task list": "tasks page",
    "task add": "task dispatched executor_invoked next",
    "task add --from-event": "task created dangers dispatched executor_invoked next",
    "task revise": "task next",
    "task show": "task dispatches step dangers",
    "task route": "task_id task_status decision evidence",
    "task board": "board",
    "task board --out": "out board",
    "task brief": "payload",
    "task bundle": "bundle bundle_path",
    "task block": "task next",
    "task reopen": "task next",
    "task cancel": "task next",
    "task verify": "task verdict accepted failed_requirements evidence_id evidence next",
    "task repair": "task next",
    "dispatch list": "dispatches page",
    "dispatch show": "DISPATCH",
    "dispatch create": "DISPATCH dispatched next",
    "dispatch claim": "DISPATCH next",
    "dispatch claim --sync": "DISPATCH remote branch pushed pushes next",
    "dispatch renew": "dispatch_id lease_until committed next",
    "dispatch complete": "DISPATCH task proven evidence graph next",
    "dispatch select": "task_id decision candidates event_id next",
    "dispatch fail": "DISPATCH next",
    "dispatch create --worktree": "DISPATCH dispatched worktree next",
    "dispatch recover": "DISPATCH requeued_dispatch_id bundle next",
    "dispatch recover --all": "job_count jobs",
    "dispatch run": "DISPATCH outcome reason evidence proven exit_code seconds task next",
    "dispatch stop": "DISPATCH",
    "dispatch work": "counts taken seconds ended left stopped next",
    "gate list": "gates page",
    "gate record": "gate next",
    "gate waive": "gate next",
    "gate release": "run_id verdict missing missing_checks missing_approvals approval_count approvers graph_warnings "
    "graph_approval_required evidence event_id next",
    "evidence list": "evidence page",
    "evidence show": "evidence output",
    "evidence run": "evidence exit_code next",
    "evidence run --out": "evidence_id out exit_code",
    "evidence add": "evidence next",
    "evidence approve": "evidence approved next",
    "evidence check": "evidence checks known",
    "evidence reproduce": "results counts",
    "evidence export": "attestations",
    "evidence export --out": "out bytes",
    "evidence supersede": "evidence next",
    "evidence retract": "evidence next",
    "evidence redact": "redacted note next",
    "preflight": "act checks dangers refused gate",
    "graph status": "code graph snapshot after_dispatch graphify",
    "graph update": "evidence recorded counts",
    "graph diff": "diff evidence",
    "graph propose": "proposals omitted",
    "note list": "notes page",
    "note confirm": "note pinned",
    "note add": "note existing alike where why carried left",
    "remember": "note existing alike where why carried left",
    **dict.fromkeys((
        "note revise", "note park", "note resume", "note restore", "note finish", "note promote", "note resolve",
        "note progress", "note retire", "note link", "note unlink",
    ), "note"),
    "note retire --key-prefix": "notes dry_run",
    "note park --thread": "notes",
    "note resume --thread": "notes",
    "note threads": "threads page",
    "note merge": "note coverage carried left",
    "note redact": "redacted note",
    "note show": "note audit evidence places",
    "note show --what history": "note audit evidence places changed",
    "note show --what sources": "id sources",
    "note show --what graph": "id graph",
    "note show --what thread": "id thread",
    "note show --what blame": "id blame",
    "note show --what diff": "id diff",
    "recall": "view queries limit hits sections files unanswered unknown read_as nothing left_out tokens",
    "recall --scope all": "hits scopes",
    "session start": "session resumed orientation since changes",
    "session status": "session",
    "session checkpoint": "note",
    "session promote": "notes drafts left",
    "session discard": "discarded",
    "session end": "session note promoted drafts short",
    "session mark": "mark commit domains",
    "changes": "since changes",
    "changes --follow": "change",
    "recipe list": "recipes",
    "recipe show": "recipe",
    "recipe save": "recipe",
    "recipe learn": "recipe saved",
    "recipe remove": "removed",
    "recipe run": "recipe notes steps writes applied page",
    "export": "format notes redacted skipped text",
    "export --out": "format notes redacted skipped path",
    "export --format agents-md": "format notes skipped text",
    "export --format md": "format notes skipped text",
    "export --format agents-md --out": "format notes skipped path changed",
    "import": "from dry_run added existing drafts skipped",
    "projects list": "projects",
    "projects add": "project",
    "projects remove": "project",
    "purge": "notes done branch paths rewrites signed named_by copies sources not_reached before after backup "
    "remaining",
    "code ls": "code files page",
    "code read": " ".join(CODE_READ),
    "code grep": " ".join(CODE_GREP),
    "code map": "code files page",
    "code coverage": "code symbols noted share files_dark files not_read page",
    "scan": " ".join(SCAN),
    "check": "findings already base head checked fixed",
    "check --reproduce": "findings already base head checked fixed results",
    "check --diff": "base tip touched checked",
    "check anchors": "anchors counts notes",
    "check impact": "note title impact imported_by imports_not_read",
    "check duplicates": "duplicates",
    "check conflicts": "conflicts",
    "check expired": "expired",
    "check usage": " ".join(USAGE),
    "hook list": "hooks",
    "client list": "clients",
    "client hook": "hookSpecificOutput",
    "client install": "client done files by_hand",
    "client uninstall": "client done files by_hand",
    "hook install": "hooks",
    "hook uninstall": "hooks",
    "settle": "trouble late",
    "settle --keep": "settled next",
    "settle --void": "voided next",
    "archive": "archive",
    "sync": " ".join(SYNC),
    "apply": "done",
    "apply --keys": "keys",
    "doctor": "checks",
    "sample-smoke": "init start plan approve_plan event dispatch claim evidence complete run_complete "
    "dispatches status report doctor sample_project",
}  # fmt: skip
INTRO: Final = """\
With `--json` a command prints one JSON object on one line of standard output, whatever happens. `ok` is true, or
false together with `error`, `message` and (for refusals) `hint`, see [errors.md](errors.md). `warnings` is there when
something should be known besides, such as ledger files that are not committed and so do not count. What a command
writes for people goes to standard error or nowhere.

Lists have `page` beside them: `total`, `offset`, `shown`. `status` and `report` cut each long list to `--limit` rows
and say in `omitted` how many are left. Times are UTC. Ids are written in full. A value that is not known is null, an
empty list is `[]`.

`next` are the steps that may follow, the first one first: `why`, and the `command` to type, in which words in capitals
are to be filled in. Where it is empty the command itself leads nowhere: `status` names what its run waits for."""


def page() -> str:
    answers = table(("command", "keys beside `ok`"), [
        (f"`{command}`", " ".join(WHOLE.get(key, f"`{key}`") for key in keys.split()))
        for command, keys in ANSWERS.items()
    ])  # fmt: skip
    parts = [f"## {name}\n\n{table(('key', 'meaning'), _rows(keys))}" for name, keys in TABLES.items()]
    return whole_page(
        "JSON answers", INTRO, "## Keys by command", answers,
        "`show` of evidence has `output` too, as `evidence show` has it. "
        "`evidence` of `dispatch complete` is one row when one piece was cited, else a list. `done` of `apply` is a "
        "list of `do` and `id`; `keys` of `apply --keys` have `name`, `value` and `required`. "
        "`checks` of `doctor` have `name`, `status` (ok, warn, fail), `message`, `fix`; "
        "those of `preflight` have `level` (ok, warn, refuse) for `status`. `findings` of `check`, and `already` "
        "(wrong at the base), have `code`, `severity` (error, warning), `path`, `line`, `message`, `fix`, `title`, "
        "and `archive`, if that alone has the file; `checked` counts records, or with a base the files that differ; "
        "`results` are rows as those of `evidence reproduce`. `dangers` have `where`, `line`, `rule`, "
        "`command`, `why`. `late` of `settle` are events that came after their run was archived: `run_id`, `record`, "
        "`event`, `action`, `actor`, `at`. "
        "`imported_by` of `check impact` are the files that import what the note is about, `imports_not_read` the "
        "languages of that whose imports cannot be read, for want of the extra `graph`. "
        "`step` of `task show` is that of a decision, with its `budget`; `next` of `dispatch complete` is how an "
        "unproven task becomes proven, else `status`; that of `apply` is for the run of its last verb, and `check "
        "--fix` has one where tasks are done again by what it put back. "
        "`clients` have `name`, `title`, `state` (installed, partly, absent, unreadable), `files`; the `files` of "
        "`client install` have `path` and `diff`, and `by_hand` is what is left to a person, or null. "
        "`client hook` answers in the form of its client, without `ok`. "
        "`remaining` of `purge` are sentences. `alike` of `note add` are live "
        "notes that are near (`note`, `share` of words, `opposed`: may contradict); `coverage` of `note merge` has the "
        "`share` of the "
        "sources' words that are kept and `lost_numbers`; `carried` and `left` of both are the keys that it takes "
        "over, and does not, from those whose place it takes. `evidence` of `note show`, and of `show` of one, says "
        "what became of what it rests on (`id`, `status`, `trust`, `outcome`, `stale`, `doubts`), its `places` what "
        "became of the code that it is about, as rows of `check anchors` do: `edited` are lines of the file as it is "
        "now, "
        "`taken_out` those after which some are missing. `notes` of `recipe run` have "
        "`score` (of its recall, or null), `weak` (too little of the question to be sure) and `places` (`place`, "
        "`state`, `path`, `lines`, `why` of each anchor; null where no step followed them). "
        "`unanswered` of `recall` are the questions that nothing answers, "
        "`unknown` the words that no record has, as they were typed, `read_as` those that were "
        "read as another word, a slip away; its `sections` have `name` and `ids`; "
        "`files` have "
        "`path`, `exists`, `notes`, `words`, `symbols`; `left_out` has `budget` (ids), `limit` (how many), `states` "
        "(how many in each; what was said of a session is `feedback`), `records` (how many of each kind that is no "
        "note) and the `filters` that only notes pass, `drafts` and `short` (how many); `tokens` has `used` (by all "
        "that is printed: an answer without a hit takes some too, be it more than the budget), `budget` and how it is "
        "estimated.",
        "## Decision (task route)", table(("key", "meaning"), _rows(DECISION)),
        "## Status", table(("key", "meaning"), _rows(STATUS)),
        "## Sync", table(("key", "meaning"), _rows(SYNC)), *parts,
    )  # fmt: skip


def _rows(keys: dict[str, str]) -> list[tuple[str, str]]:
    return [(f"`{key}`", meaning) for key, meaning in keys.items()]
