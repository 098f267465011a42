"""The laws of metrics, for the tests of those who write their own."""
