# SPDX-License-Identifier: Apache-2.0
"""shares.py gives the exact bounds of the binomial distribution."""
import math
import random
from fractions import Fraction

import pytest

import shares


def exactly(p, n, ks):
    """P(the count is one of ks), by whole numbers alone."""
    p = Fraction(p)
    return sum(math.comb(n, k) * p**k * (1 - p)**(n - k) for k in ks)


@pytest.mark.parametrize("p, n, alarm, low, high", [
    # quantiles of published tables of the binomial distribution
    (0.5, 10, 0.05, 2, 8),    # P(X < 2) = 0.0107, P(X < 3) = 0.0547
    (0.5, 20, 0.025, 6, 14),  # P(X < 6) = 0.0207, P(X < 7) = 0.0577
    (0.5, 20, 1e-6, 1, 19),   # P(X < 1) = 2**-20 = 9.5e-7
    (0.5, 19, 1e-6, 0, 19),   # P(X < 1) = 2**-19 = 1.9e-6
    (0.0, 100, 1e-6, 0, 0),
    (1.0, 100, 1e-6, 100, 100),
    (0.75, 0, 1e-6, 0, 0),
])
def test_bounds_are_the_known_quantiles(p, n, alarm, low, high):
    assert (shares.least(p, n, alarm), shares.most(p, n, alarm)) == (low, high)


@pytest.mark.parametrize("p, n", [(0.75, 285), (0.99, 50), (0.019, 400), (0.001, 30)])
def test_a_bound_is_the_last_one_that_the_false_alarm_allows(p, n):
    low, high = shares.least(p, n), shares.most(p, n)

    assert exactly(p, n, range(low)) <= shares.FALSE_ALARM < exactly(p, n, range(low + 1))
    assert exactly(p, n, range(high + 1, n + 1)) <= shares.FALSE_ALARM
    assert high == 0 or exactly(p, n, range(high, n + 1)) > shares.FALSE_ALARM


def test_the_needed_number_gives_the_wanted_distance():
    n = shares.needed(0.75, 0.05)

    assert 0.70 * n <= shares.least(0.75, n) and shares.most(0.75, n) <= 0.80 * n
    assert shares.least(0.75, n // 2) < 0.70 * (n // 2)
    assert n == pytest.approx((4.753 / 0.05)**2 * 0.75 * 0.25, rel=0.05)  # the normal quantile


def test_ticks_of_cpu_time_are_found_and_lost_or_doubled_ones_rejected():
    chance = random.Random(19)
    count = sum(chance.random() < 0.019 for _ in range(60_000))

    assert shares.fits_cpu_time(count, 60, 19)
    assert not shares.fits_cpu_time(count * 0.8, 60, 19)
    assert not shares.fits_cpu_time(2 * count, 60, 19)
    assert shares.fits_cpu_time(2 * count, 60, 19, stolen=60)
    assert not shares.fits_cpu_time(count * 0.8, 60, 19, stolen=60)
