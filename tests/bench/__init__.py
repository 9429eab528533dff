"""Measurements against the peers, in one run: `make bench`. Nothing here is a test, and no test asserts a timing."""
