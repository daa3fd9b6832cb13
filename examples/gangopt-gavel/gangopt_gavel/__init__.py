"""Extension of gangopt: max-min fairness over GPU types as in Gavel."""
