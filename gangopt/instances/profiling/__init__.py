"""Job profiles from message logs."""
