"""The parts of scenarios: a phone, the device under test, the air between them, and the machine's services."""
