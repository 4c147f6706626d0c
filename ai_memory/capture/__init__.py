"""From spooled events to sessions, pages and handoffs."""
