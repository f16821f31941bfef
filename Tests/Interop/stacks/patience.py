"""The longest wait for something that must come.

What works is done far sooner, even on a busy machine, so only what never comes fails a check."""

# Seconds for one answer, and for one check.
PATIENCE = 120
LIMIT = 600
