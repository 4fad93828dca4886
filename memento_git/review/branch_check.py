"""What is wrong with what a tree of the ledger adds to another one, or a merge makes of its sides."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Final

from memento_git.ledger import grep, layout, origin, policyfile, ranges, staged, tree_diff
from memento_git.ledger.branch_history import NOTHING, BranchHistory, story_of, to_commit, to_write
from memento_git.ledger.git import Git
from memento_git.ledger.introducing_commits import EndCommits, changing_code
from memento_git.ledger.tree_diff import Changed
from memento_git.ledger.view import View
from memento_git.model.finding import Finding
from memento_git.model.ids import is_id, parse_ref, random_part
from memento_git.model.policy import Policy
from memento_git.model.states import DONE
from memento_git.model.work import Prose
from memento_git.review import actors, base_comparison, files, last_readable, recipes, runs, signed, wording
from memento_git.review.base_comparison import Comparison
from memento_git.review.intermediate_commits import dropped_or_edited
from memento_git.review.outcome import Known, Report, key, ordered
from memento_git.review.reinstated import reinstated
from memento_git.review.scope import Scope
from memento_git.review.tree_check import code_of, of_notes, refuse_nothing
from memento_git.work import persons
from memento_git.work.gates import gate_validity, gates
from memento_git.work.loading import load
from memento_git.work.proof import proofs
from memento_git.work.proof.runners import Runners
from memento_git.work.state import RunState

RECORDS: Final = (".yaml", ".md")
OF_TWO_SIDES: Final = ("D011", "N002", "N003", "N005", "N010", "T001", "T003", "T006")
MADE_BY_MERGING: Final = (*OF_TWO_SIDES, "F008", "F009", "T005")


def added(
    git: Git, forks: Sequence[str], head: str, name: str, now: str, confirmed: Collection[str] = (), ruling: str = ""
) -> Report:
    """Check what a head adds to its base, by the base's policy; `confirmed` was run again just now.

    Of several forks the base is what they come to together; policy and keys are those of `ruling`, else of the first.
    """
    first, ruling, name = forks[0], ruling or forks[0], shlex.quote(name)
    git.trees.anew = True
    differing, known = tree_diff.from_bases(git, forks, head)
    is_staged = staged.is_read(git)
    story = NOTHING if is_staged else _story(git, forks, head)
    if not differing and not story.touched and ruling == first:
        return _of_others(View(git, (first,), now), head)
    base, view = _views(git, forks, head, now, known)
    old = _ruling(base, view, ruling, differing)
    had_ledger = layout.CONFIG in view.files if old is view else bool(old.folders)
    if not had_ledger and not view.exists:
        return _nothing(view, differing, first)
    _ahead(base, view, differing)
    (policy, mine, found), keys = _policies(old, view, name), ruling if had_ledger else head
    runners, own = Runners(view, policy, keys, confirmed=confirmed), Runners(view, mine, head)
    comparison = _compared(base, runners, differing, name, story)
    scopes, touched = _scopes(comparison), _notes(comparison)
    found += _of_runs(view, scopes, comparison.state)
    found += of_notes(view, Scope(touched, comparison.added), mine) if touched else ()
    paths = comparison.brought()
    found += [*files.check_names(view, paths, mine), *files.twins(git, first, head)]
    found += [*_copies(view, paths), *files.check_secrets(view, paths, policy.allow_secrets), *_called_off(comparison)]
    found += recipes.check_recipes(view, [change.path for change in differing], policy.allow_secrets)
    found += [*comparison.findings(), *reinstated(comparison), *dropped_or_edited(comparison)]
    found += signed.older_by_history(git, ruling, comparison.story, signed.check(view, keys, policy, paths))
    found += [*signed.signers_changed(git, ruling, head, policy), *signed.own_runners(view, runners, own, paths)]
    found += [*_of_actors(comparison), *base_comparison.attributes(comparison)]
    found += [one for one in view.findings if one.path in paths or _is_in(one.path, scopes, touched)]
    before = _before(comparison, scopes, touched, {comparison.as_before(one.path) for one in found}) if found else set()
    found = last_readable.told_whole(view, last_readable.unpacked(found), first, name)
    found = files.lasting(found, () if is_staged else paths)
    ours, already = _apart(files.placed(view, files.never_back(found)), before, comparison)
    return Report(ordered(ours), ordered(already), first, head, len(differing), policy, bases=tuple(forks))


def merged(git: Git, sides: Sequence[str], head: str, name: str, now: str, confirmed: Collection[str] = ()) -> Report:
    """Check what a merge makes of its sides: what none of them has, and what they come to by each other.

    The latter is wrong compared with the first, and not so on any other side. In the index it is a warning, as it is
    settled by a commit that follows the merge. Of one side it is what a head adds to it. Another project that is merged
    into a folder is no side of this ledger.
    """
    sides = origin.own(git, sides, sides[0], head)
    report = added(git, sides, head, name, now, confirmed)
    first, others = sides[:1], sides[1:]
    told = added(git, first, head, name, now).findings if others else ()
    made = [one for one in told if one.code in MADE_BY_MERGING]
    if not made:
        return report
    known = {key(one) for one in report.findings}
    for other in others:
        known |= {key(one) for one in added(git, first, other, name, now).findings}
    made = [one for one in made if key(one) not in known]
    if staged.is_read(git):
        made = [one._replace(severity="warning", fix=f"once the merge is committed: {one.fix}") for one in made]
        report = report._replace(lighter=MADE_BY_MERGING)
    return report._replace(findings=ordered([*report.findings, *made]))


def _scopes(comparison: Comparison) -> dict[str, Scope]:
    """Return run -> what is looked at in it, of the runs that the branch touched."""
    base, head = comparison.base, comparison.head.commits[0]
    code, before = (code_of(base.git, commit) for commit in (head, base.commits[0]))
    ends = EndCommits(base.git, (*base.commits, head))
    laid = cache(partial(_is_laid, comparison))
    later = cache(partial(_beyond, comparison, ends, laid))
    scope = Scope(None, comparison.added, code, before, partial(_was, comparison), ends.of, later, laid)
    return {run: scope._replace(groups=groups) for run, groups in comparison.touched().items()}


def _is_laid(comparison: Comparison, commit: str, seen: tuple[str, ...]) -> bool:
    """Tell whether a commit of a branch is what a merge would have made of one of the trees of code that were seen."""
    from memento_git.work import squashes

    return squashes.brings(comparison.base.git, commit, comparison.base.commits, seen)


def _beyond(
    comparison: Comparison,
    ends: EndCommits,
    laid: Callable[[str, tuple[str, ...]], bool],
    gate: str,
    seen: tuple[str, ...],
) -> list[str] | None:
    """Return the commits of a branch that change code, but for those that lead to commits which a gate has seen.

    Those are the `seen` ones, and the ends of the other runs that the branch touched, that were completed, and that the
    gate had passed for, on the code that each of them ended with: of one that was cancelled nobody asks whether its
    work was done. Commits of the base are the base's. It is None where git cannot tell.
    """
    states = [comparison.state(run) for run in comparison.touched() if is_id(run, "run")]
    done = [state for state in states if state.status == "completed"]
    given = [(state, event) for state in done for event in gates.passes(state, state.id, gate)]
    own = ((state, event, laid if event.id in comparison.added else None) for state, event in given)
    others = {one for state, event, how in own for one in gate_validity.fresh_ends(state, event, ends.of, how)}
    return changing_code(comparison.base.git, comparison.head.commits[0], [*comparison.base.commits, *seen, *others])


def _views(git: Git, forks: Sequence[str], head: str, now: str, known: Mapping[str, str]) -> tuple[View, View]:
    """Return the base, with what it has of some files, and the head that is compared with it."""
    base, view = View(git, tuple(forks), now), View(git, (head,), now)
    base.hold(known)
    view.prior = base
    return base, view


def _ruling(base: View, view: View, ruling: str, differing: Iterable[Changed]) -> View:
    """Return the tree whose policy judges: the branch's own is read already, where it is no other than the base's.

    Where nobody can read it, the base's own line has the last one that can be read.
    """
    if ruling != base.commits[0]:
        return View(base.git, (ruling,), base.now)
    return base if any(change.path == layout.CONFIG for change in differing) or policyfile.read(view)[1] else view


def _ahead(base: View, view: View, differing: Sequence[Changed]) -> None:
    """Read what differs at once, as nearly all of it is read, and tell from it what the base has."""
    view.fetch(change.path for change in differing if change.path.endswith(RECORDS))
    if len(base.commits) == 1:
        tree_diff.note_base(view.git, base.commits[0], view.commits[0], differing)


def _story(git: Git, forks: Sequence[str], head: str) -> BranchHistory:
    """Return what the commits of a branch did; refuse where some of them are not here."""
    ranges.refuse_cut(git, forks, head)
    return story_of(git, forks, head)


def _compared(
    base: View, runners: Runners, differing: Sequence[Changed], name: str, story: BranchHistory
) -> Comparison:
    """Return the comparison with a base that holds of each file what it was when it could be read last."""
    view, is_staged = runners.view, staged.is_read(base.git)
    stand_ins = last_readable.stand_ins(base, view, differing)
    if stand_ins:
        base.hold({path: last.blob for path, last in stand_ins.items()})
        if not is_staged:
            nothing = last_readable.nothing(differing, stand_ins)
            story = story_of(base.git, base.commits, view.commits[0], nothing)
        differing = last_readable.compared(differing, stand_ins)
    if is_staged and runners.policy.plan_not_author:
        plans = [change for change in differing if change.path.endswith("/plan.md")]
        story = story._replace(written=to_write(base.git, plans))
    return Comparison(base, runners, differing, name, stand_ins, story)


def _nothing(view: View, differing: Iterable[Changed], first: str) -> Report:
    """Report nothing where only git's attributes at the top differ; refuse to say that of no ledger."""
    head = view.commits[0]
    if not all(change.path == layout.TOP_ATTRIBUTES for change in differing):
        refuse_nothing(view, head[:12])
    return Report([], [], first, head, 0)


