"""Shell text as the calls that it holds, read by tree-sitter's grammar of bash; nothing is ever run."""

from __future__ import annotations

import codecs
import functools
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

UNKNOWN: Final = "\ufffc"
"""Stands in a word for what only a running shell would know."""

LONGEST: Final = 16 * 1024
MOST_CALLS: Final = 2000
DEEPEST: Final = 4
MOST_LETTERS: Final = 1000
MOST_WORDS: Final = 64
MOST_FEEDERS: Final = 4
EXPANSIONS: Final = ("simple_expansion", "expansion", "command_substitution", "process_substitution")
HERE: Final = ("$(pwd)", "`pwd`", "$(git rev-parse --show-toplevel)", "`git rev-parse --show-toplevel`")
REDIRECTS: Final = ("file_redirect", "heredoc_redirect", "herestring_redirect")
SHELLS_OWN: Final = frozenset({"&&", "||", ";", "&", "|", "|&", "variable_assignment", *REDIRECTS, *EXPANSIONS})
SIGNS: Final = re.compile(r"[;&|<>$`=]")
WRITING: Final = re.compile(r"^\d*(?:&>>?|>>|>\||>&|>)")
PLAIN: Final = bytes(range(128)) + b"." * 128
"""Each byte of a letter beyond ASCII as a dot, which is as little of an operator or a name to a shell."""


class TooMuch(Exception):
    """The text is longer, or holds more, than is judged."""


class Call(NamedTuple):
    """One command as the shell would see it: words, files written by redirection, its literal input, its feeders."""

    words: tuple[str, ...]
    source: str
    line: int = 1
    writes: tuple[str, ...] = ()
    input: str | None = None
    before: tuple[Call, ...] = ()
    within: tuple[str, ...] = ()

    def only(self, *words: str) -> Call:
        """Return the same call for other words."""
        return self._replace(words=words)


class Script(NamedTuple):
    """The calls of a text in its order, functions that start themselves twice, and whether all of it was understood."""

    calls: list[Call]
    bombs: list[str]
    whole: bool


def read(text: str) -> Script:
    """Return what a shell text would call; refuse by TooMuch what is too long to be judged.

    The grammar sees no letter beyond ASCII: one after a brace can end the process (tree-sitter-bash 337).
    """
    data = text.replace("\0", "").replace("\r\n", "\n").encode(errors="replace")
    if len(data) > LONGEST:
        raise TooMuch
    root = _parser().parse(data.translate(PLAIN)).root_node
    reader = _Reader(data)
    reader.walk(root)
    return Script(reader.calls, reader.bombs, not root.has_error)


def for_shell_alone(text: str) -> str:
    """Return the first part of a command line that means something to a shell alone; nothing where there is none."""
    data = text.encode()
    if len(data) > LONGEST:
        raise TooMuch
    waiting = [_parser().parse(data.translate(PLAIN)).root_node] if SIGNS.search(text) else []
    while waiting:
        node = waiting.pop()
        if node.type in SHELLS_OWN:
            return data[node.start_byte : node.end_byte].decode(errors="replace")
        waiting += reversed(node.children)
    return ""


@functools.cache
def _parser() -> Any:
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


class _Around(NamedTuple):
    """What surrounds a node: the commands before it in its pipeline, the redirections that apply to it."""

    before: tuple[Any, ...] = ()
    redirects: tuple[Any, ...] = ()


