"""Data of the problems: instances, solutions, checkers, files, generators and the named library."""
