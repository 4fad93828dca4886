"""Why a verb on notes is refused: one class for each fact."""

from __future__ import annotations

from memento_git.errors import Misused, Refused


class KeyTaken(Refused):
    token = "key_taken"
    sentence = "note {note} has the key {key} already: {title}"
    hint_ = (
        "better its wording: memento note revise {note} --text TEXT; another decision: add it with --supersedes {note}"
    )


class KeyTakenSince(KeyTaken):
    hint_ = (
        "retire that one first: memento note retire {note} --reason WHY; or take the key away from yours: "
        "memento note revise {own} --clear key"
    )


class KeyLikeId(Refused):
    token = "key_like_id"
    sentence = "the key {key} would be taken for an id, or for the beginning of one"
    hint_ = "choose a key that does not look like one, such as db.engine"


class KeyUnknown(Refused):
    token = "key_unknown"
    sentence = "no note has the key {key}"
    hint_ = "see them: memento note list; find one by its words: memento recall QUERY"


class KeyAmbiguous(Refused):
    token = "key_ambiguous"
    sentence = "several live notes have the key {key}: {notes}"
    hint_ = (
        "name one by its id; to leave one alone: retire others, or memento note merge {notes} --key {key} --text TEXT"
    )


class KeyContested(KeyAmbiguous):
    hint_ = (
        "name one by its id; to leave one alone: first settle what is contested, {contested}: memento settle; then, "
        "where several still live, merge them or retire all but one"
    )


class NoSuchDomain(Misused):
    token = "domain_unknown"
    sentence = "{domain!r} is no domain of notes; there are {domains}"
    hint_ = "take one of them, or add yours to knowledge.domains in .memento/config.yaml"


class OriginTooHigh(Misused):
    token = "origin_invalid"
    sentence = "a text of {actor} cannot claim the origin {origin}: it is {stamped} or less"
    hint_ = "leave --origin out; it can only be lowered, to command or import"


class NoteRedacted(Refused):
    token = "note_redacted"
    sentence = "note {note} is redacted: its text was taken out of the ledger"
    hint_ = "see when and why: memento note show {note}"


class DraftTakenOut(Refused):
    token = "draft_taken_out"
    sentence = "draft {draft} says what note {note} said, or comes from there, and that was redacted in this ledger"
    hint_ = "drop it: memento session discard {draft}; tell the rest: memento note add TEXT"


class TooFewNotes(Misused):
    token = "merge_needs_two"
    sentence = "a merge takes the place of at least two notes"
    hint_ = "better one note's wording: memento note revise NOTE --text TEXT"


class WrongNoteKind(Refused):
    token = "note_kind"
    sentence = "note {note} is a {kind}; only a {wanted} can be {verb}"
    hint_ = "see it: memento note show {note}"


class ShareInvalid(Misused):
    token = "share_invalid"
    sentence = "{where}: {given!r} is not a number from 0 to 1"
    hint_ = "give a number such as 0.8"


class MomentInvalid(Misused):
    token = "moment_invalid"
    sentence = "{where}: {given!r} is no date, time or length of time"
    hint_ = "write 2026-12-31, 2026-12-31T09:30:00Z or 90d"


class NeverValid(Misused):
    token = "validity_invalid"
    sentence = "a note that is valid from {start} until {end} would never be valid"
    hint_ = "give a --valid-to that is after --valid-from"


class PointUnknown(Misused):
    token = "point_unknown"
    sentence = "{given!r} is no mark, revision, date or length of time"
    hint_ = (
        "write a mark (git tag -l 'memento/*' lists them), main~3, 2026-12-31 or 90d; a shallow clone may need "
        "git fetch --deepen"
    )


class NotePromoted(Refused):
    token = "note_promoted"
    sentence = "note {note} was promoted: it lasts, and no date or tier takes that back"
    hint_ = "retire it when it holds no more, or let another take its place: memento note add TEXT --supersedes {note}"


class AnswersItself(Misused):
    token = "answer_invalid"
    sentence = "note {note} cannot be its own answer"
    hint_ = "name the note that holds the answer, or say it with --note TEXT"


class GivesOrders(Refused):
    token = "gives_orders"
    sentence = "a text of the origin {origin} reads like orders to whoever reads it: it {why}"
    hint_ = (
        "keep it as a draft: memento note add TEXT --draft; by its name it is promoted: memento session promote DRAFT"
    )


class LinkInvalid(Misused):
    token = "link_invalid"
    sentence = "{given!r} is no link: {problem}"
    hint_ = (
        "name a relation and another record: --link depends_on:note_7k2m, memento note link NOTE depends_on note_7k2m"
    )
