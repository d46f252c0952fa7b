"""The calls of the store, one file for each kind. ``SessionDB`` is all of them together."""
