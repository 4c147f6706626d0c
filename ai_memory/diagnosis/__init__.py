"""What is amiss with a memory and with agents' settings: small checks, one table of them. Changes nothing."""
