"""Services for all floors: errors, files, arguments in names, checks."""
