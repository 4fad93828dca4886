"""Cheats with what lies in the ledger's folder: archives, links, submodules, twins, attributes, and trees by hand."""

from __future__ import annotations

import os
import shlex
import subprocess
from typing import TYPE_CHECKING

import pytest

from memento_git.ledger import archive, codec, layout
from memento_git.work.actions import runs
from memento_git.work.actions.setup import init_ledger
from tests.cheats.forging import MAIN
from tests.play import git, take_out

if TYPE_CHECKING:
    from tests.cheats.doors import Doors


def _claimed_done(doors: Doors) -> tuple[str, str, bytes]:
    """Return a task of the main branch, and path and bytes of a completion of it that proves nothing."""
    play = doors.play
    task = play.task("One")
    claim = play.claimed(task)
    bad = play.evidence(task, code=1)
    doors.landed()
    path, data = doors.drafted(task, "completed", **doors.completion(task, bad, dispatch=claim))
    return task, path, data


def test_a_completion_that_comes_in_an_archive_is_judged_like_any_other(doors: Doors) -> None:
    """Way: an unproven completion lies in no file of its own, only in an archive of a run that is under way."""
    task, path, data = _claimed_done(doors)
    doors.packed(doors.play.state(task).id, {path: data})
    assert doors.play.status(task) == "completed"
    assert f"{task} is completed, but not proven" in doors.caught("P001")
    doors.unproven(task, "failed")


def test_an_unsigned_waiver_that_comes_in_an_archive_is_found(doors: Doors) -> None:
    """Way: the same with a waiver, where policy demands that waivers are signed."""
    doors.policy("  signatures: {allowed_signers: .memento/keys, require: {waivers: []}}\n")
    run = doors.play.state(doors.play.task("One")).id
    doors.landed()
    path, data = doors.drafted(run, "waived", gate="quality_review", reason="No time.")
    doors.packed(run, {path: data})
    assert doors.gate("quality_review", run) == "waived"
    assert "policy demands a signature" in doors.caught("K001")


def test_an_archive_that_leaves_a_failure_out_is_found(doors: Doors) -> None:
    """Way: a run is archived by hand, all but the verdict that failed it."""
    play = doors.play
    run = play.planned("Two")
    play.do(runs.cancel_run, run, reason="Enough.")
    doors.landed()
    cancelled = doors.path(doors.last(run, "cancelled"))
    files = {path: play.ledger.view().read(path) or b"" for path in play.ledger.view().files if f"/{run}/" in path}
    for path in files:
        (doors.root / path).unlink()
    doors.packed(run, {path: data for path, data in files.items() if path != cancelled})
    play.commit_all("archived")
    assert play.status(run) == "active"
    assert "was in the ledger at the base" in doors.caught("D002")


def test_an_archive_with_other_bytes_than_its_files_is_found(doors: Doors) -> None:
    """Way: an archive holds a failed verdict as one that passed."""
    play = doors.play
    run = play.planned("Two")
    play.gate("quality_review", "failed", run=run, reason="No.")
    play.do(runs.cancel_run, run, reason="Enough.")
    play.do(runs.archive_run, run)
    doors.landed()
    packed = next((doors.root / layout.ARCHIVE / run).iterdir())
    view = play.ledger.view()
    view.index(run)
    files = {path: view.read(path) or b"" for path in view.archived[run]}
    failed = next(path for path in files if "-failed-" in path)
    doors.remove(packed.relative_to(doors.root).as_posix())
    doors.packed(run, {**files, failed: files[failed].replace(b"do: failed", b"do: passed")})
    doors.caught("D008", "F003")
    renamed = failed.replace("-failed-", "-passed-")
    doors.packed(run, {**{path: data for path, data in files.items() if path != failed},
                       renamed: files[failed].replace(b"do: failed", b"do: passed")})  # fmt: skip
    doors.caught("D008")


def test_an_archive_whose_name_is_not_its_digest_is_found(doors: Doors) -> None:
    """Way: the bytes of an archive are exchanged under its old name."""
    play = doors.play
    run = play.planned("Two")
    play.do(runs.cancel_run, run, reason="Enough.")
    play.do(runs.archive_run, run)
    doors.landed()
    packed = next((doors.root / layout.ARCHIVE / run).iterdir()).relative_to(doors.root).as_posix()
    other = doors.packed(run, {})
    data = (doors.root / other).read_bytes()
    doors.remove(other)
    doors.write(packed, data)
    doors.caught("A001")


