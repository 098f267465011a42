"""The laws of metrics, for the tests of those who write their own."""

from evalframe.testing.laws import check_laws as check_laws
