"""Where things are: in the guest where it mounted them, on this machine where its environment says."""

import os
from pathlib import Path

CHECKOUT = Path(os.environ.get("LAB_CHECKOUT", "/mnt/checkout"))
BINARY = os.environ.get("LAB_MYNAH", "/mnt/mynah/mynah")
# The paths of the request and of the results.
RESULTS = Path(os.environ.get("LAB_RESULTS", "/mnt/results"))
# Logs are written in memory and copied: a daemon that waits for the host's disk is a slower daemon.
WORK = Path(os.environ.get("LAB_WORK", "/run/lab"))
LOGS = WORK / "logs"
