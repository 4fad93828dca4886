"""The findings about notes."""

from __future__ import annotations

from typing import Final

from memento_git.model.finding import Kind

NOTES: Final = {
    "N001": Kind(
        "a domain that nobody named", "error",
        "A note lies in a folder that is neither a domain of this tool nor one of `knowledge.domains`.",
        "Name it in `knowledge.domains` of `config.yaml`, or put the folder back.",
    ),
    "N002": Kind(
        "one key, several live notes", "error",
        "Several notes that live have one key: each of two branches added one. What the key stands for is not clear.",
        "`memento note merge NOTE NOTE --key KEY --text TEXT`, or `memento note retire NOTE --reason WHY`",
    ),
    "N003": Kind(
        "notes that replace each other in a circle", "error",
        "Notes took each other's place in a circle, each half of which may have come from another branch: none of "
        "them lives.",
        "`memento note restore NOTE`, or take one of them out of `supersedes`.",
    ),
    "N004": Kind(
        "a note that replaces another on its own word", "error",
        "A note says that it supersedes another, and nothing happened to that one: it was written by hand, or the "
        "event was lost. Both are recalled.",
        "`memento note retire NOTE --reason WHY`, or take it out of `supersedes`.",
    ),
    "N005": Kind(
        "two live notes in the place of one", "warning",
        "Two branches put a note of their own in the place of the same one. That was settled, and both live.",
        "`memento note merge NOTE NOTE --text TEXT`, or `memento note retire NOTE --reason WHY`",
    ),
    "N006": Kind(
        "an origin that is too high", "error",
        "A note says that a person wrote it, and its author is an agent; or it was merged from notes of a lower "
        "origin. The lowest origin survives a merge.",
        "Put the lower origin into its front matter.",
    ),
    "N007": Kind(
        "a note that is too long", "warning",
        "A note is longer than a text that is typed may be: no reader is shown it as a whole.",
        "Make several notes of it.",
    ),
    "N008": Kind(
        "orders of a low origin", "warning",
        "A note that came from a command's output or an import reads as if it could give orders, and nobody promoted "
        "or confirmed it: it would have become a draft.",
        "Read it; `memento note confirm NOTE`, or `memento note retire NOTE --reason WHY`.",
    ),
    "N009": Kind(
        "a note on evidence that was taken back", "warning",
        "A note that lives rests on evidence that was retracted, and nobody confirmed it since.",
        "`memento note confirm NOTE` if it holds all the same, or `memento note retire NOTE --reason WHY`",
    ),
    "N010": Kind(
        "a merged note with other words", "warning",
        "A note was reworded on one branch and merged into another note on another branch: what took its place was "
        "written without these words, and nobody confirmed it since.",
        "Revise what took its place where it lacks some of them, then `memento note confirm NOTE`.",
    ),
}  # fmt: skip
