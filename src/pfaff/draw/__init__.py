"""Pictures: every result draws itself through one of these rooms."""
