"""What every floor uses: errors, files, arguments in names, checks."""
