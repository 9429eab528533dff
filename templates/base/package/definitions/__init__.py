"""The definition tables, a module per revision."""
