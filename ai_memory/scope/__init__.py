"""Which workspace and project a directory belongs to, read without starting git."""