def _of_others(base: View, head: str) -> Report:
    """Report what is told of the files that policy names, and beside the ledger, where nothing of itself differs."""
    git, first = base.git, base.commits[0]
    policy, _ = policyfile.judging(base)
    told = [*policyfile.away(base), *signed.signers_changed(git, first, head, policy), *files.twins(git, first, head)]
    return Report(told, [], first, head, len(told), policy)


def _of_actors(comparison: Comparison) -> Iterator[Finding]:
    """Yield who acted under another name than who committed it, or a name hardly told from another's.

    And who took another's words back, or where policy asks who wrote a plan, changed another's. The names that one is
    hardly told from are those of policy, of authors and of the base; of its archives, where a name is new to the rest.
    """
    base, policy, git, story = comparison.base, comparison.policy, comparison.git, comparison.story
    authored = story.authored or to_commit(git, comparison.changes)
    acts = actors.acts(comparison, authored)
    if story.authored:
        yield from actors.committed(acts, policy.agents)
    if not staged.is_read(git):
        yield from wording.reworded(comparison)
    if policy.plan_not_author:
        yield from wording.rewritten(comparison)
    names = {act.actor: act.path for act in reversed(acts)}
    authors = {name for commit in authored for name in (commit.author, commit.author.partition(" <")[0])}
    doubtful = {name for name in names if persons.may_look_like(name)}
    bare = actors.bare(acts) if story.authored else []
    there = actors.acting(base) if doubtful or bare else set()
    there |= actors.archived(base) if bare or doubtful - there else set()
    yield from actors.namesakes(bare, {*policy.people, *there})
    yield from actors.lookalikes(names, {*policy.people, *authors, *there})


