"""``python -m pfaff.cli``."""

from pfaff.cli import main

if __name__ == "__main__":
    main()
