"""The longest wait for something that must come.

An answer that comes at all comes far sooner, even on a busy machine, so only a missing one fails a check."""

# Seconds for one answer, and for one check.
PATIENCE = 120
LIMIT = 600
