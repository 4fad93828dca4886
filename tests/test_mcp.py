"""memento mcp, asked by a real client of the protocol over the standard streams of a real process."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pytest
from jsonschema import Draft202012Validator
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp_types import Implementation, TextContent

from memento_git.cli import tools
from memento_git.knowledge.actions import notes
from memento_git.ledger.store import Ledger
from memento_git.work.actions import plans
from memento_git.work.actions.setup import init_ledger
from tests.play import add, git

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine
    from pathlib import Path

    from tests.play import Play

MOST: Final = 13_500
SECRET: Final = "AKIA" + "QYLPMN5HFIQR7XYA"


class Answer(NamedTuple):
    failed: bool
    text: str


class Asked:
    """A client with a short way to call."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def __call__(self, tool: str, **given: Any) -> Answer:
        result = await self.client.call_tool(tool, given)
        (content,) = result.content
        assert isinstance(content, TextContent)
        return Answer(bool(result.is_error), content.text)


@asynccontextmanager
async def asking(
    root: Path, *options: str, name: str = "tester", mode: str = "auto", env: dict[str, str] | None = None
) -> AsyncIterator[Asked]:
    """Let a client start the server of a repository, as clients do."""
    sealed = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", **(env or {})}
    words = ["-m", "memento_git", "-C", str(root), "mcp", *options]
    started = StdioServerParameters(command=sys.executable, args=words, env=sealed)
    async with Client(started, client_info=Implementation(name=name, version="1"), mode=mode) as client:
        yield Asked(client)


@pytest.fixture
def root(play: Play) -> Path:
    """A ledger whose git knows who commits."""
    git(play.root, "config", "user.name", "Ada")
    git(play.root, "config", "user.email", "ada@example.invalid")
    return play.root


def within(root: Path, act: Callable[[Asked], Coroutine[Any, Any, Any]], *options: str, **how: Any) -> Any:
    async def go() -> Any:
        async with asking(root, *options, **how) as ask:
            return await act(ask)

    return asyncio.run(go())


def as_it_is(root: Path) -> tuple[str, str, str]:
    return git(root, "rev-parse", "HEAD"), git(root, "status", "--porcelain"), git(root, "for-each-ref")


def test_there_are_ten_tools_which_say_what_they_may_do_and_cost_a_client_little(root: Path) -> None:
    async def act(ask: Asked) -> None:
        listed = (await ask.client.list_tools()).tools
        assert [one.name for one in listed] == [*tools.TOOLS]
        assert len(listed) == 10
        hints = {one.name: one.annotations for one in listed}
        assert {name for name, one in hints.items() if one and one.read_only_hint} == {
            "recall", "show", "changes", "code", "check",
        }  # fmt: skip
        assert {name for name, one in hints.items() if one and one.destructive_hint} == {"work"}
        assert sum(len(one.model_dump_json(by_alias=True, exclude_none=True)) for one in listed) < MOST
        for one in listed:
            Draft202012Validator.check_schema(one.input_schema)
            assert one.input_schema["additionalProperties"] is False

    within(root, act)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_of_either_generation_asks_keeps_and_hands_over(root: Path, mode: str) -> None:
    async def act(ask: Asked) -> None:
        assert "begins" in (await ask("session", op="start")).text
        kept = await ask(
            "remember", text="Tokens live an hour.", kind="decision", about=["app.py:1"], key="auth.tokens"
        )
        assert kept.text.startswith("kept: note_")
        found = await ask("recall", queries=["how long do tokens live?"])
        assert "  | Tokens live an hour." in found.text
        assert "by an agent" in found.text
        assert (await ask("code", place="app.py")).text.count("| Tokens live an hour.") == 1
        done = await ask("session", op="end", summary="Tokens are decided.", remaining=["tests"])
        assert done.text.startswith("handed over: note_")

    within(root, act, mode=mode)
    assert git(root, "log", "-1", "--format=%(trailers:key=Memento-Actor,valueonly)").strip() == "agent:tester"
    assert git(root, "status", "--porcelain") == ""


