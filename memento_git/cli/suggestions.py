"""What a malformed command line was meant to be: the line to type next. Nothing of it is run, and nothing accepted."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any, Final, NamedTuple

import click

from memento_git.cli import synonyms
from memento_git.cli.copied_text import as_typed
from memento_git.cli.main import COMMANDS, memento
from memento_git.model.ids import ALPHABET, KINDS, LENGTH, LISTED, begins_an_id, kind_of
from memento_git.model.knowledge import NOTE_KINDS
from memento_git.texts.secrets import find_in_words

Words = tuple[str, ...]

CAPITALS: Final = re.compile(r"(?<![\w-])[A-Z]+(?![\w-])")
OTHERWISE: Final = ("key_prefix", "thread")  # options that name notes in the place of an id
MENDS: Final = 6
MOST: Final = 200  # words
LONGEST: Final = 200  # letters of a word
NEAR: Final = 0.7  # how like a word must be: below it, page is purge, and revert is report
SHORT: Final = re.compile(rf"(?=.*\d)(?=.*[a-z])[{ALPHABET}]{{3,{LENGTH}}}")  # the beginning of an id without its kind
REQUIRED: Final = "it is required."  # how help ends of an option that only the action asks for
WORDED: Final = ("text", "title", "goal", "body", "summary", "reason", "query")
TEXTS: Final = (*WORDED, "note", "label", "since")  # options whose value is typed alone, the likeliest first


class Reading(NamedTuple):
    """The command that words name, as far as they do: the words up to it, those after it, the names of its path."""

    command: click.Command
    context: click.Context
    head: Words
    rest: Words
    path: Words

    @property
    def verbs(self) -> list[str]:
        return self.command.list_commands(self.context) if isinstance(self.command, click.Group) else []


def told(error: click.ClickException, words: Sequence[str]) -> tuple[str, str]:
    """Return what is wrong with a command line, and the next step: the line that was meant, else where help is.

    Such a line says all that click's own guess at a word would.
    """
    if line := led_on(words):
        message = error.message if getattr(error, "possibilities", ()) else error.format_message()
        sought = next((LISTED[kind] for kind in LISTED if kind.upper() in CAPITALS.findall(line)), "")
        return message, f"{line}; to find it: {sought}" if sought else line
    found = _read(tuple(words))
    has = f" {' '.join(found.path)} has {', '.join(found.verbs)}." if found.path and found.rest and found.verbs else ""
    return f"{_guessed(error)}{has}", f"see {' '.join(('memento', *found.path))} --help"


def _guessed(error: click.ClickException) -> str:
    """Return click's message; of its guesses at a word only those that are as near as ours, the dashes aside."""
    typed = getattr(error, "option_name", None) or getattr(error, "command_name", None) or ""
    guesses: list[str] = getattr(error, "possibilities", None) or []
    guesses[:] = [one for one in guesses if _nearest(typed.strip("-"), [one.strip("-")])]
    return error.format_message()


def led_on(words: Sequence[str]) -> str:
    """Return the line that was likely meant; nothing where that is unknown, or must not be shown."""
    meant = next(_mended(as_typed(words), MENDS), ()) if len(words) <= MOST else ()
    fit = all(len(word) <= LONGEST and word.isprintable() for word in meant) and not find_in_words(meant)
    return shlex.join(("memento", *meant)) if fit and meant not in ((), tuple(words)) else ""


def _mended(words: Words, left: int) -> Iterator[Words]:
    """Yield the lines that words come to, the likeliest first: by other verbs, then by what the command takes."""
    found = _read(words)
    if not isinstance(found.command, click.Group):
        yield from _taken(found)
        if found.path == ("status",) and found.rest and begins_an_id(found.rest[0]):
            yield ("show", *found.rest)
        if found.path == ("diff",) and re.fullmatch(r"(?!-|.*\.\.|.* -)\S+ \S+", " ".join(found.rest)):
            yield (*found.head, "..".join(found.rest))
    elif not found.rest:
        yield found.head
    elif left:
        for other in _others(found):
            yield from _mended(other, left - 1)


def _read(words: Words) -> Reading:
    command: click.Command = memento
    context = click.Context(memento, **memento.context_settings)
    head: Words = ()
    path: Words = ()
    while isinstance(command, click.Group):
        after = _after_options(command, context, words)
        inner = command.get_command(context, after[0]) if after else None
        at = len(words) - len(after)
        if inner is None:
            return Reading(command, context, (*head, *words[:at]), after, path)
        head, path, words = (*head, *words[: at + 1]), (*path, after[0]), words[at + 1 :]
        command, context = inner, click.Context(inner, context, after[0])
    return Reading(command, context, head, words, path)


