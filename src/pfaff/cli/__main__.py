"""``python -m pfaff.cli``."""

from pfaff.cli import main

main()