@pytest.mark.parametrize(
    ("options", "env", "client", "actor"),
    [
        ((), {}, "Claude Code (beta)", "agent:Claude-Code-beta"),
        ((), {}, "\n", "agent:mcp"),
        ((), {"MEMENTO_ACTOR": "agent:named"}, "tester", "agent:named"),
        ((), {"MEMENTO_ACTOR": "Ada"}, "tester", "agent:tester"),
        (("--actor", "Ada"), {}, "tester", "Ada"),
        (("--actor", "agent:told"), {"MEMENTO_ACTOR": "agent:named"}, "tester", "agent:told"),
    ],
)
def test_who_acts_is_said_by_whoever_starts_the_server_and_by_no_call(
    root: Path, options: tuple[str, ...], env: dict[str, str], client: str, actor: str
) -> None:
    async def act(ask: Asked) -> None:
        assert (await ask("remember", text="Times are UTC.", actor="Ada")).failed
        assert not (await ask("remember", text="Times are UTC.")).failed

    within(root, act, *options, name=client, env=env)
    assert git(root, "log", "-1", "--format=%(trailers:key=Memento-Actor,valueonly)").strip() == actor


def scene(play: Play) -> dict[str, str]:
    """Make what the calls of the next tests are about."""
    made = {
        name: add(play, text, thread="auth", key=f"auth.{name}")
        for name, text in (
            ("id", "Tokens live an hour."), ("parked", "Sessions were tried."), ("retired", "Tokens live a day."),
            ("double", "An hour is the life of tokens."),
        )
    }  # fmt: skip
    made["question"] = add(play, "How long?", kind="question")
    made["goal"] = add(play, "All of it.", kind="goal")
    made["medium"] = add(play, "For a while.", tier="medium")
    play.do(notes.park_note, made["parked"], reason="a dead end")
    play.do(notes.retire_note, made["retired"], reason="no")
    play.run()
    made["task"] = play.task()
    return made


def reading(made: dict[str, str]) -> list[tuple[str, dict[str, Any]]]:
    """Return a call of each op of the tools that read."""
    return [
        ("recall", {"queries": ["tokens"], "limit": 3, "has_anchor": False}),
        ("show", {"id": made["id"]}), ("show", {}), ("show", {"op": "status", "limit": 5}),
        ("show", {"op": "record", "id": "auth.id", "what": "graph", "depth": 1, "rel": ["relates_to"]}),
        ("show", {"op": "brief", "id": made["task"]}), ("show", {"op": "tasks", "ready": True}),
        ("show", {"op": "log", "who": "Ada"}), ("show", {"op": "diff", "range": "HEAD~2..HEAD"}),
        ("show", {"op": "report", "chat": True}), ("show", {"do": "task add"}),
        ("show", {"op": "keys", "do": "archive"}),
        ("changes", {"since": "HEAD~2"}),
        ("code", {"op": "read", "place": "app.py:1"}), ("code", {"op": "ls"}), ("code", {"op": "map"}),
        ("code", {"op": "grep", "regex": "-*answer", "ignore_case": True}), ("code", {"op": "coverage"}),
        ("check", {}), ("check", {"op": "ledger", "base": "HEAD~1"}), ("check", {"op": "anchors", "work_tree": True}),
        ("check", {"op": "impact", "id": made["id"]}), ("check", {"op": "diff", "diff": "HEAD~1..HEAD"}),
        ("check", {"op": "duplicates"}), ("check", {"op": "conflicts"}), ("check", {"op": "expired"}),
        ("check", {"op": "usage"}),
    ]  # fmt: skip


