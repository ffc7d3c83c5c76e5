"""Cycles of very many states: ``sparse_collocation`` (with ``sparse_chain``) and ``sparse_stepping``."""
