"""THEMIS as a system: the arbiter's two phases, the partial-allocation auction, and rounds of leases."""