def _after_options(group: click.Group, context: click.Context, words: Words) -> Words:
    try:
        return tuple(group.make_parser(context).parse_args(list(words))[1])
    except click.UsageError:
        return words


# Another verb.


def _others(found: Reading) -> Iterator[Words]:
    """Yield what words may be meant as whose verb is none of the command's."""
    word, rest = found.rest[0], found.rest[1:]
    plain = word.lower().replace("_", "-")
    if begins_an_id(word) or " " in word or _is_option(word):
        is_own = found.path in ((), (kind_of(word),))
        making = ("list",) if _is_option(word) else ("show",) if is_own else synonyms.MAKING
        yield from ((*found.head, verb, *found.rest) for verb in making if verb in found.verbs)
        own = _renamed(found.command, found.rest, 0) if found.path and _is_option(word) else None
        yield (*found.head, *(own or (*found.rest[2:], *found.rest[:2])))
        return
    known = (synonyms.MEANT.get(" ".join((*found.path, one)), "") for one in dict.fromkeys((word, plain)))
    if plain != word and plain in found.verbs:
        yield (*found.head, plain, *rest)
    yield from ((*meant.split(), *rest) for meant in known if meant)
    if not found.path:
        yield from _at_root(found, plain)
    yield from ((*found.head, verb, *rest) for verb in _called(found.verbs, plain))
    if found.path == ("task",):  # the work on a task goes by its dispatch
        inner = _read(("dispatch",)).verbs
        yield from (("dispatch", verb, *rest) for verb in ([plain] if plain in inner else _called(inner, plain)))
    yield from ((*found.head, verb, *rest) for verb in get_close_matches(plain, found.verbs, cutoff=NEAR))
    if found.path == ("check",):
        yield from _compared(found)
    if found.path == ("code",) and re.search(r"[./]", word):
        yield (*found.head, "read", *found.rest)


def _compared(found: Reading) -> Iterator[Words]:
    """Yield what is checked against what, be it typed as a range, or as one revision after the other."""
    word, rest = found.rest[0], found.rest[1:]
    base, dots, head = word.partition("..")
    free = [option for option in ("--base", "--at") if option not in found.head]
    if found.head[-2:-1] == ("--diff",):
        yield (*found.head[:-1], f"{found.head[-1]}..{word}", *rest)
    elif word == "diff":
        yield (*found.head, "--diff", *rest)
    elif base and dots and "--base" in free:
        yield (*found.head, "--base", base, *(("--at", there) if (there := head.lstrip(".")) else ()), *rest)
    elif "." not in word and free:
        yield (*found.head, free[0], *found.rest)


def _at_root(found: Reading, plain: str) -> Iterator[Words]:
    """Yield what a word may be meant as that is no command: a noun, a verb before its noun or without it."""
    rest = found.rest[1:]
    if plain == "help":
        yield (*rest, "--help")
    if (kind := plain.removesuffix("s")) in NOTE_KINDS:
        yield (*found.head, "note", *(("list",) if plain != kind else ()), *rest, "--kind", kind)
    if noun := _noun(plain):
        yield (*found.head, noun, *rest)
    elif rest and (noun := _noun(rest[0])):
        yield (*found.head, noun, "list" if rest[0].endswith("s") else plain, *rest[1:])
    elif "-" in plain and any(map(_noun, plain.split("-"))):
        yield (*found.head, *plain.split("-"), *rest)
    else:
        named = [kind_of(one) for one in rest if begins_an_id(one)]
        inner = {noun: _read((noun,)).verbs for noun in dict.fromkeys((*filter(_noun, named), *synonyms.FIRST))}
        yield from ((*found.head, noun, plain, *rest) for noun in inner if plain in inner[noun])
        yield from ((*found.head, noun, verb, *rest) for noun in inner for verb in _called(inner[noun], plain))


def _nearest(word: str, known: Sequence[str]) -> list[str]:
    """Return the word of some that is near to another, or has its letters in another order; no short one is near."""
    return get_close_matches(word, known, 1, NEAR) or [one for one in known if sorted(one) == sorted(word)][:1]


def _is_option(word: str) -> bool:
    return word.startswith("-")


def _noun(word: str) -> str:
    single = word.lower().removesuffix("s")
    meant = next((noun for noun, others in synonyms.NOUNS.items() if single in others.split()), single)
    return meant if meant in COMMANDS and meant in (*synonyms.NOUNS, *synonyms.FIRST) else ""