def writing(made: dict[str, str]) -> list[tuple[str, dict[str, Any]]]:
    """Return a call of each op of the tools that write."""
    note = made["id"]
    return [
        ("remember", {"text": "Signed tokens.", "key": "auth.signed", "pinned": True, "importance": 0.9}),
        ("revise", {"op": "revise", "id": note, "text": "Tokens live one hour.", "tag": ["tokens"], "clear": ["key"]}),
        ("revise", {"op": "confirm", "id": note}),
        ("revise", {"op": "link", "id": note, "rel": "relates_to", "to": made["goal"], "reason": "both"}),
        ("revise", {"op": "unlink", "id": note, "rel": "relates_to", "to": made["goal"], "reason": "no"}),
        ("revise", {"op": "park", "thread": "auth", "reason": "later"}), ("revise", {"op": "resume", "thread": "auth"}),
        ("revise", {"op": "retire", "key_prefix": "auth", "reason": "no", "dry_run": True}),
        ("revise", {"op": "restore", "id": made["retired"], "reason": "yes"}),
        ("revise", {"op": "resolve", "id": made["question"], "answer": note}),
        ("revise", {"op": "progress", "id": made["goal"], "text": "@half", "next": "the rest"}),
        ("revise", {"op": "finish", "id": made["goal"]}), ("revise", {"op": "promote", "id": made["medium"]}),
        ("revise", {"op": "merge", "notes": [note, made["double"]], "text": "One hour.", "reason": "the same"}),
        ("session", {"op": "start", "label": "here"}), ("session", {"op": "status"}),
        ("session", {"op": "checkpoint", "label": "half", "done": ["a"], "remaining": ["b"]}),
        ("session", {"op": "promote"}), ("session", {"op": "mark", "name": "now", "message": "here"}),
        ("session", {"op": "end", "summary": "Done.", "rating": 0.5, "request": ["more"]}),
        ("recipe", {"op": "list"}), ("recipe", {"op": "show", "name": "drift-check"}),
        ("recipe", {"op": "run", "name": "issue-cluster", "values": ["topic=tokens"]}),
        ("recipe", {"op": "learn", "thread": "auth", "dry_run": True}),
        ("work", {"verbs": [{"do": "task add", "title": "More", "as": "more"}, {"do": "task block", "task": "$more",
                                                                               "reason": "not now"}]}),
    ]  # fmt: skip


def test_every_op_of_every_tool_does_its_work_and_those_that_read_write_nothing(root: Path, play: Play) -> None:
    made = scene(play)
    calls = [(name, given.get("op")) for name, given in (*reading(made), *writing(made))]
    several = [(name, op) for name, tool in tools.TOOLS.items() for op in tool.ops if len(tool.ops) > 1]
    assert {*several} <= {*calls}
    assert {*tools.TOOLS} == {name for name, _ in calls}

    async def act(ask: Asked) -> None:
        before = as_it_is(root)
        for name, given in reading(made):
            told = await ask(name, **given)
            assert not told.failed, (name, given, told.text)
            assert as_it_is(root) == before, (name, given)
        for name, given in writing(made):
            told = await ask(name, **given)
            assert not told.failed, (name, given, told.text)
            assert git(root, "status", "--porcelain") == "", (name, given)
        assert "@half" in (await ask("show", id=made["goal"])).text

    within(root, act)


def test_a_text_is_itself_and_never_a_file_an_option_or_standard_input(root: Path, tmp_path: Path) -> None:
    (tmp_path / "private").write_text("what nobody asked for\n")
    texts = [f"@{tmp_path / 'private'}", "@@twice", "-", "--kind=lesson", "-h", "$HOME; rm -rf *", "a\nb"]

    async def act(ask: Asked) -> None:
        for text in texts:
            told = await ask("remember", text=text)
            assert not told.failed, told.text
            (kept,) = (word for word in told.text.split() if word.startswith("note_"))
            shown = (await ask("show", id=kept, what="entry")).text
            assert all(line in shown for line in text.splitlines())
            assert "what nobody asked for" not in shown

    within(root, act)


