"""Tests of the runtime that all styles and revisions share."""