def _apart(node: Any) -> tuple[tuple[Any, ...], list[Any]]:
    """Return the redirections among what a node holds, and the rest."""
    children = node.named_children
    redirects = tuple(child for child in children if child.type in REDIRECTS)
    return redirects, [child for child in children if child.type not in REDIRECTS]


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.calls: list[Call] = []
        self.bombs: list[str] = []
        self.known: dict[str, str] = {"HOME": "~", "PWD": "."}

    def text(self, node: Any) -> str:
        return self.data[node.start_byte : node.end_byte].decode(errors="replace")

    def walk(self, root: Any) -> None:
        waiting = [(root, _Around())]
        while waiting:
            node, around = waiting.pop()
            if node.type == "command" or (
                node.type == "redirected_statement" and node.named_children[0].type in REDIRECTS
            ):
                self.calls.append(self.call(node, around))
                if len(self.calls) > MOST_CALLS:
                    raise TooMuch
            elif node.type == "variable_assignment":
                self._assign(node)
            elif node.type == "function_definition":
                self._bomb(node)
            waiting += reversed(list(self._children(node, around)))

    def _children(self, node: Any, around: _Around) -> Iterator[tuple[Any, _Around]]:
        """Yield what a node holds, each with what surrounds it."""
        children = node.named_children
        if node.type == "pipeline":
            for number, child in enumerate(children):
                yield child, around._replace(before=(*around.before, *children[max(0, number - MOST_FEEDERS) : number]))
        elif node.type == "redirected_statement":
            redirects, bodies = _apart(node)
            for child in bodies:
                yield child, around._replace(redirects=(*around.redirects, *redirects))
            for child in redirects:
                yield child, _Around(before=(node,))
        else:
            passed = (
                around
                if node.type in ("negated_command", "subshell", "compound_statement", "heredoc_redirect")
                else _Around()
            )
            for child in children:
                yield child, passed

    def call(self, node: Any, around: _Around, depth: int = 0) -> Call:
        """Return a command's call."""
        own, bodies = _apart(node)
        redirects = [*around.redirects, *own]
        parts = [child for child in bodies if child.type != "variable_assignment"]
        words = [word for part in parts for word in self.words(part, depth)] if node.type == "command" else []
        fed = [self._feeder(one, depth) for one in around.before] if depth < DEEPEST else []
        read = [self._input(one, depth) for one in reversed(redirects)]
        return Call(
            tuple(words[:MOST_CALLS]), self.text(node)[:MOST_LETTERS], node.start_point[0] + 1,
            tuple(word for one in redirects for word in self._written(one, depth)),
            next((text for text in read if text is not None), None),
            tuple(one for one in fed if one is not None),
            tuple(name for part in parts for name in self._called_within(part)),
        )  # fmt: skip

    def _feeder(self, node: Any, depth: int) -> Call | None:
        if node.type == "redirected_statement":
            redirects, bodies = _apart(node)
            return self.call(bodies[0], _Around(redirects=redirects), depth + 1) if bodies else None
        return (
            self.call(node, _Around(), depth + 1) if node.type == "command" else Call((UNKNOWN,), self.text(node)[:80])
        )

    def words(self, node: Any, depth: int = 0) -> list[str]:
        """Return the words that one node becomes: several where an unquoted variable or braces expand."""
        if node.type == "command_name":
            node = node.named_children[0] if node.named_children else node
        value = self.value(node, depth)
        if node.type in EXPANSIONS and UNKNOWN not in value:
            return value.split()
        if node.type in ("word", "concatenation") and "{" in value:
            return list(_braces(value))
        return [value]

    def value(self, node: Any, depth: int = 0) -> str:
        """Return a word without its quotes, with what is not known marked."""
        kind, text = node.type, self.text(node)
        if kind == "raw_string":
            return text[1:-1]
        if kind == "ansi_c_string":
            return _escaped(text[2:-1])
        if kind in EXPANSIONS:
            return self._expanded(node, kind, text, depth)
        if kind in ("string", "concatenation", "translated_string"):
            return self._joined(node, depth)
        if kind == "arithmetic_expansion":
            return UNKNOWN
        return re.sub(r"\\(\n?)(.?)", r"\2", text, flags=re.DOTALL) if "\\" in text else text

    def _joined(self, node: Any, depth: int) -> str:
        """Return the text of a node whose children are pieces; between them it stands for itself."""
        quoted = node.type == "string"
        at, end = (node.start_byte + 1, node.end_byte - 1) if quoted else (node.start_byte, node.end_byte)
        if node.type == "translated_string":
            at += 1
        parts: list[str] = []
        for child in node.named_children:
            if child.type == "string_content":
                continue
            parts.append(self.data[at : child.start_byte].decode(errors="replace"))
            parts.append("" if depth >= DEEPEST else self.value(child, depth + 1))
            at = child.end_byte
        parts.append(self.data[at:end].decode(errors="replace"))
        if quoted:
            parts[::2] = [re.sub(r"\\([\\\"$`\n])", lambda found: found[1].strip("\n"), part) for part in parts[::2]]
        return "".join(parts)

    def _expanded(self, node: Any, kind: str, text: str, depth: int) -> str:
        if text in HERE:
            return "."
        if kind == "command_substitution" and depth < DEEPEST and len(node.named_children) == 1:
            inner = node.named_children[0]
            said = spoken(self.call(inner, _Around(), depth + 1)) if inner.type == "command" else None
            return UNKNOWN if said is None else said.strip()
        found = re.fullmatch(r"\$(?:\{(\w+)\}|(\w+))", text)
        return self.known.get(found[1] or found[2], UNKNOWN) if found else UNKNOWN

    def _assign(self, node: Any) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        said = self.value(value) if value is not None else ""
        usable = len(said) <= MOST_LETTERS and UNKNOWN not in said
        if name is not None and usable:
            self.known[self.text(name)] = said
        elif name is not None:
            self.known.pop(self.text(name), None)

    def _written(self, node: Any, depth: int) -> list[str]:
        target = node.child_by_field_name("destination")
        if node.type != "file_redirect" or target is None or not WRITING.match(self.text(node)):
            return []
        return self.words(target, depth)

    def _input(self, node: Any, depth: int) -> str | None:
        if node.type == "herestring_redirect" and node.named_children:
            return self.value(node.named_children[-1], depth)
        body = next((child for child in node.named_children if child.type == "heredoc_body"), None)
        return None if body is None or node.type != "heredoc_redirect" else self.text(body)

    def _called_within(self, node: Any) -> Iterator[str]:
        """Yield the names of the programs in a word's substitutions."""
        waiting, seen = [node], 0
        while waiting and seen < MOST_WORDS:
            seen += 1
            one = waiting.pop()
            if one.type == "command_name" and one is not node:
                yield self.text(one)
            waiting += one.named_children

    def _bomb(self, node: Any) -> None:
        """Notice a function that starts itself more than once, or in the background."""
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is None or body is None:
            return
        own, calls, waiting = self.text(name), 0, [body]
        while waiting:
            one = waiting.pop()
            calls += one.type == "command_name" and self.text(one) == own
            waiting += one.named_children
        if calls > 1 or (calls and "&" in self.text(body).replace("&&", "")):
            self.bombs.append(self.text(node)[:MOST_LETTERS])