@pytest.mark.parametrize("name", ["more/{}.yaml.gz", "{}.txt", "{}", "{}.\t.yaml.gz", "{}.;touch it;.yaml.gz"])
def test_an_archive_elsewhere_is_no_part_of_the_ledger(doors: Doors, name: str) -> None:
    """Way: an archive where nobody looks for one, that the check says nothing reads, holds a verdict.

    Or its name has what git quotes in its history, or what a shell reads in a fix that names it.
    """
    run = doors.play.state(doors.play.task("One")).id
    doors.landed()
    path, data = doors.drafted(run, "passed", gate="quality_review")
    packed = archive.pack({path: data})
    doors.write(f"{layout.ARCHIVE}/{run}/{name.format(codec.digest_of(packed))}", packed)
    assert doors.gate("quality_review", run) == "none"
    doors.warned("F010")


@pytest.mark.parametrize("kind", ["link", "submodule"])
def test_what_is_no_plain_file_is_found(doors: Doors, kind: str) -> None:
    """Way: a symbolic link to captured output of the author's choice, or a submodule, in place of an event."""
    play = doors.play
    task = play.proven("One")
    doors.landed()
    path = doors.path(doors.last(task, "completed"))
    (doors.root / path).unlink()
    if kind == "link":
        (doors.root / path).symlink_to("/etc/hostname")
        git(doors.root, "add", path)
    else:
        head = git(doors.root, "rev-parse", "HEAD")
        git(doors.root, "rm", "-q", "--cached", path)
        git(doors.root, "update-index", "--add", "--cacheinfo", f"160000,{head},{path}")
    git(doors.root, "commit", "-qm", "by hand")
    doors.caught("F004", "D001")
    assert not play.is_proven(task)


def test_a_submodule_that_git_is_told_to_ignore_is_found(doors: Doors) -> None:
    """Way: .gitmodules has git ignore a submodule, so that a difference of it is none."""
    head = git(doors.root, "rev-parse", "HEAD")
    name = f"{layout.RUNS}/run_000000000000"
    (doors.root / ".gitmodules").write_text(f'[submodule "x"]\n\tpath = {name}\n\turl = ./x\n\tignore = all\n')
    git(doors.root, "add", ".gitmodules")
    git(doors.root, "update-index", "--add", "--cacheinfo", f"160000,{head},{name}")
    git(doors.root, "commit", "-qm", "by hand")
    assert "submodule" in doors.caught("F004")


def test_the_folder_itself_as_a_link_leaves_no_ledger_and_is_found(doors: Doors) -> None:
    """Way: `.memento` leads to a ledger outside of the repository, in which all is well."""
    doors.play.proven("One")
    doors.landed()
    link = doors.blob(b"/tmp/elsewhere")
    top = [("120000", name, link) if name == ".memento" else (mode, name, oid)
           for mode, name, oid in doors.entries("HEAD^{tree}")]  # fmt: skip
    doors.adopt(doors.commit_tree(doors.raw_tree(top), MAIN))
    doors.caught("C004", "D002", "D006")


def test_an_executable_event_is_the_same_event(doors: Doors) -> None:
    """Way: the mode of a file changes and its bytes do not. Nothing is gained."""
    task = doors.play.proven("One")
    doors.landed()
    path = doors.path(doors.last(task, "completed"))
    (doors.root / path).chmod(0o755)
    doors.play.commit_all("mode")
    assert doors.play.is_proven(task)
    doors.sound()


@pytest.mark.skipif(os.name != "posix", reason="needs a file system that tells case apart")
def test_a_twin_in_other_letters_is_found_and_not_read(doors: Doors) -> None:
    """Way: `Config.yaml` and `TASK.md` beside the real ones, so that some checkout reads those."""
    play = doors.play
    task = play.task("One", criteria=["Hard"])
    doors.landed()
    path = doors.path(task)
    twin = path.replace("task.md", "TASK.md")
    text = (doors.root / path).read_bytes()
    doors.write(twin, text.replace(b"Hard", b"Easy"))
    doors.write(".memento/Config.yaml", "version: 1\npolicy:\n  proof: {note: advisory}\n")
    told = doors.caught("F009")
    assert path in told
    assert layout.CONFIG in told
    assert play.state(task).prose(task).list("criteria") == ["Hard"]


