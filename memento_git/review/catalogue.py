"""Every finding that there is: its title, how grave it is, what it means and what to do, with an example."""

from __future__ import annotations

from typing import Final

from memento_git.model.finding import Kind
from memento_git.review.catalogue_notes import NOTES
from memento_git.review.catalogue_policy import POLICY

_RESTORE: Final = "memento check --base main --fix"

CATALOGUE: Final = {
    "F001": Kind(
        "a file that cannot be read", "error",
        "A file cannot be read: not YAML of the ledger's kind, no front matter, too large, a merge conflict left in "
        "it, or an object that git does not have.",
        "Repair it, or restore it: `git checkout REV -- PATH`. In a partial clone, fetch.",
    ),
    "F002": Kind(
        "a value that its schema does not allow", "error",
        "A key or value that the file's schema does not allow; the line is named.",
        "Correct it by `docs/reference/formats.md`, or restore the file.",
    ),
    "F003": Kind(
        "a file that disagrees with its own path", "error",
        "A file says another id, verb, time or record than its own path.",
        "Restore the file, or move it back where it belongs.",
    ),
    "F004": Kind(
        "something that is not a plain file", "error",
        "Something that is not a plain file, such as a symbolic link or a submodule, below `.memento`.", "`git rm` it.",
    ),
    "F005": Kind(
        "a format version that this tool does not know", "error",
        "`config.yaml` names a format version that this tool does not know.", "Install a newer memento-git.",
    ),
    "F006": Kind(
        "two places hold different bytes for one file", "error",
        "Two revisions, or an archive and the tree, hold different bytes for a file that never changes.",
        "Take out the one beside an archive: `git rm PATH`; else find which one was edited: `git log -- PATH`.",
    ),
    "F007": Kind(
        "a record whose text is missing", "error",
        "A record has events, but the file with its text is missing.",
        "Restore it; `memento doctor` says from which commit.",
    ),
    "F008": Kind(
        "an id that two files carry", "error",
        "Two files carry one id, or two runs hold the same record: a file was copied.",
        "An id belongs to one file: `git rm` the copy.",
    ),
    "F009": Kind(
        "names that differ in case alone", "error",
        "Two paths differ in upper and lower case alone: a checkout on a file system that ignores case loses one.",
        "`git rm --cached` the one that is not the ledger's: where case is ignored, both are one file.",
    ),
    "F010": Kind(
        "a file that is not the ledger's", "warning",
        "A file below `.memento` that is not part of the ledger's layout. Nothing reads it.",
        "Take it out: `git rm PATH`; the folder of a run, task or plan, or an event, that was renamed: give it its "
        "name again, by the `git mv` that the finding names.",
    ),
    "F011": Kind(
        "an attachment above policy's limit", "warning",
        "A kept file is larger than `limits.attach` and `limits.output` allow.",
        "Keep its digest instead: `memento evidence add` does above the limit.",
    ),
    "S001": Kind(
        "what looks like a secret", "error",
        "A record's text holds what looks like a secret.",
        "Revoke it, then `memento evidence redact ID --reason WHY` (of a note `memento note redact`), or edit the "
        "text. A false alarm: name its rule in `allow_secrets`.",
    ),
    "A001": Kind(
        "an archive with other bytes", "error",
        "An archive's bytes do not have the digest that is its name. What it held is not told as missing besides.",
        f"`git checkout COMMIT -- PATH`, or `{_RESTORE}`",
    ),
    "A002": Kind(
        "an archive that cannot be unpacked", "error",
        "An archive cannot be unpacked.", "Restore the archive from git.",
    ),
    "A003": Kind(
        "a foreign file in an archive", "error",
        "An archive holds a path that is not a file of its run.", "Restore the archive from git.",
    ),
    "E001": Kind(
        "an event that cannot be read", "error",
        "The file of an event cannot be read; what names it is *incomplete*.",
        "Repair the file or restore it from git; the F finding beside it names the line. Where no history has it, void "
        "the event (`memento settle --void EVENT --reason WHY`), or take the file out.",
    ),
    "E002": Kind(
        "an event without its past", "error",
        "An event names another in `after` that is absent; it is not folded, its record is *incomplete*.",
        "Restore the absent event: `git checkout COMMIT -- PATH`. Where no history has it, void this one: `memento "
        "settle --void EVENT --reason WHY`.",
    ),
    "E003": Kind(
        "an event after an edited one", "error",
        "An event names another in `after` by a digest that is not that file's: one of the two was edited.",
        "Restore the edited file: `git checkout COMMIT -- PATH`. Where no history has it, void the event: `memento "
        "settle --void EVENT --reason WHY`.",
    ),
    "R001": Kind(
        "a redacted file that is back", "error",
        "A file that was redacted is in the ledger again: a merge or a revert brought it back. What happened to a note "
        "that was purged counts as redacted, too.",
        "`git rm` it, or `memento check --fix`.",
    ),
    "T001": Kind(
        "a contested record", "error",
        "Events that had not seen one another disagree on one part of a record: two claims, two canonical plans, done "
        "here and blocked there.",
        "`memento settle RECORD --keep EVENT --reason WHY`",
    ),
    "T002": Kind(
        "an illegal event", "error",
        "An event that the transition table did not allow when it was written: by hand, or by another tool. It has no "
        "effect.",
        "Restore the file where it was edited: `git checkout COMMIT -- PATH`; else `memento settle --void EVENT "
        "--reason WHY`.",
    ),
    "T003": Kind(
        "tasks that wait in a circle", "error",
        "Tasks depend on each other in a circle, each half of which may have come from another branch.",
        "`memento task revise TASK --depends-on ...`, without one of them",
    ),
    "T004": Kind(
        "a record dated out of order", "warning",
        "An event is dated well before one that it follows, or an event, evidence or a note after now. The order of "
        "events does not come from the clock; leases do, which of two answers is the later one, and which handoff is "
        "the last. Evidence that is dated after now counts for nothing until then.",
        "Set the clock of the machine that wrote it.",
    ),
    "T005": Kind(
        "work that came late", "warning",
        "A task, or something that happened to it, came to a run that was completed without it.",
        "Look at it, and start a run for what is still to be done.",
    ),
    "T006": Kind(
        "done before what it depends on", "warning",
        "A task is completed although a task that it depends on is not done and proven, or a gate of its own has "
        "failed. An error where the branch completes it; for a failed gate, where neither the failure nor the "
        "completion had seen the other. Or the branch hands out, claims or completes work although the run is "
        "paused or contested at the base, or hands out or claims it although a gate of the run has failed there.",
        "Finish or prove the other task, or `memento task reopen TASK --reason WHY`; resume or settle the run, or pass "
        "its gate.",
    ),
    "T007": Kind(
        "a void of a legal event", "error",
        "A void names an event that is legal and complete, and that it had not seen: it was written by hand, or "
        "what was absent has come back. It takes effect only if its `absent` names something that the event rests "
        "on. A warning where the void is older than the branch.",
        "`git rm` the void, or keep away what is absent.",
    ),
    "K001": Kind(
        "a signature that policy demands is missing", "error",
        "An approval or a verdict lacks the signature that policy demands: it has none, it was redacted and its "
        "signature with it, or it has one that is not good, or of somebody whom policy does not name. Or the branch "
        "hands out, completes or accepts work on one that was there before and lacks it. A warning: policy names a "
        "file of keys that is not there, or cannot be read.",
        "Whoever may sign does it again with `--sign`, or the file is committed; see `docs/trust-model.md`.",
    ),
    "K002": Kind(
        "a signature that is not good", "error",
        "A signature that nothing demands is not good: it is for other bytes, of somebody else, of a key that was "
        "revoked or not valid then, or names no ledger where policy names it. A warning: a key that is not known "
        "here, and a name that is missing on what is older than it: at the base, or by the commits of the branch.",
        "Restore the file as it was signed, or add the key to the allowed signers; sign again what shall count.",
    ),
    "K003": Kind(
        "a runner of the branch's own", "warning",
        "Evidence was run again and signed by one who counts as a runner by the branch's policy and keys, and not by "
        "its base's: it reads as witnessed.",
        "List runners on a branch of their own; when that is merged, `memento evidence reproduce --sign` again.",
    ),
    "L001": Kind(
        "a dependency that is not there", "error",
        "A task depends on one that is not in its run.",
        "`memento task revise TASK --depends-on ...` with tasks of the run",
    ),
    "L002": Kind(
        "cited evidence that is missing", "error",
        "A completion, a verdict, an acceptance or a note cites evidence that is not in the ledger.",
        f"Restore it: `{_RESTORE}`, or as the finding says. Of a note: or take it out of the note's evidence.",
    ),
    "L003": Kind(
        "cited evidence with other bytes", "error",
        "Evidence is not, byte for byte, what was cited: it was edited afterwards, or another digest was written down.",
        f"Restore the file: `{_RESTORE}`.",
    ),
    "L004": Kind(
        "a name that leads nowhere", "error",
        "A record names a task, a dispatch, a plan or evidence that is not in its run; or a note, or what happened to "
        "one, a record that is not in the ledger.",
        "Restore what it names, by the `git mv` that the finding names where its folder was renamed, or take the "
        "record back.",
    ),
    "Q001": Kind(
        "a recipe that leads nowhere", "error",
        "A saved recipe takes notes from one that is not there, or, through others, from itself; or it has the name of "
        "a recipe that comes with the tool, which is run in its place; or a step asks for a moment or a domain that "
        "there is none of.",
        "Correct it: `memento recipe save NAME FILE --replace`, or `memento recipe remove NAME`.",
    ),
    "V001": Kind(
        "kept output that is not what was recorded", "error",
        "A file that evidence keeps is missing or has other bytes than evidence says: it is no longer witnessed.",
        f"Restore the file: `{_RESTORE}`, or run the command again and retract this.",
    ),
    "V002": Kind(
        "an outcome that disagrees with the facts", "error",
        "Evidence says another outcome than its own exit code, reports, conclusion or answer, or than its command has "
        "when `check --reproduce` runs it again; or, a warning, its report covers more than that run did. Or it says "
        "of commits that are here what is not so: which files a diff changes, or, a warning, how many lines; of which "
        "code a check is.",
        "`memento evidence retract ID --reason WHY`, and run the command again. What a clean worktree lacks for it, "
        "such as variables or files that git ignores, comes from `env` and `setup` of `policy.reproduce`.",
    ),
    **NOTES,
    **POLICY,
    "C001": Kind(
        "stale evidence", "warning",
        "What the branch completes, a run or its release too, rests on evidence of other code than this commit's, or "
        "covers paths alone that the branch does not change. Not where the proof of another task has a pass of the "
        "same command for this code, and the code of the earlier one is in history.",
        "Run the command again on the code as it is.",
    ),
    "C002": Kind(
        "an actor who is not the author", "warning",
        "An event's actor has another name than the author of the commit that added it. Of one that is redacted, or "
        "in an archive, and that no commit of the branch added: than the author of the redaction or archive. Also who "
        "judged by a name alone that somebody of the base has, with another address than the author's.",
        "If it is the author's own agent, list it in `policy.agents`: that says whose commits may carry its records.",
    ),
    "C003": Kind(
        "a weaker policy", "warning",
        "The branch asks for less in `config.yaml` than its base. All that it adds is judged by the base's policy; "
        "where that cannot be read, by the last one before it which can.",
        "Let the change of policy be a branch of its own.",
    ),
    "C004": Kind(
        "the ledger's configuration is gone", "error",
        "`config.yaml` was removed: without it there is no ledger and no policy.",
        "git checkout BASE -- .memento/config.yaml",
    ),
    "C005": Kind(
        "attributes that hide or change ledger files", "warning",
        "The branch has `.gitattributes` keep changes of ledger files, or of files of keys that policy names, out of a "
        "diff, fold up there those that people write, or change their bytes on the way into or out of git. "
        "`memento check` reads what git holds all the same.",
        "Take the line back; look at the ledger's files with `git diff --text`.",
    ),
    "C006": Kind(
        "a name that looks like another's", "error",
        "Letters of another alphabet make the name of an actor on the branch hard to tell from that of a commit's "
        "author, of another actor (also in archives) or of somebody whom policy names. A rule that lets people in "
        "takes them for two people, one that keeps them out for one. Two spellings with one address are one person.",
        "Ask who that is; write names in one alphabet.",
    ),
    "C007": Kind(
        "a file that was never committed", "warning",
        "The evidence for what the branch completes saw an untracked file, and the commit has neither that path nor "
        "those bytes: a clone lacks it. A file with an ending that no file of the commit has is left out.",
        "Commit the file; or complete the task with a run without it.",
    ),
    "D001": Kind(
        "a changed event", "error",
        "An event has other bytes than at the base. Events are never changed.", f"`{_RESTORE}`",
    ),
    "D002": Kind(
        "a removed event", "error",
        "An event of the base is gone, and neither an archive, a redaction nor the purge of its note accounts for it.",
        f"`{_RESTORE}`",
    ),
    "D003": Kind(
        "changed evidence", "error",
        "Evidence, or a file that it keeps, has other bytes than at the base.", f"`{_RESTORE}`",
    ),
    "D004": Kind(
        "removed evidence", "error",
        "Evidence, or a file that it keeps, is gone, and neither an archive nor a redaction accounts for it.",
        f"`{_RESTORE}`",
    ),
    "D005": Kind(
        "a changed identity", "error",
        "The text of a run, plan or task says another id, time, author or spike than at the base; that of a note "
        "another kind or origin. Its wording may change.",
        "Restore these lines of its front matter.",
    ),
    "D006": Kind(
        "a removed text", "error",
        "The text of a run, plan, task or note is gone, and no archive holds it, nor was it redacted.", f"`{_RESTORE}`",
    ),
    "D007": Kind(
        "a changed text of work that is under way", "warning",
        "A warning where a task's title, criteria or text changed after it was handed out (but to ask more of one "
        "that waits again), or it asks less than at the base (what was completed on the old text is unproven); where "
        "the branch hands out or completes a task that waited at the base, or its repair, under another title or "
        "text; where a run has another goal, or lost a constraint, a paragraph or an item of its text, or has these "
        "in another order, or any word of it changed and the branch completes the run; where the plan asks less (also"
        " of a command: no report, more time, another kind) than one that was approved at the base, that somebody "
        "else approved on the branch, or that finished work, or what it repairs, was handed out on, or where nothing "
        "has the words of that one any more; where a task no longer waits for an unfinished one, unless that was "
        "cancelled at the base, or rejected and repaired; and where somebody changed what another wrote on the "
        "branch, or the title or words of a task that waits at the base and that another wrote last. An error where "
        "the branch completes work that was handed out before, on another title, other criteria, text or "
        "verification, or asking less proof, by itself or by policy, even if handed out again; where a task that "
        "another one repairs asks less; where a run changed that has ended; and where the branch completes a run "
        "whose goal or constraints changed.",
        "Restore the text, or hand the task out again on the new text; ask for less in a separate branch.",
    ),
    "D008": Kind(
        "a removed archive", "error",
        "An archive is gone, and neither files nor another archive hold what was in it.", f"`{_RESTORE}`",
    ),
    "D009": Kind(
        "what was legal is taken out", "error",
        "The branch takes out an event that was legal at the base: by a void that says it had not seen it, or by a "
        "redaction that keeps other words. That of evidence has to keep its tasks; of an answer, a check or a graph "
        "also whose it was and how it ended.",
        "Leave out the commit that brought the void or the redaction: a removal by a later one is `D010`.",
    ),
    "D010": Kind(
        "taken back or edited on the branch", "error",
        "The branch added a record, and a later commit or a merge on it removed that record, edited an event or "
        "evidence, or changed who a text says wrote it, when, or what it repairs.",
        "Restore it: `git checkout COMMIT^ -- PATH`; to take work back, cancel or reopen the task, retract the "
        "evidence, retire the note.",
    ),
    "D011": Kind(
        "settled against the base", "error",
        "An event stood at the base, uncontested; the branch added one that had not seen it, and settled in favour of "
        "its own, or voided the base's. Also where that void was voided in turn and other events rest on it. A "
        "warning where the event that lost is somebody else's: on the branch itself, or contested at the base.",
        "Drop the commit that settled it, keep the base's event, and make your change with a later event.",
    ),
    "D012": Kind(
        "what nobody could read was mended or taken out", "warning",
        "A file of the base could not be read there nor in any commit before, and the branch replaces it, or takes it "
        "out. What it has in its place is judged as added by the branch.",
        "Look what the file was: `git log -p -- PATH`.",
    ),
}  # fmt: skip