def roughly(text: str) -> list[Call]:
    """Return the calls of a text that the grammar did not understand, by words and operators alone."""
    import shlex

    calls: list[Call] = []
    for number, line in enumerate(text.split("\n"), 1):
        lexer = shlex.shlex(line, posix=True, punctuation_chars="();<>|&`")
        lexer.whitespace_split = True
        lexer.commenters = ""
        words: list[str] = []
        try:
            parts = [*lexer, ";"]
        except ValueError:
            parts = [*line.replace("'", " ").replace('"', " ").split(), ";"]
        for part in parts:
            if set(part) <= set("();<>|&`{}"):
                calls += [Call(tuple(words), line[:MOST_LETTERS], number)] if words else []
                words = []
            else:
                words.append(part)
    return calls[:MOST_CALLS]


def spoken(call: Call) -> str | None:
    """Return what a call prints, where its words say it: echo, printf, and cat of a literal input."""
    name = call.words[0] if call.words else ""
    if name in ("echo", "printf") and UNKNOWN not in "".join(call.words):
        said = " ".join(word for word in call.words[1:] if not re.fullmatch(r"-[neE]+", word))
        return codecs.decode(said.encode("latin-1", "replace"), "unicode_escape") if "\\n" in said else said
    return call.input if name == "cat" and len(call.words) == 1 else None


def _escaped(text: str) -> str:
    """Return the text of a $'…' string."""

    def letter(found: re.Match[str]) -> str:
        if found[1]:
            return chr(int(found[1], 16) % 0x110000)
        return chr(int(found[2], 8)) if found[2] else {"n": "\n", "t": "\t"}.get(found[3], found[3])

    return re.sub(r"\\(?:(?:x|u|U)([0-9a-fA-F]{1,6})|([0-7]{1,3})|(.))", letter, text, flags=re.DOTALL)


def _braces(word: str) -> Iterator[str]:
    """Yield the words that `{a,b}` makes of one, so far as they are few."""
    waiting, made = [word], 0
    while waiting:
        one = waiting.pop(0)
        found = re.search(r"\{([^{}]*,[^{}]*)\}", one)
        if found is None or made >= MOST_WORDS:
            yield one
            continue
        for part in found[1].split(",")[:MOST_WORDS]:
            made += 1
            waiting.append(one[: found.start()] + part + one[found.end() :])
