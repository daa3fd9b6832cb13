"""Records of problems and policies, found by name."""