@pytest.mark.skipif(os.name != "posix", reason="needs a file system that tells case apart")
@pytest.mark.parametrize("beside", ["", ".memento/README.md"])
def test_a_twin_of_the_ledgers_folder_is_found(doors: Doors, beside: str) -> None:
    """Way: `.Memento/config.yaml`, which a checkout that ignores case writes over the real one."""
    if beside:
        doors.write(beside, "# Ours\n")
    doors.write(".Memento/config.yaml", "version: 1\npolicy: {}\n")
    assert "differs from .memento in case alone" in doors.caught("F009")
    code, out, _ = doors.cli("check", "-C", str(doors.root), "--base", "main")
    assert (code, "fix: git rm -r --cached .Memento" in out) == (5, True)
    assert doors.check("--no-base")[0] == 5
    doors.landed()
    doors.write("app.py", "good, better\n")
    doors.sound()
    doors.write(".memento/README.md", "# Ours, too\n")
    doors.sound()
    take_out(doors.root, ".Memento", message="tidy")
    assert doors.check("--no-base")[0] == 0


def test_a_very_long_path_is_no_part_of_the_ledger(doors: Doors) -> None:
    """Way: an event so deep in folders that a checkout leaves it out."""
    run = doors.play.state(doors.play.task("One")).id
    doors.landed()
    name, data = doors.drafted(run, "passed", gate="quality_review")
    deep = f"{layout.RUNS}/{run}/" + "/".join(["d" * 100] * 30) + "/" + name.rpartition("/")[2]
    doors.write(deep, data)
    doors.warned("F010")
    assert doors.gate("quality_review", run) == "none"


def test_a_tree_that_names_one_file_twice_is_found(doors: Doors) -> None:
    """Way: a tree, made by hand, holds two `config.yaml`: one to be read, one to be looked at."""
    doors.play.proven("One")
    doors.landed()
    weak = doors.blob(b"version: 1\npolicy:\n  proof: {note: advisory}\n")
    folder = [*doors.entries("HEAD:.memento"), ("100644", "config.yaml", weak)]
    folder.sort(key=lambda entry: entry[1])
    top = [(mode, name, doors.raw_tree(folder) if name == ".memento" else oid)
           for mode, name, oid in doors.entries("HEAD^{tree}")]  # fmt: skip
    doors.adopt(doors.commit_tree(doors.raw_tree(top), MAIN))
    doors.caught("F006")
    code, found = doors.check("--no-base")
    assert (code, "F006" in {row["code"] for row in found}) == (5, True), found


def _as(doors: Doors, tree: str, path: str, mode: str) -> str:
    """Return a tree in which what is at a path has another mode."""
    name, _, rest = path.partition("/")
    held = doors.entries(tree)
    below = {one: _as(doors, oid, rest, mode) for _, one, oid in held if one == name and rest}
    return doors.raw_tree((mode if one == path else old, one, below.get(one, oid)) for old, one, oid in held)


@pytest.mark.parametrize("mode", ["40755", "1040000"])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_folder_of_a_mode_that_git_takes_for_that_of_a_folder(doors: Doors, depth: int, mode: str) -> None:
    """Way: git reads any mode of a folder as one, so that a run is there, and whoever compares modes does not see it.

    Servers that look at what is pushed only warn of such a tree, and a merge keeps it.
    """
    doors.policy("  reproduce: {commands: [[python3, check.py]]}\n")
    doors.write("app.py", "worse\n")
    task = doors.play.task("One")
    doors.completed(task, bad := doors.witness(task))
    folder = "/".join(doors.path(task).split("/")[:depth])
    doors.adopt(doors.commit_tree(_as(doors, "HEAD^{tree}", folder, mode), "HEAD"))
    doors.sound()
    assert doors.task(task)["status"] == "completed"
    assert task in doors.cli("diff", MAIN, "-C", str(doors.root))[1]
    code, found = doors.check("--base", MAIN, "--reproduce")
    assert (code, [bad in row["message"] for row in found if row["code"] == "V002"]) == (5, [True])