REFUSED: Final[list[tuple[str, dict[str, Any], str]]] = [
    ("remember", {"txt": "a"}, "remember: it takes no 'txt', but text [tool_arguments_invalid]"),
    ("recall", {"query": "a"}, "recall: it takes no 'query', but queries [tool_arguments_invalid]"),
    ("recall", {"queries": "a", "": "b"}, "recall: it takes no '' [tool_arguments_invalid]"),
    ("remember", {}, "remember: text is missing [tool_arguments_invalid]"),
    ("remember", {"text": True}, "remember: text: one text or number is expected [tool_arguments_invalid]"),
    ("remember", {"text": "a", "tag": [["b"]]}, "tag: a list of texts is expected [tool_arguments_invalid]"),
    ("remember", {"text": "a", "pinned": "yes"}, "pinned: true or false is expected [tool_arguments_invalid]"),
    ("remember", {"text": "a", "project": "."}, "it takes no 'project'"),
    ("remember", {"text": "a", "kind": "thought"}, "'thought' is not one of"),
    ("remember", {"text": f"The key is {SECRET}."}, "[secret_found]"),
    ("remember", {"text": "a", "allow_secret": ["aws-access-key"]}, "it takes no 'allow_secret'"),
    ("session", {}, "session: op is missing [tool_arguments_invalid]\n next: it takes: op start, status"),
    ("session", {"op": "stop"}, "session: there is no op 'stop' [tool_arguments_invalid]"),
    ("show", {"op": "keys"}, "show keys: do is missing [tool_arguments_invalid]"),
    ("check", {"op": "diff"}, "check diff: diff is missing [tool_arguments_invalid]"),
    ("check", {"base": "main\0"}, "[revision_not_found]"),
    ("show", {"do": "all"}, "all: the verbs of a list are run start, run pause,"),
    ("revise", {"op": "confirm", "id": "note_zzzz"}, "[note_not_found]"),
    ("revise", {"op": ["confirm"]}, "there is no op ['confirm']"),
    ("show", {"id": "run_zzzz"}, "[run_not_found]"),
    ("code", {"place": "../../etc/passwd"}, "[code_unreadable]"),
    ("recall", {"queries": ["a"], "as_of": "nowhere"}, "[point_unknown]"),
    ("work", {"verbs": [{"do": "note add", "text": "a"}, {"do": "evidence run"}]}, "a list runs no commands"),
    ("work", {"verbs": "task add"}, "a list of verbs is expected"),
    ("work", {"verbs": [{"do": "evidence add", "files": ["/etc/passwd"]}]}, "error: "),
]


def test_what_cannot_be_is_refused_with_its_token_and_changes_nothing(root: Path) -> None:
    before = as_it_is(root)

    async def act(ask: Asked) -> None:
        for tool, given, told in REFUSED:
            answer = await ask(tool, **given)
            assert answer.failed, (tool, given)
            assert told in answer.text
            assert SECRET not in answer.text
            assert as_it_is(root) == before, (tool, given)
        with pytest.raises(MCPError, match="there is no tool 'forget'"):
            await ask("forget")

    within(root, act)


def test_a_record_alone_is_shown_and_not_what_happened_to_it(root: Path, play: Play) -> None:
    note = add(play, "The port is 80.")

    async def act(client: Asked) -> None:
        shown = await client("show", id=note)
        assert (await client("show", record=note), shown.failed) == (shown, False)
        assert await client("show", record=note, who="Ada") != shown

    within(root, act)


def test_what_is_null_is_left_out_and_what_is_empty_is_not(root: Path) -> None:
    async def act(ask: Asked) -> None:
        assert not (await ask("recall", queries=["tokens"], limit=5.0, kind=None)).failed
        assert not (await ask("recall", queries=None)).failed
        told = await ask("work", verbs=[{"do": "note add", "text": "A fact.", "title": None, "as": None}])
        assert not told.failed, told.text
        assert "null" not in (await ask("show", id=told.text.split()[-1], what="entry")).text
        assert "option 'text' is missing" in (await ask("work", verbs=[{"do": "note add", "text": None}])).text
        listed = [None, {"do": "note add", "text": "Another.", "tags": ["one", None]}]
        told = await ask("work", verbs=listed)
        assert "null" not in (await ask("show", id=told.text.split()[-1], what="entry")).text
        assert not (await ask("remember", text="A guess.", draft=True)).failed
        assert (await ask("session", op="promote", drafts=[""])).failed
        assert (await ask("remember", text="")).failed
        empty = await ask("show", op="status", run="")
        assert (empty.failed, "show status: run: it is empty: leave it out" in empty.text) == (True, True)
        assert "A guess." in (await ask("session", op="status")).text
        assert "A guess." not in git(root, "log", "-1", "-p")

    within(root, act)


