"""``python -m pfaff`` is the command ``pfaff``."""

from pfaff.cli import main

if __name__ == "__main__":
    main()
