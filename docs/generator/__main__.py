"""Bring schemas and reference pages up to date; with --check, only say which are not."""

from __future__ import annotations

import sys
from pathlib import Path

from docs.generator.pages import outputs

ROOT = Path(__file__).parent.parent.parent


def main() -> int:
    """Write what differs and name it; return 1 with --check when something does."""
    stale = []
    for name, text in outputs().items():
        path = ROOT / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
            if "--check" not in sys.argv:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
    sys.stdout.writelines(f"{name}\n" for name in stale)
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
