"""Functions that make instances from the arguments in their names, and readers of other people's files."""
