"""Periodic response to explicit forcing: ``harmonics`` (the first orbit) → ``response`` (the branch) →
``response_archive`` (its files)."""
