"""The list of generated files."""

from __future__ import annotations

import json

from docs.generator import actions, commands, errors, findings, formats, man, policy, rows, seed, tools
from docs.generator.schemas import documents


def outputs() -> dict[str, str]:
    """Return path -> text of every generated file."""
    schemas = {
        f"schemas/{name}.schema.json": json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
        for name, schema in documents().items()
    }
    pages = {
        "api": actions.api_page(),
        "apply": actions.apply_page(),
        "commands": commands.page(),
        "errors": errors.page(),
        "findings": findings.page(),
        "formats": formats.page(),
        "json": rows.page(),
        "mcp-tools": tools.page(),
        "policy": policy.page(),
        "seed-names": seed.page(),
    }
    manual = {"docs/git-memento.1": man.page()}
    return schemas | manual | {f"docs/reference/{name}.md": text for name, text in pages.items()}
