"""Apps of THEMIS: jobs, tuners and locality."""
