"""Files that memento itself makes for evidence: kept where policy's limit allows it, else as their digest."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memento_git.work.desk import Desk


def attached(desk: Desk, named: Mapping[str, bytes]) -> tuple[list[dict[str, Any]], dict[str, bytes]]:
    """Return what evidence says of these files, and those of them that are kept."""
    files, attachments = {}, []
    for name, content in named.items():
        told: dict[str, Any] = {"name": name, "sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
        if len(content) <= desk.policy.attach:
            files[name] = content
            told["kept"] = name
        else:
            desk.tx.ledger.warnings.append(
                f"{name} has {len(content)} bytes, more than policy's limits.attach: only its digest is kept"
            )
        attachments.append(told)
    return attachments, files
