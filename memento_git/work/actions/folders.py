"""evidence run --out, evidence add --from: what a command showed, in a folder on its way to the ledger."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from memento_git.errors import MementoError, Misused, Refused, reason_of
from memento_git.ledger import atomic_file, codec, layout, outfile
from memento_git.model.ids import is_id
from memento_git.model.policy import Policy
from memento_git.model.states import RUN_KINDS
from memento_git.model.work import commands_of, without_file_ids
from memento_git.texts.secrets import refuse_secrets
from memento_git.texts.typed import lists
from memento_git.work.actions.attaching import read_file, refuse_secrets_in
from memento_git.work.actions.evidences import Draft, FolderInvalid, record_draft
from memento_git.work.proof import codes, trust
from memento_git.work.proof.verification import shown
from memento_git.work.run_writer import RunWriter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memento_git.ledger.store import Ledger
    from memento_git.ledger.transaction import Transaction
    from memento_git.model.objection import Objection

SHOWN: Final = (
    "id", "kind", "for", "at", "by", "outcome", "summary", "command", "code", "code_after", "reports", "problems",
    "dispatch", "allowed_secrets",
)  # fmt: skip


class FolderTaken(Refused):
    token = "folder_taken"
    sentence = "evidence cannot be written to {folder}: {problem}"
    hint_ = "name a folder that is empty or not there yet, outside of .git and .memento"


class NotBesideFolder(Misused):
    token = "from_alone"
    sentence = "--from adds evidence as it was written: {names} cannot be given with it"
    hint_ = "leave that out; anything else to be shown is evidence of its own: memento evidence add FILE"


class FolderOfOther(FolderInvalid):
    """A folder whose evidence was made for something else than what it is to be added for."""

    hint_ = "leave that out; what shows other work is run for it: memento evidence run --task TASK -- CMD"


def refuse_beside(**given: object) -> None:
    """Refuse what would be dropped, where a folder tells all but the run, the tasks and the dispatch."""
    if names := [name for name, value in given.items() if value]:
        raise NotBesideFolder(names=", ".join(names))


def refuse_taken(ledger: Ledger, folder: Path) -> None:
    """Refuse a folder that holds something, or that git and the ledger keep what is theirs in."""
    if folder.is_dir() and any(folder.iterdir()):
        raise FolderTaken(folder=folder, problem="it is not empty")
    if ledger.keeps(folder):
        raise FolderTaken(folder=folder, problem="that is where git and the ledger keep what is theirs")
    outfile.refuse_link(folder)


@lists
def write_folder(ledger: Ledger, draft: Draft, folder: Path, tasks: Sequence[str], summary: str) -> str:
    """Write a draft into a folder instead of the ledger, for a machine that must not commit."""
    refuse_secrets("summary", summary)
    identity = ledger.new_id("evidence")
    data = draft.ordered(identity, list(tasks), ledger.now(), ledger.actor, summary)
    folder.mkdir(parents=True, exist_ok=True)
    _put(folder, {"evidence.yaml": codec.encode(data), **draft.files})
    return identity


def _put(folder: Path, files: dict[str, bytes]) -> None:
    """Write files that are not there yet, all or none: what somebody wrote meanwhile, as another run, stays theirs."""
    written: list[Path] = []
    try:
        for name, content in files.items():
            with atomic_file.named(folder / name), (folder / name).open("xb") as stream:
                written.append(folder / name)
                stream.write(content)
    except BaseException:
        for path in written:
            path.unlink(missing_ok=True)
        raise


def keep_drafts(ledger: Ledger, drafts: Sequence[Draft], tasks: Sequence[str]) -> str:
    """Keep what commands showed and could not be recorded; return how to add it later and what is lost, or nothing."""
    ways, lost = [], []
    for draft in drafts:
        if draft.data["kind"] not in RUN_KINDS:
            continue
        command = draft.data["command"]
        try:
            ways.append(f"memento evidence add --from {_keep(ledger, draft, tasks)}")
        except (MementoError, OSError) as error:
            lost.append(f"`{shown(command['argv'])}` ended with {command['exit']}, and is lost: {reason_of(error)}")
    kept = [f"what the command{'s' * (len(ways) > 1)} showed is kept: {', then '.join(ways)}"] if ways else []
    return "; ".join([*kept, *lost])


def _keep(ledger: Ledger, draft: Draft, tasks: Sequence[str]) -> Path:
    """Keep a draft below the git directory, or where there is no room apart; return where."""
    full = [task for task in tasks if is_id(task, "task")]
    home = ledger.git.git_dir
    if (home / "HEAD").exists() and os.access(home, os.W_OK):
        with contextlib.suppress(OSError):
            return _whole(ledger, draft, home / "memento" / "drafts" / ledger.new_id("evidence"), full)
    return _whole(ledger, draft, Path(tempfile.mkdtemp(prefix="memento-")), full)


def _whole(ledger: Ledger, draft: Draft, folder: Path, tasks: Sequence[str]) -> Path:
    """Write a draft into a folder of its own, or leave none behind."""
    try:
        write_folder(ledger, draft, folder, tasks, "")
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder


@lists
def import_folder(
    tx: Transaction, folder: Path, *, run: str = "", tasks: Sequence[str] = (), dispatch: str = ""
) -> str:
    """Add the evidence that `evidence run --out` wrote; its bytes must be as they were written, and agree."""
    source = folder / "evidence.yaml"
    if not source.is_file():
        raise FolderInvalid(path=folder.name, problem="there is no evidence.yaml in it")
    if (size := source.stat().st_size) > codec.LARGEST:
        raise FolderInvalid(path=folder.name, problem=f"evidence.yaml has {size} bytes, more than a record may have")
    place, text = layout.Place("evidence", "", "", ""), read_file(source, f"{folder.name}/evidence.yaml")
    decoded = codec.decode(place, "evidence.yaml", text)
    if isinstance(decoded, list):
        raise FolderInvalid(path=folder.name, problem=str(decoded[0]))
    data = decoded.data
    if problem := _amiss(data):
        raise FolderInvalid(path=folder.name, problem=problem)
    writer = RunWriter.of(tx)
    _refuse_other(writer, folder.name, data, tasks, dispatch)
    refuse_secrets_in(tx, "evidence.yaml", without_file_ids(text.decode(), data).encode())
    for words in commands_of(data):
        refuse_secrets_in(tx, "the command in evidence.yaml", " ".join(words).encode())
    files: dict[str, bytes] = {}
    for stream in (data["command"]["stdout"], data["command"]["stderr"]):
        if "kept" in stream:
            content = _captured(folder, stream, writer.policy.output)
            refuse_secrets_in(tx, stream["kept"], content)
            files[stream["kept"]] = content
    return record_draft(tx, Draft(data, files), run=run, tasks=tasks or data.get("for", ()), dispatch=dispatch)


def _captured(folder: Path, stream: dict[str, Any], output: int) -> bytes:
    """Return what is kept of a stream; refuse what no machine keeps of it, be its policy the ledger's or none."""
    name = stream["kept"]
    path = folder / name
    size = path.stat().st_size if path.is_file() else 0
    if size > 2 * max(output, Policy().output):
        raise FolderInvalid(path=folder.name, problem=f"{name} has {size} bytes, more than is kept of any output")
    content = read_file(path, f"{folder.name}/{name}") if size else b""
    if hashlib.sha256(content).hexdigest() != stream.get("kept_sha256"):
        raise FolderInvalid(path=folder.name, problem=f"{name} is not what was captured")
    return content


