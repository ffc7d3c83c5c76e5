"""Periodic response to explicit forcing: ``harmonics`` (the first orbit) → ``response`` (the branch), in files by
``response_archive``.
"""
