"""Named instances: small packaged files with a provenance record each, and the names that generators rebuild."""