def _called(verbs: Sequence[str], word: str) -> list[str]:
    """Return the verbs of a command that are called by a word elsewhere."""
    return [verb for verb, others in synonyms.VERBS.items() if verb in verbs and word in others.split()]


# What the command takes.


def _taken(found: Reading) -> Iterator[Words]:
    """Yield the line that a command takes, if its mistakes can be mended one after the other."""
    outer: Words = ()
    rest: Words | None = _parted(found.command, found.rest)
    for _ in range(MENDS):
        if rest is None:
            return
        if "--help" in rest:
            yield (*found.head, *rest)
            return
        try:
            given, extra, _order = found.command.make_parser(found.context).parse_args(list(rest))
        except click.NoSuchOption as error:
            at = next((number for number, word in enumerate(rest) if word.partition("=")[0] == error.option_name), None)
            if at is None:  # it is one of several letters
                return
            of_all = next((one for one in memento.params if error.option_name in one.opts), None)
            if of_all is None:
                rest = _renamed(found.command, rest, at)
            else:
                own = _with_value(of_all, rest[at:])
                outer, rest = (*outer, *own), (*rest[:at], *rest[at + len(own) :])
        except click.BadOptionUsage as error:
            rest = (*rest, _value(_named(found.command, error.option_name)))
        else:
            extra = extra or [word for word in _misplaced(found.command, given) if word in rest]
            if not extra:
                chosen = _fitting(found.command, given, rest)
                at = chosen.index("--") if "--" in chosen else len(chosen)
                yield (*outer, *found.head, *chosen[:at], *_lacking(found.command, given), *chosen[at:])
                return
            rest = _placed(found.command, given, rest, extra)


def _parted(command: click.Command, rest: Words) -> Words:
    """Put a placeholder where an option has another one, or nothing, for a value: a variable of the shell was empty."""
    end = rest.index("--") if "--" in rest else len(rest)
    named = {name: one for one in command.params for name in one.opts if name.startswith("--")}
    parted: list[str] = []
    for word in rest[:end]:
        before = named.get(parted[-1]) if parted else None
        if before is not None and not getattr(before, "is_flag", False) and (word in named or not word):
            parted.append(_value(before))
            if not word:
                continue
        parted.append(word)
    return (*parted, *rest[end:])


def _with_value(option: click.Parameter, rest: Words) -> Words:
    """Return an option that comes first, and its value, or a placeholder where it has none."""
    if getattr(option, "is_flag", False) or "=" in rest[0]:
        return rest[:1]
    return rest[:2] if rest[1:] else (*rest, _value(option))


def _renamed(command: click.Command, rest: Words, at: int) -> Words | None:
    """Give an option the name that it has here."""
    typed, _, value = rest[at].partition("=")
    before, after = rest[:at], (*filter(None, [value]), *rest[at + 1 :])
    bare = typed.lstrip("-").replace("_", "-").removesuffix("-id")
    bare = synonyms.LETTERS.get(bare, bare)
    if bare in ("format", "output") and after[:1] == ("json",):
        return (*before, "--json", *after[1:])
    if bare in synonyms.NOISE:
        return (*before, *after)
    alike = {word: None for line in synonyms.ALIKE if bare in line.split() for word in (bare, *line.split())}
    params = {name: one for one in command.params for name in _names(one)}
    near = [word for word in alike or {bare: None} if word in params] or _nearest(bare, [*params])
    name = next((word for word in near if _is_wanted(params[word])), "") or "".join(near[:1])
    if name:
        option = () if isinstance(params[name], click.Argument) else (f"--{name}",)
        return (*before, *option, *after)
    takes = next((one for one in command.params if bare in getattr(one.type, "choices", ())), None)
    if isinstance(takes, click.Option):
        return (*before, takes.opts[0], bare, *after)
    return (bare,) if takes and not (before or after) else None


