"""From a query to ranked hits."""
