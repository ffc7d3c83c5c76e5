"""Reports as one self-contained page: sections with mathematics, tables, pictures and code. Knows nothing of what it reports."""
