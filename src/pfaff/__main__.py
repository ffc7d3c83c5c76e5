"""``python -m pfaff`` is the command ``pfaff``; Ctrl-C ends it at once while it is still being imported."""

from __future__ import annotations

import gc
import os
import signal


def main() -> None:
    # Collecting garbage during a run of a second costs a tenth of it; long commands switch it on again.
    gc.disable()
    usual = signal.signal(signal.SIGINT, _leave)
    from pfaff.cli import main as run

    signal.signal(signal.SIGINT, usual)
    run()


def _leave(*about: object) -> None:
    """Python's imports drop exceptions that come at the wrong moment; nothing is lost yet by leaving at once."""
    os.write(2, b"pfaff: interrupted\n")
    os._exit(130)


if __name__ == "__main__":
    main()