def _apart(
    found: Iterable[Finding], before: Collection[Known], comparison: Comparison
) -> tuple[list[Finding], list[Finding]]:
    """Return the findings that are the branch's, and those that the base had, also of what lies elsewhere now."""
    ours: list[Finding] = []
    already: list[Finding] = []
    for one in found:
        known = key(one._replace(path=comparison.as_before(one.path))) in before
        (already if known else ours).append(one)
    return ours, already


def _of_runs(view: View, scopes: Mapping[str, Scope], state_of: Callable[[str], RunState]) -> list[Finding]:
    found: list[Finding] = []
    for run, scope in scopes.items():
        if not is_id(run, "run") or run not in view.runs():
            continue
        state = state_of(run)
        if scope.groups is None:
            load(state)
        found += runs.check_run(state, scope)
        if scope.groups is not None:
            found += runs.circles_through(state, [name for name in scope.groups if is_id(name, "task")])
    return found


def _notes(comparison: Comparison) -> set[str]:
    """Return the notes to look at: touched, on retracted evidence, all where domains may be others now."""
    head, touched = comparison.head, comparison.notes()
    if any(change.path == layout.CONFIG for change in comparison.changes):
        touched |= {*head.index("").prose}
    places = (place for path in comparison.brought() if (place := layout.place_of(path)) and place.do == "retracted")
    if taken := {place.of for place in places}:
        found = filter(layout.note_of, grep.naming(head.git, head.commits[0], layout.KNOWLEDGE, taken))
        touched |= {layout.note_of(path) for path in found if _rests(head.record(path), taken)}
    return touched


