"""``python -m pfaff`` is the command ``pfaff``; Ctrl-C is heard while it is still being imported."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    # Collecting garbage during a run of a second costs a tenth of it; long commands switch it on again.
    gc.disable()
    try:
        from pfaff.cli import main as run
    except KeyboardInterrupt:
        print("pfaff: interrupted", file=sys.stderr)
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
