"""Results in files: written whole or not at all, and checked whole before anything is made of them."""
