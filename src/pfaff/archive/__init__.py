"""Results in files: written whole or not at all, checked whole before anything is made of them.

Read ``layouts`` (what a kind of file holds) and ``stored`` (written, read, compared with a case), then ``loading``,
the door to every kind; ``files`` is for files of any kind. Results know how they are laid out; nothing here knows a
result.
"""
