"""The command line: one module a verb, no logic; heavy imports stand inside the commands."""
