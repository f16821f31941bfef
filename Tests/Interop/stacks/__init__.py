"""The stacks that meet, and what they do with each other."""