def test_a_path_with_a_line_end_asks_git_for_nothing_else(doors: Doors) -> None:
    """Way: git is asked for objects by lines, so that a name of two gets an answer more, and whoever asks next has it.

    What is read as policy, or as an event, is another file then.
    """
    doors.policy("  reproduce: {commands: [[python3, check.py]]}\n")
    doors.write("app.py", "worse\n")
    task = doors.play.task("One")
    doors.completed(task, bad := doors.witness(task))
    doors.write("x/.gitattributes", "version: 1\n")
    doors.write(".memento/q\nHEAD:x/.gitattributes", "* text\n")
    doors.sound("C005", "F010")
    assert task in doors.cli("diff", MAIN, "-C", str(doors.root))[1]
    code, found = doors.check("--base", MAIN, "--reproduce")
    assert (code, [bad in row["message"] for row in found if row["code"] == "V002"]) == (5, [True])


@pytest.mark.parametrize("name", ["?*", "[!a-z]*"])
def test_a_name_that_git_takes_for_a_pattern_takes_nothing_else_along(doors: Doors, name: str) -> None:
    """Way: who takes such a file out with the command that is shown for that takes the ledger out."""
    before = git(doors.root, "rev-parse", "HEAD^{tree}")
    doors.write(f".memento/{name}", "x\n")
    assert name in doors.warned("F010")
    (fix,) = [row["fix"] for row in doors.check("--base", MAIN)[1]]
    subprocess.run(shlex.split(fix), cwd=doors.root, check=True, capture_output=True)
    assert git(doors.root, "write-tree") == before


@pytest.mark.parametrize(
    "line",
    ["*.yaml -diff", ".memento/** binary", "/.memento/runs/** diff=quiet", "* filter=polish",
     "*.md working-tree-encoding=UTF-16", "*.yaml text eol=crlf", ".memento ident export-ignore"],
)  # fmt: skip
@pytest.mark.parametrize("where", [".gitattributes", ".memento/.gitattributes"])
def test_attributes_that_hide_or_change_ledger_files_are_told(doors: Doors, line: str, where: str) -> None:
    """Way: git is told to show no difference of ledger files, or to change their bytes on the way in or out."""
    task = doors.play.proven("One")
    doors.landed()
    there = doors.root / where
    before = there.read_text() if there.exists() else ""
    inside = line.replace("/.memento/", "/").replace(".memento/**", "**").replace(".memento ", "* ")
    doors.write(where, before + (inside if "/" in where else line) + "\n")
    assert "how git shows or stores" in doors.warned("C005")
    assert doors.play.is_proven(task)


@pytest.mark.parametrize(
    "line",
    ["{run}/** -diff", "/.memento/runs/run_[1-9a-z]*/** binary", "*-completed-[!-]*.yaml -diff",
     ".memento/knowledge/security/** -diff"],
)  # fmt: skip
def test_attributes_that_hide_the_files_of_one_run_are_told(doors: Doors, line: str) -> None:
    """Way: git is told to show no difference of what the branch does, and of no other file."""
    task = doors.play.task("One")
    doors.landed()
    run = f"{layout.RUNS}/{doors.play.state(task).id}"
    doors.write(".gitattributes", line.format(run=run) + "\n")
    assert "how git shows or stores" in doors.warned("C005")


@pytest.mark.parametrize("inside", ["runs", "runs/{run}", "runs/{run}/tasks", "knowledge"])
def test_attributes_in_a_folder_of_the_ledger_are_told(doors: Doors, inside: str) -> None:
    """Way: the line lies beside the files that it hides, in a file that is no part of the ledger."""
    run = doors.play.state(doors.play.task("One")).id
    doors.landed()
    path = f".memento/{inside.format(run=run)}/.gitattributes"
    doors.write(path, "*.png -diff\n")
    assert doors.warned("F010")
    assert not [row for row in doors.check("--base", MAIN)[1] if row["code"] == "C005"]
    doors.write(path, "* -diff\n")
    assert "it has '* -diff' now" in doors.warned("C005", "F010")


