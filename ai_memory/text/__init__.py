"""Pure functions over text: no disk, no clock, no state."""
