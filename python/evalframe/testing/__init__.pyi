"""Public names of `evalframe.testing`, each with its module."""

from evalframe.testing.laws import check_laws as check_laws

__all__: list[str]