def test_no_file_is_imported_for_a_client_from_the_repository_or_elsewhere(root: Path, tmp_path: Path) -> None:
    (tmp_path / "check.json").write_text('{"name": "unit", "status": "completed", "conclusion": "success"}')
    kept = tmp_path / "kept"
    words = ["evidence", "run", "--kind", "test", "--out", str(kept), "--", "true"]
    subprocess.run([sys.executable, "-m", "memento_git", "-C", str(root), *words], check=True, capture_output=True)
    begun = {"do": "run start", "goal": "More"}
    before = as_it_is(root)

    async def act(ask: Asked) -> None:
        for verb in (
            {"do": "evidence check", "file": str(tmp_path / "check.json")}, {"do": "evidence add", "from": str(kept)},
            {"do": "evidence add", "from-": str(kept)},
        ):  # fmt: skip
            told = await ask("work", verbs=[begun, verb])
            assert told.failed
            assert "no file is imported here" in told.text
            assert as_it_is(root) == before

    within(root, act)


@pytest.mark.parametrize("tool", [*tools.TOOLS])
def test_what_a_tool_takes_in_these_tests_is_what_its_schema_allows(play: Play, tool: str) -> None:
    made = scene(play)
    allows = Draft202012Validator(tools.schema(tool))
    for name, given in (*reading(made), *writing(made)):
        if name == tool:
            assert not [*allows.iter_errors(given)], given


def test_findings_are_an_answer_and_no_failure(root: Path) -> None:
    (root / ".memento" / "stray.txt").write_text("here\n")
    git(root, "add", ".memento/stray.txt")
    git(root, "commit", "-qm", "stray")

    async def act(ask: Asked) -> None:
        found = await ask("check")
        assert (found.failed, "L001" in found.text or "stray.txt" in found.text) == (False, True)

    within(root, act)


def test_open_work_of_the_user_stays_as_it_is(root: Path) -> None:
    (root / "app.py").write_text("answer = 43\n")
    git(root, "add", "app.py")
    (root / "app.py").write_text("answer = 44\n")
    (root / "new.txt").write_text("new\n")
    before = git(root, "status", "--porcelain"), git(root, "diff", "--cached"), git(root, "diff")

    async def act(ask: Asked) -> None:
        assert not (await ask("remember", text="Times are UTC.", about=["app.py"])).failed
        assert not (await ask("work", verbs=[{"do": "run start", "goal": "More"}])).failed

    within(root, act)
    assert (git(root, "status", "--porcelain"), git(root, "diff", "--cached"), git(root, "diff")) == before


def test_nothing_is_signed_for_a_client(root: Path, play: Play, tmp_path: Path) -> None:
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    play.run()
    plan = play.do(plans.draft_plan, "Plan", "Do it, show it.")
    before = as_it_is(root)

    async def act(ask: Asked) -> None:
        for named in (str(key), str(tmp_path / "none"), ""):
            told = await ask("work", verbs=[{"do": "plan approve", "plan": plan, "sign": True, "key": named}])
            assert told.failed
            assert "[signing_withheld]" in told.text

    within(root, act)
    assert as_it_is(root) == before


def test_calls_of_several_clients_at_once_all_land(root: Path) -> None:
    async def go() -> None:
        async with asking(root, name="one") as one, asking(root, name="two") as two:
            told = await asyncio.gather(
                *(ask("remember", text=f"Fact {at} of {at}.") for at in range(6) for ask in (one, two))
            )
            assert not [answer.text for answer in told if answer.failed]
            assert sum("kept: " in answer.text for answer in told) + sum("already" in a.text for a in told) == 12

    asyncio.run(go())
    assert git(root, "ls-files", ".memento/knowledge").count("note_") == 6


def test_an_answer_that_is_too_long_says_what_is_left_out(root: Path, play: Play) -> None:
    note = add(play, "\n".join(f"Line {at} is long." for at in range(3_500)))

    async def act(ask: Asked) -> None:
        told = await ask("show", id=note, what="entry")
        assert len(told.text) < 61_000
        assert "more characters are left out: ask for less, or in a shell: memento show" in told.text
        again = await ask("show", id=note, what="entry", at=["HEAD"] * 400)
        assert "characters are left out" in again.text
        assert len(again.text) < 62_000

    within(root, act)


