"""Papers under verification, a folder each; nothing outside imports from here."""
