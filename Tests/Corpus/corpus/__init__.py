"""Captures of made-up devices with what they show, and a judge of what `mynah import` makes of captures."""
