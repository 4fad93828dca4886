"""Cheats with what lies in the ledger's folder: archives, links, submodules, twins, attributes, and trees by hand."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from memento_git.ledger import layout
from memento_git.work.actions import runs
from tests.cheats.forging import MAIN, Forge
from tests.play import git

if TYPE_CHECKING:
    from tests.cheats.forging import Cli
    from tests.play import Play


@pytest.fixture
def forge(play: Play, cli: Cli) -> Forge:
    play.planned()
    return Forge(play, cli)


def _claimed_done(forge: Forge) -> tuple[str, str, bytes]:
    """Return a task of the main branch, and path and bytes of a completion of it that proves nothing."""
    play = forge.play
    task = play.task("One")
    claim = play.claimed(task)
    bad = play.evidence(task, code=1)
    forge.landed()
    path, data = forge.drafted(task, "completed", **forge.completion(task, bad, dispatch=claim))
    return task, path, data


def test_a_completion_that_comes_in_an_archive_is_judged_like_any_other(forge: Forge) -> None:
    """Way: an unproven completion lies in no file of its own, only in an archive of a run that is under way."""
    task, path, data = _claimed_done(forge)
    forge.packed(forge.play.state(task).id, {path: data})
    assert forge.play.status(task) == "completed"
    assert f"{task} is completed, but not proven" in forge.caught("P001")
    forge.unproven(task, "failed")


def test_an_unsigned_waiver_that_comes_in_an_archive_is_found(forge: Forge) -> None:
    """Way: the same with a waiver, where policy demands that waivers are signed."""
    forge.policy("  signatures: {allowed_signers: .memento/keys, require: {waivers: []}}\n")
    run = forge.play.state(forge.play.task("One")).id
    forge.landed()
    path, data = forge.drafted(run, "waived", gate="quality_review", reason="No time.")
    forge.packed(run, {path: data})
    assert forge.gate(run, "quality_review") == "waived"
    assert "policy demands a signature" in forge.caught("K001")


def test_an_archive_that_leaves_a_failure_out_is_found(forge: Forge) -> None:
    """Way: a run is archived by hand, all but the verdict that failed it."""
    play = forge.play
    run = play.planned("Two")
    play.do(runs.cancel_run, run, reason="Enough.")
    forge.landed()
    cancelled = forge.path(forge.last(run, "cancelled"))
    files = {path: play.ledger.view().read(path) or b"" for path in play.ledger.view().files if f"/{run}/" in path}
    for path in files:
        (forge.root / path).unlink()
    forge.packed(run, {path: data for path, data in files.items() if path != cancelled})
    play.commit_all("archived")
    assert play.status(run) == "active"
    assert "was in the ledger at the base" in forge.caught("D002")


def test_an_archive_with_other_bytes_than_its_files_is_found(forge: Forge) -> None:
    """Way: an archive holds a failed verdict as one that passed."""
    play = forge.play
    run = play.planned("Two")
    play.gate("quality_review", "failed", run=run, reason="No.")
    play.do(runs.cancel_run, run, reason="Enough.")
    play.do(runs.archive_run, run)
    forge.landed()
    packed = next((forge.root / layout.ARCHIVE / run).iterdir())
    view = play.ledger.view()
    view.index(run)
    files = {path: view.read(path) or b"" for path in view.archived[run]}
    failed = next(path for path in files if "-failed-" in path)
    forge.remove(packed.relative_to(forge.root).as_posix())
    forge.packed(run, {**files, failed: files[failed].replace(b"do: failed", b"do: passed")})
    forge.caught("D008", "F003")
    renamed = failed.replace("-failed-", "-passed-")
    forge.packed(run, {**{path: data for path, data in files.items() if path != failed},
                       renamed: files[failed].replace(b"do: failed", b"do: passed")})  # fmt: skip
    forge.caught("D008")


def test_an_archive_whose_name_is_not_its_digest_is_found(forge: Forge) -> None:
    """Way: the bytes of an archive are exchanged under its old name."""
    play = forge.play
    run = play.planned("Two")
    play.do(runs.cancel_run, run, reason="Enough.")
    play.do(runs.archive_run, run)
    forge.landed()
    packed = next((forge.root / layout.ARCHIVE / run).iterdir()).relative_to(forge.root).as_posix()
    other = forge.packed(run, {})
    data = (forge.root / other).read_bytes()
    forge.remove(other)
    forge.write(packed, data)
    forge.caught("A001")


@pytest.mark.parametrize("kind", ["link", "submodule"])
def test_what_is_no_plain_file_is_found(forge: Forge, kind: str) -> None:
    """Way: a symbolic link to captured output of the author's choice, or a submodule, in place of an event."""
    play = forge.play
    task = play.proven("One")
    forge.landed()
    path = forge.path(forge.last(task, "completed"))
    (forge.root / path).unlink()
    if kind == "link":
        (forge.root / path).symlink_to("/etc/hostname")
        git(forge.root, "add", path)
    else:
        head = git(forge.root, "rev-parse", "HEAD")
        git(forge.root, "rm", "-q", "--cached", path)
        git(forge.root, "update-index", "--add", "--cacheinfo", f"160000,{head},{path}")
    git(forge.root, "commit", "-qm", "by hand")
    forge.caught("F004", "D001")
    assert not play.is_proven(task)