def _refuse_other(writer: RunWriter, name: str, data: dict[str, Any], tasks: Sequence[str], dispatch: str) -> None:
    """Refuse to give evidence to other tasks, or another dispatch, than the folder says that it was made for."""
    told = (("task", tasks, data.get("for", [])), ("dispatch", [dispatch], [data.get("dispatch", "")]))
    for kind, given, made in told:
        named = {writer.find(one, kind)[0] for one in given if one}
        if any(made) and not named <= {*made}:
            problem = f"it was made for {', '.join(made)}, and is given for {', '.join(sorted(named))}"
            raise FolderOfOther(path=name, problem=problem)


def _amiss(data: dict[str, Any]) -> Objection:
    """Return what no command shows, or in what the facts disagree; nothing where all is well."""
    if "command" not in data or data["kind"] not in RUN_KINDS:
        return "evidence.yaml names no command"
    if more := [key for key in data if key not in SHOWN]:
        return f"evidence.yaml has {more[0]!r}, which evidence run does not write"
    covered = {path for key in ("code", "code_after") for path in data.get(key, {}).get("paths", ())}
    if away := sorted(path for path in covered if not codes.is_inside(path)):
        return f"evidence.yaml covers {away[0]!r}, and covered are paths of the code, from the top of the repository"
    if data["outcome"] != (did := trust.outcome_of(data)):
        return f"evidence.yaml says {data['outcome']}, and what the command did says {did}"
    return ""
