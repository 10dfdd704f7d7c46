"""Parameters of tests that need not meet in all combinations."""

import itertools

import pytest


def every_other(names, *values):
    """Every other combination of the values of each parameter ("a, b", [1, 2, 3], [4, 5]): those whose positions add up
    to an even number. Each value is there; of three parameters or more, any two values meet if a third one has a
    choice."""
    cases = [tuple(value for _, value in case)
             for case in itertools.product(*map(enumerate, values)) if sum(i for i, _ in case) % 2 == 0]  # fmt: skip
    return pytest.mark.parametrize(names, cases, ids=str)
