"""Examples in the source are tests; a module without one need not be imported to look for it."""

from __future__ import annotations

from pathlib import Path

SOURCE = Path(__file__).parent / "src"


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    module = collection_path.suffix == ".py" and SOURCE in collection_path.parents
    return True if module and ">>>" not in collection_path.read_text(encoding="utf-8") else None
