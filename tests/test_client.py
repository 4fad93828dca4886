"""A project set up for an agent's client: shown first, beside what others have there, taken out without a trace."""

from __future__ import annotations

import json
import os
import stat
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memento_git.knowledge.actions import clients
from memento_git.ledger.store import Ledger
from memento_git.model.clients import CLIENTS, HOOK
from memento_git.texts import jsonedit
from tests.play import git

if TYPE_CHECKING:
    from pathlib import Path

    from tests.play import Call

CLAUDE = CLIENTS["claude-code"]
SETTINGS = ".claude/settings.json"
CALL = {"type": "command", "command": HOOK, "timeout": 10}


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(one.relative_to(folder)): one.read_bytes()
        for one in folder.rglob("*") if one.is_file() and ".git" not in one.relative_to(folder).parts
    }  # fmt: skip


def put(folder: Path, path: str, text: str | bytes) -> Path:
    place = folder / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(text if isinstance(text, bytes) else text.encode())
    return place


def refused(cli: Call, folder: Path, *more: str) -> dict[str, Any]:
    code, out, _ = cli("client", "install", "claude-code", "-C", str(folder), "--json", *more)
    assert code in (1, 3)
    told: dict[str, Any] = json.loads(out)
    return told


def test_nothing_is_written_before_it_was_shown_and_agreed_to(repo: Path, cli: Call) -> None:
    before = files(repo)
    code, out, _ = cli("client", "install", "claude-code", "-C", str(repo))
    assert code == 0
    assert "--- /dev/null\n+++ b/.mcp.json\n" in out
    assert f'+            "command": "{HOOK}",' in out
    assert "nothing was changed yet" in out
    assert files(repo) == before


def test_what_is_written_is_what_was_shown_and_nothing_is_staged(repo: Path, cli: Call) -> None:
    put(repo, "app.py", "answer = 43\n")
    git(repo, "add", "app.py")
    put(repo, "app.py", "answer = 44\n")
    shown = json.loads(cli("client", "install", "claude-code", "-C", str(repo), "--json")[1])
    done = json.loads(cli("client", "install", "claude-code", "-C", str(repo), "--json", "--yes")[1])
    assert (shown["done"], done["done"]) == (False, True)
    assert shown["files"] == done["files"]
    assert json.loads((repo / ".mcp.json").read_text()) == {
        "mcpServers": {"memento": {"command": "memento", "args": ["mcp"]}}
    }
    held = json.loads((repo / SETTINGS).read_text())["hooks"]
    assert held["UserPromptSubmit"] == [{"hooks": [CALL]}]
    assert held["PreToolUse"] == [{"matcher": "Read|Edit|MultiEdit|Write|NotebookEdit", "hooks": [CALL]}]
    assert git(repo, "status", "--short").split("\n") == ["MM app.py", "?? .claude/", "?? .mcp.json"]
    assert (repo / ".mcp.json").stat().st_mode & 0o777 == 0o666 & ~_umask()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_installing_a_client_again_changes_nothing(repo: Path, cli: Call) -> None:
    cli("client", "install", "claude-code", "-C", str(repo), "--yes")
    before = files(repo)
    code, out, _ = cli("client", "install", "claude-code", "-C", str(repo), "--yes")
    assert (code, out) == (0, "nothing to change for Claude Code\n")
    assert files(repo) == before


def test_the_list_says_for_which_client_the_project_is_set_up(repo: Path, cli: Call) -> None:
    def state() -> str:
        rows = json.loads(cli("client", "-C", str(repo), "--json")[1])["clients"]
        return next(str(row["state"]) for row in rows if row["name"] == "claude-code")

    assert state() == "absent"
    cli("client", "install", "claude-code", "-C", str(repo), "--yes")
    assert state() == "installed"
    assert "claude-code" in cli("client", "-C", str(repo))[1]
    (repo / ".mcp.json").unlink()
    assert state() == "hooks"
    put(repo, ".mcp.json", "// mine\n{}")
    assert state() == "unreadable"


