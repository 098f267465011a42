"""Logs of Inspect, `.eval` and `.json`."""
