"""One record a harness: paths, event names, payload fields, injection form."""
