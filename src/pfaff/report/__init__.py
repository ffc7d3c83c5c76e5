"""Pages: mathematics, tables, pictures and code in one file.

Read ``document``, then ``html``, ``mathematics`` and ``stylesheet``. A page knows nothing of what it reports.
"""