def _placed(command: click.Command, given: dict[str, Any], rest: Words, extra: list[str]) -> Words | None:
    """Put a word that has no place where it has one: an id or a choice at its option, a text at the one for it."""
    word, *others = extra
    if "--" in rest:
        return None
    whole = next((at for at in range(len(rest)) if rest[at : at + len(extra)] == tuple(extra)), None)
    at = len(rest) - 1 - rest[::-1].index(word) if whole is None else whole
    free = [one for one in command.params if isinstance(one, click.Option) and not _has(given, one)]
    wanted = [one for one in free if _is_wanted(one)]
    records = [one for one in free if _asked(one) in KINDS]
    is_short = bool(SHORT.fullmatch(word)) and not (others or wanted) and len(records) == 1
    for option in free:
        takes = option.type.choices if isinstance(option.type, click.Choice) else ()
        if (
            word in takes
            or (is_short and option in records)
            or (begins_an_id(word) and {kind_of(word), "record"} & {*_names(option)})
        ):
            return (*rest[:at], *rest[at + 1 :], option.opts[0], word)
    if begins_an_id(word):
        return None
    end = at if whole is None or " " in "".join(extra) else at + len(others)
    text = " ".join(rest[at : end + 1])
    if at and " " not in "".join(extra) and _is_text(command, given, rest[at - 1]):
        return (*rest[: at - 1], f"{rest[at - 1]} {text}", *rest[end + 1 :])
    named = {name: one for one in free for name in _names(one)}
    for option in (*wanted, *(named[name] for name in TEXTS if name in named)):
        if option.metavar in (None, "TEXT", "WHEN") or (_asked(option) == "who" and " " not in text):
            return (*rest[:at], *rest[end + 1 :], option.opts[0], text)
    return None


def _misplaced(command: click.Command, given: dict[str, Any]) -> list[str]:
    """Return a text that was taken for a record's id."""
    values = [given.get(str(one.name)) for one in command.params if _asked(one) in KINDS]
    return [value for value in values if isinstance(value, str) and " " in value]


def _is_text(command: click.Command, given: dict[str, Any], word: str) -> bool:
    """Tell whether a word was taken as a text, of which more words may have come after it."""
    values = [given.get(str(one.name)) for one in command.params if _asked(one) in WORDED]
    return any(word == value or (isinstance(value, list | tuple) and word in value) for value in values)


def _asked(param: click.Parameter) -> str:
    return str(param.metavar or param.human_readable_name).strip("[].").lower()


def _fitting(command: click.Command, given: dict[str, Any], rest: Words) -> Words:
    """Put what is near in the place of a word that is none of a choice, and a placeholder in that of another's id."""
    for param in command.params:
        value = given.get(str(param.name))
        if not isinstance(value, str) or value not in rest:
            continue
        kind = _asked(param)
        if isinstance(param.type, click.Choice) and value not in param.type.choices:
            right = _near(value, [*param.type.choices]) or _value(param)
        elif kind in KINDS and begins_an_id(value) and kind_of(value) != kind:
            right = _value(param)
        else:
            continue
        at = len(rest) - 1 - rest[::-1].index(value)
        rest = (*rest[:at], right, *rest[at + 1 :])
    return rest


def _near(word: str, known: list[str]) -> str:
    """Return the word of some that another means; nothing where none is known."""
    plain = word.lower().replace("-", "_")
    begun = [one for one in known if one.startswith(plain)]
    called = [one for one in known if plain in synonyms.VERBS.get(one.removesuffix("d"), "").split()]
    return next(iter((*begun, *called, *get_close_matches(plain, known))), "")


def _lacking(command: click.Command, given: dict[str, Any]) -> Iterator[str]:
    """Yield placeholders for what a command asks for and was not given."""
    for param in command.params:
        if (_is_wanted(param) or _is_meant(param, given)) and not _has(given, param):
            yield from (_value(param),) if isinstance(param, click.Argument) else (param.opts[0], _value(param))


def _is_wanted(param: click.Parameter) -> bool:
    return param.required or str(getattr(param, "help", None)).endswith(REQUIRED)


def _is_meant(param: click.Parameter, given: dict[str, Any]) -> bool:
    """Tell whether an id is wanted that may be left out where an option names the records: none of those is given."""
    is_named = any(given.get(name) for name in OTHERWISE)
    return not is_named and isinstance(param, click.Argument) and (param.metavar or "").lower() in KINDS


def _has(given: dict[str, Any], param: click.Parameter) -> bool:
    value = given.get(str(param.name))
    return value is not None and value != () and not param.value_is_missing(value)


def _names(param: click.Parameter) -> list[str]:
    if isinstance(param, click.Option):
        return [name.lstrip("-") for name in param.opts if name.startswith("--")]
    return [str(param.name).removesuffix("_id"), "id"]


def _named(command: click.Command, typed: str) -> click.Parameter:
    return next(one for one in command.params if typed in (*one.opts, *one.secondary_opts))


def _value(param: click.Parameter) -> str:
    """Return the word in capitals that stands for a value."""
    metavar = (param.metavar or "").strip("[]")
    return metavar if metavar.isupper() else str(param.name).removesuffix("_id").upper().replace("_", "-")