def test_a_submodule_that_git_is_told_to_ignore_is_found(forge: Forge) -> None:
    """Way: .gitmodules has git ignore a submodule, so that a difference of it is none."""
    head = git(forge.root, "rev-parse", "HEAD")
    name = f"{layout.RUNS}/run_000000000000"
    (forge.root / ".gitmodules").write_text(f'[submodule "x"]\n\tpath = {name}\n\turl = ./x\n\tignore = all\n')
    git(forge.root, "add", ".gitmodules")
    git(forge.root, "update-index", "--add", "--cacheinfo", f"160000,{head},{name}")
    git(forge.root, "commit", "-qm", "by hand")
    assert "submodule" in forge.caught("F004")
    code, out, _ = forge.cli("check", "-C", str(forge.root), "--base", MAIN)
    assert (code, "F004" in out) == (5, True)


def test_the_folder_itself_as_a_link_leaves_no_ledger_and_is_found(forge: Forge) -> None:
    """Way: `.memento` leads to a ledger outside of the repository, in which all is well."""
    forge.play.proven("One")
    forge.landed()
    link = forge.blob(b"/tmp/elsewhere")
    top = [("120000", name, link) if name == ".memento" else (mode, name, oid)
           for mode, name, oid in forge.entries("HEAD^{tree}")]  # fmt: skip
    made = forge.commit_tree(forge.raw_tree(top), MAIN)
    code, found = forge.check("--at", made, "--base", MAIN)
    errors = {row["code"] for row in found if row["severity"] == "error"}
    assert (code, errors >= {"C004", "D002", "D006"}) == (5, True), found


def test_an_executable_event_is_the_same_event(forge: Forge) -> None:
    """Way: the mode of a file changes and its bytes do not. Nothing is gained."""
    task = forge.play.proven("One")
    forge.landed()
    path = forge.path(forge.last(task, "completed"))
    (forge.root / path).chmod(0o755)
    forge.play.commit_all("mode")
    assert forge.play.is_proven(task)
    forge.sound()


@pytest.mark.skipif(os.name != "posix", reason="needs a file system that tells case apart")
def test_a_twin_in_other_letters_is_found_and_not_read(forge: Forge) -> None:
    """Way: `Config.yaml` and `TASK.md` beside the real ones, so that some checkout reads those."""
    play = forge.play
    task = play.task("One", criteria=["Hard"])
    forge.landed()
    path = forge.path(task)
    twin = path.replace("task.md", "TASK.md")
    text = (forge.root / path).read_bytes()
    forge.write(twin, text.replace(b"Hard", b"Easy"))
    forge.write(".memento/Config.yaml", "version: 1\npolicy:\n  proof: {note: advisory}\n")
    told = forge.caught("F009")
    assert path in told
    assert layout.CONFIG in told
    assert play.state(task).prose(task).list("criteria") == ["Hard"]


