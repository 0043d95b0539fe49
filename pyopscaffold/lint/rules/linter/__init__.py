"""Rules LC: about the linter's own suppressions and baseline."""