THEIRS = (
    '{"mcpServers":{"other":{"command":"x"}}}',
    '{\n\t"mcpServers": {\n\t\t"other": {"command": "x", "args": []}\n\t},\n\t"more": "ü\\u00fc"\n}\n',
    '\ufeff{\r\n    "z": 1,\r\n    "mcpServers": {\r\n        "other": {}\r\n    },\r\n    "a": 2\r\n}',
    """\
{
  "permissions": {"allow": [ "Read" ,  "Edit" ]},

  "hooks": {
    "PreToolUse": [
      {"matcher": "Bash", "hooks": [{"type": "command", "command": "lint"}]}
    ]
  }
}
""",
)


@pytest.mark.parametrize("theirs", THEIRS)
def test_what_others_have_stays_to_the_byte(theirs: str, repo: Path, cli: Call) -> None:
    for path in CLAUDE.files:
        put(repo, path, theirs)
    before = files(repo)
    assert cli("client", "install", "claude-code", "-C", str(repo), "--yes")[0] == 0
    for path in CLAUDE.files:
        text = (repo / path).read_bytes().decode()
        left = iter(text)
        assert all(one in left for one in theirs)  # nothing of it is gone, and its order is kept
        assert ("\r\n" in text) == ("\r\n" in theirs)
        assert text.endswith("\n") == theirs.endswith("\n")
        held, was = json.loads(text.removeprefix("\ufeff")), json.loads(theirs.removeprefix("\ufeff"))
        assert [key for key in held if key in was] == list(was)
        assert was.get("mcpServers", {}).items() <= held.get("mcpServers", {}).items()
        if "hooks" in was:
            assert held["hooks"]["PreToolUse"][0] == was["hooks"]["PreToolUse"][0]
    assert cli("client", "uninstall", "claude-code", "-C", str(repo), "--yes")[0] == 0
    assert files(repo) == before


def test_files_and_folders_that_were_made_go_away_again(repo: Path, cli: Call) -> None:
    before = files(repo)
    cli("client", "install", "claude-code", "-C", str(repo), "--yes")
    put(repo, ".claude/commands/x.md", "mine\n")
    _, out, _ = cli("client", "uninstall", "claude-code", "-C", str(repo))
    assert "+++ /dev/null" in out
    assert (repo / SETTINGS).exists()
    cli("client", "uninstall", "claude-code", "-C", str(repo), "--yes")
    assert files(repo) == {**before, ".claude/commands/x.md": b"mine\n"}
    assert (
        cli("client", "uninstall", "claude-code", "-C", str(repo), "--yes")[1] == "nothing to change for Claude Code\n"
    )


@pytest.mark.parametrize(
    "words",
    [
        ["uvx", "--from", "memento-git[mcp]", "memento", "mcp"],
        ["python3", "-m", "memento_git", "mcp"],
        ["C:\\bin\\memento.exe", "mcp"],
        ["uv", "run", "memento", "-C", "sub", "mcp"],
    ],
)
def test_our_server_is_known_however_it_is_started(words: list[str], repo: Path, cli: Call) -> None:
    text = json.dumps({"mcpServers": {"memento": {"command": words[0], "args": words[1:]}}})
    place = put(repo, ".mcp.json", text)
    cli("client", "install", "claude-code", "-C", str(repo), "--yes")
    assert place.read_text() == text