def test_a_very_long_path_is_no_part_of_the_ledger(forge: Forge) -> None:
    """Way: an event so deep in folders that a checkout leaves it out."""
    run = forge.play.state(forge.play.task("One")).id
    forge.landed()
    name, data = forge.drafted(run, "passed", gate="quality_review")
    deep = f"{layout.RUNS}/{run}/" + "/".join(["d" * 100] * 30) + "/" + name.rpartition("/")[2]
    forge.write(deep, data)
    forge.warned("F010")
    assert forge.gate(run, "quality_review") == "none"


def test_a_tree_that_names_one_file_twice_is_found(forge: Forge) -> None:
    """Way: a tree, made by hand, holds two `config.yaml`: one to be read, one to be looked at."""
    forge.play.proven("One")
    forge.landed()
    weak = forge.blob(b"version: 1\npolicy:\n  proof: {note: advisory}\n")
    folder = [*forge.entries("HEAD:.memento"), ("100644", "config.yaml", weak)]
    folder.sort(key=lambda entry: entry[1])
    top = [(mode, name, forge.raw_tree(folder) if name == ".memento" else oid)
           for mode, name, oid in forge.entries("HEAD^{tree}")]  # fmt: skip
    made = forge.commit_tree(forge.raw_tree(top), MAIN)
    for options in (["--base", MAIN], ["--no-base"]):
        code, found = forge.check("--at", made, *options)
        assert (code, "F006" in {row["code"] for row in found if row["severity"] == "error"}) == (5, True), found


@pytest.mark.parametrize(
    "line",
    ["*.yaml -diff", ".memento/** binary", "/.memento/runs/** diff=quiet", "* filter=polish",
     "*.md working-tree-encoding=UTF-16", "*.yaml text eol=crlf", ".memento ident export-ignore"],
)  # fmt: skip
@pytest.mark.parametrize("where", [".gitattributes", ".memento/.gitattributes"])
def test_attributes_that_hide_or_change_ledger_files_are_told(forge: Forge, line: str, where: str) -> None:
    """Way: git is told to show no difference of ledger files, or to change their bytes on the way in or out."""
    task = forge.play.proven("One")
    forge.landed()
    there = forge.root / where
    before = there.read_text() if there.exists() else ""
    inside = line.replace("/.memento/", "/").replace(".memento/**", "**").replace(".memento ", "* ")
    forge.write(where, before + (inside if "/" in where else line) + "\n")
    assert "how git shows or stores" in forge.warned("C005")
    assert forge.play.is_proven(task)


def test_attributes_of_other_files_are_nobodys_business(forge: Forge) -> None:
    """Not a way: attributes of code, of what a host collapses, and those that the ledger itself sets."""
    forge.write(".gitattributes", "*.png binary\n/src/** -diff\n*.yaml text eol=lf\n# *.yaml -diff\n")
    forge.sound()


def test_bytes_that_a_filter_changed_on_the_way_in_are_found(forge: Forge) -> None:
    """Way: a clean filter rewrites an event that a user commits again."""
    play = forge.play
    run = play.state(play.task("One")).id
    play.gate("quality_review", "failed", reason="No.")
    forge.landed()
    git(forge.root, "config", "filter.polish.clean", "sed s/No/Yes/")
    (forge.root / ".git" / "info").mkdir(exist_ok=True)
    (forge.root / ".git" / "info" / "attributes").write_text("*.yaml filter=polish\n")
    git(forge.root, "add", "--renormalize", ".memento")
    git(forge.root, "commit", "-qm", "polished")
    (forge.root / ".git" / "info" / "attributes").unlink()
    git(forge.root, "reset", "-q", "--hard")
    assert forge.last(run, "failed") in forge.caught("D001")


def test_an_ignored_ledger_is_written_and_checked_all_the_same(forge: Forge) -> None:
    """Way: .gitignore, so that a failure is written and never committed."""
    play = forge.play
    run = play.state(play.task("One")).id
    forge.write(".gitignore", ".memento/\n*-failed-*\n")
    forge.landed()
    play.gate("quality_review", "failed", reason="No.")
    assert git(forge.root, "log", "-1", "--name-only", "--format=").endswith(".yaml")
    assert forge.gate(run, "quality_review") == "failed"
    forge.remove(forge.path(forge.last(run, "failed")))
    forge.caught("D010", but="squash")
