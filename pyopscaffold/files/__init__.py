"""Files that the tool makes: as values (artefact), as a plan (plan), and written (apply, the only writer)."""
