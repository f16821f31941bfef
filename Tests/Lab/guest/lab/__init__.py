"""What scenarios are written with: a phone, the device under test, the air between them, and the machine's services."""
