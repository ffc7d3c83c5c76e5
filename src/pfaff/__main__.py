"""``python -m pfaff`` is the command ``pfaff``; Ctrl-C is heard while it is still being imported."""

from __future__ import annotations

import sys


def main() -> None:
    try:
        from pfaff.cli import main as run
    except KeyboardInterrupt:
        print("pfaff: interrupted", file=sys.stderr)
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
