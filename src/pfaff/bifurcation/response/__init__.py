"""Periodic response to explicit forcing: ``harmonics`` → ``first_responses`` (the first orbit) → ``response`` (the
branch) → ``response_archive`` (its files)."""