def test_what_is_ours_and_was_adjusted_is_left_by_install_and_taken_by_uninstall(repo: Path, cli: Call) -> None:
    server = {"command": "/opt/bin/memento", "args": ["-C", ".", "mcp", "--actor", "agent:me"]}
    put(repo, ".mcp.json", json.dumps({"mcpServers": {"memento": server}}))
    ours = {"type": "command", "command": "/opt/bin/memento client hook", "timeout": 3}
    lint = {"type": "command", "command": "lint"}
    put(repo, SETTINGS, json.dumps({"hooks": {"PreToolUse": [{"matcher": "Edit", "hooks": [lint, ours]}]}}))
    cli("client", "install", "claude-code", "-C", str(repo), "--yes")
    assert json.loads((repo / ".mcp.json").read_text()) == {"mcpServers": {"memento": server}}
    held = json.loads((repo / SETTINGS).read_text())["hooks"]
    assert held["PreToolUse"] == [{"matcher": "Edit", "hooks": [lint, ours]}]
    assert set(held) == {"PreToolUse", "SessionStart", "UserPromptSubmit"}
    cli("client", "uninstall", "claude-code", "-C", str(repo), "--yes")
    assert not (repo / ".mcp.json").exists()
    assert json.loads((repo / SETTINGS).read_text()) == {
        "hooks": {"PreToolUse": [{"matcher": "Edit", "hooks": [lint]}]}
    }


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{\n  // the servers\n  "mcpServers": {}\n}', "no plain JSON"),
        ('{"mcpServers": {},}', "no plain JSON"),
        ('{"a": 1', "no plain JSON"),
        ("[1]", "the whole is no object"),
        ('{"mcpServers": []}', "mcpServers is no object"),
        ('{"mcpServers": null}', "mcpServers is no object"),
        ('{"mcpServers": {"memento": {"command": "uvx", "args": ["other"]}}}', "mcpServers.memento is something else"),
        (
            '{"mcpServers": {"memento": {"command": "npx", "args": ["@other/memento-mcp", "mcp"]}}}',
            "mcpServers.memento is something else",
        ),
        ('{"a": 1, "a": 2}', "a twice"),
        (b'{"a": "\xff"}', "no text in UTF-8"),
        ("[" * 100_000, "nested too deeply"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_changed_safely_is_refused_with_what_to_put_into_it(
    text: str | bytes, problem: str, repo: Path, cli: Call
) -> None:
    put(repo, ".mcp.json", text)
    before = files(repo)
    told = refused(cli, repo, "--yes")
    assert told["error"] == "client_file_unfit"
    assert problem in told["message"]
    first, *snippets = told["hint"].split("\n")
    assert first == "put this in yourself, where it is missing"
    held = {path: json.loads(text) for path, _, text in (one.partition(": ") for one in snippets)}
    assert held[".mcp.json"] == {"mcpServers": {"memento": {"command": "memento", "args": ["mcp"]}}}
    assert held[SETTINGS]["hooks"]["SessionStart"] == [{"hooks": [CALL]}]
    assert files(repo) == before


def test_an_empty_file_is_filled(repo: Path, cli: Call) -> None:
    put(repo, ".mcp.json", "\n")
    assert cli("client", "install", "claude-code", "-C", str(repo), "--yes")[0] == 0
    assert "memento" in json.loads((repo / ".mcp.json").read_text())["mcpServers"]


def test_a_link_out_of_the_repository_is_refused_and_one_within_is_followed(
    repo: Path, tmp_path: Path, cli: Call
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (repo / ".claude").symlink_to(tmp_path / "elsewhere")
    told = refused(cli, repo, "--yes")
    assert told["error"] == "client_file_unfit"
    assert ".claude is a symbolic link that leads out of the work tree" in told["message"]
    assert not (repo / ".mcp.json").exists()
    assert not any((tmp_path / "elsewhere").iterdir())
    (repo / ".claude").unlink()
    (repo / "config").mkdir()
    (repo / ".claude").symlink_to("config")
    assert cli("client", "install", "claude-code", "-C", str(repo), "--yes")[0] == 0
    assert "hooks" in json.loads((repo / "config" / "settings.json").read_text())
    assert (repo / ".claude").is_symlink()


def test_a_link_within_the_repository_stays_when_what_is_ours_goes(repo: Path, cli: Call) -> None:
    (repo / "mine.json").write_text("{}\n")
    (repo / ".mcp.json").symlink_to("mine.json")
    cli("client", "install", "claude-code", "-C", str(repo), "--yes")
    assert "memento" in (repo / "mine.json").read_text()
    cli("client", "uninstall", "claude-code", "-C", str(repo), "--yes")
    assert (repo / ".mcp.json").is_symlink()
    assert (repo / "mine.json").read_text() == "{}\n"
    (repo / "mine.json").unlink()
    assert cli("client", "-C", str(repo))[0] == 0
    assert cli("client", "install", "claude-code", "-C", str(repo), "--yes")[0] == 0
    assert "memento" in (repo / "mine.json").read_text()


def test_what_is_set_up_and_write_protected_is_set_up(repo: Path, cli: Call) -> None:
    cli("client", "install", "claude-code", "-C", str(repo), "--yes")
    (repo / ".mcp.json").chmod(0o444)
    assert cli("client", "install", "claude-code", "-C", str(repo))[1].startswith("nothing to change")
    assert "claude-code  set up  " in cli("client", "-C", str(repo))[1]
    assert "write-protected" in cli("client", "uninstall", "claude-code", "-C", str(repo), "--yes")[2]


def test_a_write_protected_file_or_folder_is_refused(repo: Path, cli: Call) -> None:
    place = put(repo, SETTINGS, "{}\n")
    place.chmod(0o444)
    assert "settings.json is write-protected" in refused(cli, repo, "--yes")["message"]
    place.unlink()
    place.parent.chmod(0o555)
    assert ".claude is write-protected" in refused(cli, repo, "--yes")["message"]
    place.parent.chmod(0o755)
    assert not (repo / ".mcp.json").exists()


def test_a_folder_in_the_place_of_a_file_is_refused(repo: Path, cli: Call) -> None:
    (repo / ".mcp.json").mkdir()
    assert refused(cli, repo, "--yes")["error"] == "client_file_unfit"
    (repo / ".mcp.json").rmdir()
    os.mkfifo(repo / ".mcp.json")
    assert "it is no file" in refused(cli, repo, "--yes")["message"]
    (repo / ".mcp.json").unlink()
    put(repo, ".claude", "mine\n")
    assert refused(cli, repo, "--yes")["error"] == "client_file_unfit"


def test_what_changes_between_the_look_and_the_writing_is_left_alone(repo: Path) -> None:
    with Ledger.open(repo) as ledger:
        edits = clients.installation(ledger.git, CLAUDE)
        put(repo, ".mcp.json", "{}\n")
        with pytest.raises(clients.ClientFileMoved):
            clients.write(ledger, edits)
    assert files(repo)[".mcp.json"] == b"{}\n"


def test_the_rights_of_a_file_stay(repo: Path, cli: Call) -> None:
    put(repo, ".mcp.json", "{}\n").chmod(0o640)
    cli("client", "install", "claude-code", "-C", str(repo), "--yes")
    assert stat.S_IMODE((repo / ".mcp.json").stat().st_mode) == 0o640


def test_the_top_of_the_work_tree_is_set_up_wherever_one_is(repo: Path, cli: Call) -> None:
    (repo / "sub").mkdir()
    cli("client", "install", "claude-code", "-C", str(repo / "sub"), "--yes")
    assert (repo / ".mcp.json").exists()
    git(repo, "worktree", "add", "-q", "../linked")
    cli("client", "install", "claude-code", "-C", str(repo.parent / "linked"), "--yes")
    assert (repo.parent / "linked" / ".mcp.json").exists()
    git(repo, "clone", "-q", "--bare", ".", "../bare")
    for verb in (("list",), ("install", "claude-code"), ("uninstall", "claude-code")):
        code, out, _ = cli("client", *verb, "-C", str(repo.parent / "bare"), "--json")
        told = json.loads(out)
        assert (code, told["error"]) == (1, "bare_repository")
        assert told["message"].endswith("a client is set up in files of a checkout")


def test_a_client_that_nobody_knows_is_refused(repo: Path, cli: Call) -> None:
    code, _, err = cli("client", "install", "emacs", "-C", str(repo))
    assert code == 2
    assert "claude-code" in err


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


@given(
    theirs=st.dictionaries(st.text(), VALUES, min_size=1, max_size=4),
    elements=st.lists(VALUES, min_size=1, max_size=3),
    indent=st.sampled_from([None, 1, 2, 4, "\t"]),
    plain=st.booleans(),
    line=st.sampled_from(["\n", "\r\n"]),
)
def test_what_is_put_into_json_is_found_there_and_leaves_no_trace(
    theirs: dict[str, Any], elements: list[Any], indent: Any, line: str, *, plain: bool
) -> None:
    held = {**theirs, "hooks": {"E": elements}}
    held.pop("servers", None)
    text = json.dumps(held, indent=indent, ensure_ascii=plain).replace("\n", line)
    more = jsonedit.put(text, ("hooks", "E"), "", {"c": [1]})
    assert json.loads(more) == {**held, "hooks": {"E": [*elements, {"c": [1]}]}}
    most = jsonedit.put(more, ("servers",), "me", {"c": 1})
    assert json.loads(most) == {**json.loads(more), "servers": {"me": {"c": 1}}}
    assert jsonedit.drop(most, ("servers", "me")) == more
    assert jsonedit.drop(more, ("hooks", "E", len(elements))) == text


def test_twice_the_keys_are_read_in_twice_the_steps() -> None:
    def steps(keys: int) -> int:
        text, counted = json.dumps(dict.fromkeys(map(str, range(keys)), 1)), [0]

        def count(*_: Any) -> None:
            counted[0] += 1

        sys.setprofile(count)
        jsonedit.load(text)
        sys.setprofile(None)
        return counted[0]

    assert steps(400) < 3 * steps(200)


@pytest.mark.parametrize("name", CLIENTS)
def test_every_client_is_set_up_once_and_taken_out_without_a_trace(name: str, repo: Path, cli: Call) -> None:
    for path in CLIENTS[name].files:
        put(
            repo,
            path,
            '[mcp_servers.other]\ncommand = "x"  # mine\n' if path.endswith(".toml") else '{\n    "a": 1\n}\n',
        )
    before = files(repo)
    assert cli("client", "install", name, "-C", str(repo), "--yes")[0] == 0
    after = files(repo)
    assert set(after) == set(before)
    assert all(after[path] != before[path] for path in CLIENTS[name].files)
    assert cli("client", "install", name, "-C", str(repo), "--yes")[1].startswith("nothing to change")
    assert "set up " in next(line for line in cli("client", "-C", str(repo))[1].splitlines() if line.startswith(name))
    assert cli("client", "uninstall", name, "-C", str(repo), "--yes")[0] == 0
    left = {path: data.replace(b',\n    "version": 1', b"") for path, data in files(repo).items()}
    assert left == before


@pytest.mark.parametrize("name", CLIENTS)
def test_what_is_made_for_a_client_goes_altogether(name: str, repo: Path, cli: Call) -> None:
    before = files(repo)
    cli("client", "install", name, "-C", str(repo), "--yes")
    assert set(files(repo)) == {*before, *CLIENTS[name].files}
    cli("client", "uninstall", name, "-C", str(repo), "--yes")
    assert files(repo) == before
    assert git(repo, "status", "--short", "--ignored") == ""


def test_codex_is_told_of_the_server_in_its_own_table(repo: Path, cli: Call) -> None:
    theirs = '# ours\r\nmodel = "x"\r\n\r\n[mcp_servers]\r\n# none yet\r\n'
    place = put(repo, ".codex/config.toml", theirs)
    cli("client", "install", "codex", "-C", str(repo), "--yes")
    table = '\r\n[mcp_servers.memento]\r\ncommand = "memento"\r\nargs = ["mcp"]\r\n'
    assert place.read_bytes().decode() == theirs + table
    place.write_bytes((theirs + table + "# after\r\n[tui]\r\n").encode())
    cli("client", "uninstall", "codex", "-C", str(repo), "--yes")
    assert place.read_bytes().decode() == theirs + "# after\r\n[tui]\r\n"
    cli("client", "install", "codex", "-C", str(repo), "--yes")
    place.write_bytes(place.read_bytes() + b'[mcp_servers.memento.env]\r\nA = "b"\r\n')
    code, out, _ = cli("client", "uninstall", "codex", "-C", str(repo), "--yes", "--json")
    assert (code, json.loads(out)["hint"]) == (1, "take out of it yourself what calls memento")


def test_a_file_with_nothing_but_comments_besides_stays(repo: Path, cli: Call) -> None:
    place = put(repo, ".codex/config.toml", "# model = 'x'\n")
    cli("client", "install", "codex", "-C", str(repo), "--yes")
    cli("client", "uninstall", "codex", "-C", str(repo), "--yes")
    assert place.read_text() == "# model = 'x'\n"


def test_the_empty_lines_at_the_end_of_a_file_stay(repo: Path, cli: Call) -> None:
    place = put(repo, ".codex/config.toml", theirs := 'model = "x"\n\n\n')
    cli("client", "install", "codex", "-C", str(repo), "--yes")
    cli("client", "uninstall", "codex", "-C", str(repo), "--yes")
    assert place.read_text() == theirs


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_file_that_ends_without_a_newline_does_so_again(end: str, repo: Path, cli: Call) -> None:
    theirs = f'# ours{end}model = "x"'.encode()
    place = put(repo, ".codex/config.toml", theirs)
    cli("client", "install", "codex", "-C", str(repo), "--yes")
    held = place.read_bytes()
    cli("client", "uninstall", "codex", "-C", str(repo), "--yes")
    assert place.read_bytes() == theirs
    after = f"{end}[tui]{end}a = 1".encode()
    place.write_bytes(held + after)
    cli("client", "uninstall", "codex", "-C", str(repo), "--yes")
    assert place.read_bytes() == theirs + after


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_newline_that_an_editor_takes_away_behind_the_table_is_not_missed_after_it(
    end: str, repo: Path, cli: Call
) -> None:
    place = put(repo, ".codex/config.toml", theirs := f'model = "x"{end}'.encode())
    cli("client", "install", "codex", "-C", str(repo), "--yes")
    place.write_bytes(place.read_bytes().rstrip())
    cli("client", "uninstall", "codex", "-C", str(repo), "--yes")
    assert place.read_bytes() == theirs


def test_a_table_that_was_written_otherwise_is_called_that_and_not_bad_toml(repo: Path, cli: Call) -> None:
    text = '[mcp_servers.memento]\ncommand = "memento"\nargs = [\n  "mcp",\n]\n\n[tui]\n'
    place = put(repo, ".codex/config.toml", text)
    code, out, _ = cli("client", "uninstall", "codex", "-C", str(repo), "--yes", "--json")
    assert code == 1
    assert "mcp_servers.memento is not written as a table of its own" in json.loads(out)["message"]
    assert place.read_text() == text


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a = \n", "no plain TOML"),
        ("mcp_servers = 3\n", "mcp_servers is no table"),
        ('mcp_servers = {other = {command = "x"}}\n', "mcp_servers is not written as a table of its own"),
        ('[mcp_servers.memento]\ncommand = "other"\n', "mcp_servers.memento is something else"),
    ],
)
def test_toml_that_cannot_be_changed_safely_is_refused(text: str, problem: str, repo: Path, cli: Call) -> None:
    put(repo, ".codex/config.toml", text)
    before = files(repo)
    code, out, _ = cli("client", "install", "codex", "-C", str(repo), "--yes", "--json")
    told = json.loads(out)
    assert (code, told["error"]) == (1, "client_file_unfit")
    assert problem in told["message"]
    assert '.codex/config.toml: \n[mcp_servers.memento]\ncommand = "memento"' in told["hint"]
    assert files(repo) == before


def test_a_version_that_a_file_has_stays_as_it_is(repo: Path, cli: Call) -> None:
    place = put(repo, ".cursor/hooks.json", '{"version": 2, "hooks": {"stop": [{"command": "x"}]}}')
    cli("client", "install", "cursor", "-C", str(repo), "--yes")
    assert json.loads(place.read_text())["version"] == 2
    cli("client", "uninstall", "cursor", "-C", str(repo), "--yes")
    assert place.read_text() == '{"version": 2, "hooks": {"stop": [{"command": "x"}]}}'
