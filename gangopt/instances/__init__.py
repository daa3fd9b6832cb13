"""What is to be decided and what a decision is worth: data classes, judges, files, generators and the named library."""
