"""Reports as one self-contained page: mathematics, tables, pictures, code. Knows nothing of what it reports."""