@pytest.mark.parametrize("line", [".memento/config.yaml linguist-generated", "*.md gitlab-generated"])
def test_attributes_that_fold_up_what_people_write_are_told(doors: Doors, line: str) -> None:
    """Way: the service where the review takes place shows the name of the file alone, as of one that a tool made."""
    init_ledger(doors.play.ledger, collapse=True)
    doors.sound()
    doors.landed()
    doors.write(".gitattributes", f"{line}\n")
    assert f"it has {line!r} now" in doors.warned("C005")


@pytest.mark.parametrize("odd", [b"\x0c", "\u2028".encode(), b"\xff"])
def test_attributes_in_a_line_that_git_does_not_cut_are_told(doors: Doors, odd: bytes) -> None:
    """Way: a line that others than git cut in two, so that its half does no harm."""
    path = doors.path(doors.play.task("One"))
    doors.landed()
    doors.write(".gitattributes", b".memento/** x=" + odd + b" -diff\n")
    assert git(doors.root, "check-attr", "diff", path).endswith(" unset")
    assert "how git shows or stores" in doors.warned("C005")


@pytest.mark.parametrize("line", [".memento/**/stdout.txt -diff", "keys/* -diff", "revoked binary"])
def test_attributes_that_hide_captured_output_or_keys_are_told(doors: Doors, line: str) -> None:
    """Way: git shows no difference of what a command wrote, or of whose signatures count."""
    doors.write("keys/allowed", "")
    doors.write(".memento/revoked", "")
    doors.landed()
    doors.policy("  signatures: {allowed_signers: keys/allowed, revoked: .memento/revoked, require: {waivers: []}}\n")
    doors.write(".gitattributes", f"{line}\n")
    assert "how git shows or stores" in doors.warned("C005")


def test_attributes_by_way_of_a_macro_are_told(doors: Doors) -> None:
    """Way: what a line does is said in another file, by way of a third word."""
    doors.write(".gitattributes", "[attr]calm binary\n[attr]quiet calm\n*.snap quiet\n")
    doors.sound()
    doors.landed()
    inside = doors.root / layout.ATTRIBUTES
    doors.write(layout.ATTRIBUTES, inside.read_text() + "/runs/** quiet\n")
    assert "'/runs/** quiet' now" in doors.warned("C005")


def test_attributes_of_other_files_are_nobodys_business(doors: Doors) -> None:
    """Not a way: attributes of code, of what a host collapses, and those that the ledger itself sets."""
    doors.write(".gitattributes", "*.png binary\n/src/** -diff\n*.yaml text eol=lf\n# *.yaml -diff\n")
    doors.sound()


def test_bytes_that_a_filter_changed_on_the_way_in_are_found(doors: Doors) -> None:
    """Way: a clean filter rewrites an event that a user commits again."""
    play = doors.play
    run = play.state(play.task("One")).id
    play.gate("quality_review", "failed", reason="No.")
    doors.landed()
    git(doors.root, "config", "filter.polish.clean", "sed s/No/Yes/")
    (doors.root / ".git" / "info").mkdir(exist_ok=True)
    (doors.root / ".git" / "info" / "attributes").write_text("*.yaml filter=polish\n")
    git(doors.root, "add", "--renormalize", ".memento")
    git(doors.root, "commit", "-qm", "polished")
    (doors.root / ".git" / "info" / "attributes").unlink()
    git(doors.root, "reset", "-q", "--hard")
    assert doors.last(run, "failed") in doors.caught("D001")


def test_an_ignored_ledger_is_written_and_checked_all_the_same(doors: Doors) -> None:
    """Way: .gitignore, so that a failure is written and never committed."""
    play = doors.play
    run = play.state(play.task("One")).id
    doors.write(".gitignore", ".memento/\n*-failed-*\n")
    doors.landed()
    play.gate("quality_review", "failed", reason="No.")
    assert git(doors.root, "log", "-1", "--name-only", "--format=").endswith(".yaml")
    assert doors.gate("quality_review", run) == "failed"
    doors.remove(doors.path(doors.last(run, "failed")))
    doors.caught("D010")