def _rests(record: object, evidence: Collection[str]) -> bool:
    """Tell whether a note can be read, and rests on some evidence."""
    return isinstance(record, Prose) and any(parse_ref(ref).id in evidence for ref in record.list("evidence"))


def _before(
    comparison: Comparison, scopes: Mapping[str, Scope], touched: Collection[str], paths: Collection[str]
) -> set[Known]:
    """Return what was wrong with the same records at the base, and with the names of some files there."""
    base = comparison.base
    if layout.CONFIG not in base.files:
        return set()
    then = {run: scope._replace(added=(), code=scope.before) for run, scope in scopes.items()}
    policy = comparison.policy
    found = [
        *_of_runs(base, then, comparison.before),
        *(of_notes(base, Scope(touched), policy) if touched else ()),
        *base.findings,
        *files.check_names(base, paths, policy),
        *recipes.check_recipes(base, base.files, policy.allow_secrets),
    ]
    return {key(one) for one in found}


def _is_in(path: str, runs: Iterable[str], notes: Collection[str]) -> bool:
    place = layout.place_of(path)
    if place is not None and place.of in notes:
        return True
    return any(f"/{run}/" in path or path.endswith(f"/{run}") for run in runs)


def _policies(base: View, head: View, name: str) -> tuple[Policy, Policy, list[Finding]]:
    """Return the policy that judges a branch, its base's, the branch's own, and what the branch makes of it."""
    new, found = policyfile.judging(head)
    if base is head:
        return new, new, found
    away = signed.keys_away(head.git, head.commits[0], new)
    if not base.folders:
        return new, new, [*found, *away]
    old, amiss = policyfile.ruling(base)
    found += [*amiss, *policyfile.removed(head, name)]
    if head.exists and all(one.severity == "warning" for one in found):
        from memento_git.review.weakened import weakened

        for told in weakened(old, new):
            message = f"the branch weakens policy: {told}; what it adds is judged by the base's"
            found.append(Finding("C003", layout.CONFIG, 0, message, "change policy on a branch of its own", "warning"))
    known = signed.keys_away(base.git, base.commits[0], old)
    return old, new, [*found, *(one for one in away if one not in known)]


def _called_off(comparison: Comparison) -> Iterator[Finding]:
    """Yield the tasks that were to be done at the base and that a branch cancels, if it completes their run as well."""
    for run in comparison.touched():
        state = comparison.state(run)
        ends = [event for event in state.folded(run).legal("completed") if event.id in comparison.added]
        if not ends or state.status != "completed":
            continue
        for task in _left_out(state, comparison.before(run)):
            reasons = [event.get("reason") for event in state.folded(task).legal("cancelled")]
            why = f": {reasons[-1]}" if any(reasons[-1:]) else ""
            told = f"{run} is completed without {task} (“{state.told(task).title}”), which the branch cancelled{why}"
            fix = f"agree that it is not needed, or do it in a further run: memento task show {task}"
            yield Finding("P004", ends[-1].path, 0, told, fix, "warning")


def _left_out(state: RunState, before: RunState) -> Iterator[str]:
    """Yield the tasks that were to be done, and are cancelled; not those whose place a repair takes."""
    replaced = proofs.replaced(state)
    for task in before.ids("task"):
        was_open = before.task_status(task) not in (*DONE, "cancelled", "contested")
        if was_open and task not in replaced and state.task_status(task) == "cancelled":
            yield task


def _copies(view: View, paths: Sequence[str]) -> list[Finding]:
    """Return the records of the branch whose id another run has already, in an archive or not."""
    found = []
    places = [(place, path) for path in paths if (place := layout.record_at(path))]
    wanted = {place.id: (place.run, path) for place, path in places}
    if len(view.runs()) < 2 or not wanted:
        return []
    parts = {random_part(name) for name in wanted}
    view.unpack_holders(parts)
    for path in view.files:
        place = None if parts.isdisjoint(layout.random_parts(path)) else layout.place_of(path)
        run, copy = wanted.get(place.id, ("", "")) if place is not None else ("", "")
        if place is not None and copy and place.run != run:
            message = f"{place.id} is in {view.place_of(place.run, path)} too; an id belongs to one file"
            found.append(Finding("F008", copy, 0, message, f"git rm {copy}"))
    return found


def _was(comparison: Comparison, run: str, record: str) -> Prose | None:
    return comparison.before(run).text(record)