def test_a_folder_without_a_ledger_says_how_one_is_made_and_is_served_once_there_is(repo: Path) -> None:
    async def act(ask: Asked) -> None:
        told = await ask("recall", queries=["tokens"])
        assert (told.failed, "memento init" in told.text) == (True, True)
        with Ledger.open(repo) as opened:
            init_ledger(opened)
        assert not (await ask("recall", queries=["tokens"])).failed

    within(repo, act)


def test_what_is_no_message_of_the_protocol_is_survived_and_the_end_of_input_is_the_end(root: Path) -> None:
    lines = [
        "no json",
        "{}",
        '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "\\ud800"}}',
        "[1]",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "memento_git", "-C", str(root), "mcp"],
        input="\n".join(lines) + "\n", capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in done.stdout.splitlines())


def test_a_stream_that_is_closed_full_or_no_longer_read_ends_it_without_a_traceback(root: Path) -> None:
    hello = (
        '{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", '
        '"capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}}'
    )
    server = f'"{sys.executable}" -m memento_git -C "{root}" mcp'
    for line, code, told in (
        (f"{server} <&-", 2, "[input_closed]"),
        (f"(echo '{hello}'; sleep 2) | {server} >/dev/full", 1, "[file_system]"),
        (f"set -o pipefail; (echo '{hello}'; sleep 2) | {server} | true", 0, ""),
    ):
        done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, told in done.stderr) == (code, True), (line, done.stderr)
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_while_the_client_stays(root: Path, ending: signal.Signals) -> None:
    words = [sys.executable, "-m", "memento_git", "-C", str(root), "mcp"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        server.stdin.flush()
        assert json.loads(server.stdout.readline())["id"] == 1
        server.send_signal(ending)
        try:
            assert server.wait(timeout=20) == -ending
        finally:
            server.kill()


def test_without_the_library_it_says_how_to_add_it_and_still_lists_its_tools(root: Path) -> None:
    code = (
        "import sys; sys.modules['mcp'] = sys.modules['mcp.server'] = sys.modules['mcp.server.stdio'] = None\n"
        "from memento_git.cli.boundary import run\n"
        "sys.exit(run(sys.argv[1:]))\n"
    )
    words = [sys.executable, "-c", code, "-C", str(root), "mcp"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "[mcp_extra_missing]" in done.stderr
    assert "memento-git[mcp]" in done.stderr
    listed = subprocess.run([*words, "--tools", "--json"], capture_output=True, text=True, check=True)
    assert [one["name"] for one in json.loads(listed.stdout)["tools"]] == [*tools.TOOLS]


def test_a_request_that_the_library_cannot_read_is_answered(root: Path) -> None:
    def asked(number: object, arguments: str) -> str:
        params = f'{{"name": "remember", "arguments": {arguments}}}'
        return f'{{"jsonrpc": "2.0", "id": {json.dumps(number)}, "method": "tools/call", "params": {params}}}'

    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        asked(2, '{"text": "half of a face: \\ud83d"}'),
        asked("three", f'{{"text": "many", "importance": {"9" * 5000}}}'),
        asked(4, f'{{"text": {"[" * 400}{"]" * 400}}}'),
        asked(5, '{"text": "Times are UTC."}'),
    ]
    with subprocess.Popen(
        [sys.executable, "-m", "memento_git", "-C", str(root), "mcp"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as served:  # fmt: skip
        assert served.stdin is not None
        assert served.stdout is not None
        served.stdin.write("".join(f"{line}\n" for line in lines))
        served.stdin.flush()
        answers: dict[Any, Any] = {}
        while 5 not in answers:
            told = json.loads(served.stdout.readline())
            answers[told["id"]] = told
        served.stdin.close()
        assert served.wait(timeout=60) == 0
    for number in (2, "three", 4):
        assert "cannot be read" in answers[number]["error"]["message"]
    assert answers[5]["result"]["content"][0]["text"].startswith("kept: note_")
