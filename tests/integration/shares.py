# SPDX-License-Identifier: Apache-2.0
"""shares - bounds for a count of random samples whose expected share is known by construction.

Each of n samples has a property with probability p, independently of the others, so that the count
is binomial. The bounds are exact: a true share of p is rejected on each side with a probability of
at most `alarm`. Most samples of a claim like "at least 99 % of the stacks" have a p that is only
known to be at least 0.99; then least() alone is asserted.

    assert shares.least(0.75, n) <= leaves["leaf_a"] <= shares.most(0.75, n)
    before = shares.stolen_seconds()
    ...
    assert shares.fits_cpu_time(ticks, seconds, HERTZ, shares.stolen_seconds() - before)
"""
import math
import os

FALSE_ALARM = 1e-6


def probability(p, n, k):
    """The probability that exactly k of n samples have a property of share p, with 0 < p < 1."""
    return math.exp(math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) +
                    k * math.log(p) + (n - k) * math.log1p(-p))


def least(p, n, alarm=FALSE_ALARM):
    """The largest count k for which P(fewer than k of n) is at most alarm."""
    assert 0 <= p <= 1 and n >= 0 and 0 < alarm < 1, (p, n, alarm)
    if p in (0, 1):
        return n if p else 0
    below = 0.0
    for k in range(n):
        below += probability(p, n, k)
        if below > alarm:
            return k
    return n


def most(p, n, alarm=FALSE_ALARM):
    """The smallest count k for which P(more than k of n) is at most alarm."""
    return n - least(1 - p, n, alarm)


def needed(p, distance, alarm=FALSE_ALARM):
    """A number of samples whose bounds are at most `distance` (of 1) away from p."""
    assert 0 < distance < 1, distance

    def is_enough(n):
        return least(p, n, alarm) >= n * (p - distance) and most(p, n, alarm) <= n * (p + distance)

    few, many = 0, 1
    while not is_enough(many):
        few, many = many, 2 * many
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (few, middle) if is_enough(middle) else (middle, many)
    return many


def ticks(seconds, hertz, alarm=FALSE_ALARM):
    """(least, most): how many samples a process may have that used `seconds` of CPU time.

    Each millisecond that it runs has a tick with a probability of hertz / 1000. A process that
    runs alone is sampled more evenly than that.
    """
    p, n = hertz / 1000, round(1000 * seconds)
    return least(p, n, alarm), most(p, n, alarm)


def stolen_seconds():
    """The time since boot in which the hypervisor ran something else on the CPUs of this machine.

    The kernel does not count it as CPU time of the process that was interrupted, but the tick of
    that time finds the process running.
    """
    with open("/proc/stat", encoding="ascii") as f:
        fields = f.readline().split()
    return int(fields[8]) / os.sysconf("SC_CLK_TCK")  # cpu, user, nice, ... steal: see proc(5)


def fits_cpu_time(count, seconds, hertz, stolen=0):
    """True if `count` samples are plausible for this CPU time, see ticks(), and for at most
    `stolen` seconds more, see stolen_seconds()."""
    return ticks(seconds, hertz)[0] <= count <= ticks(seconds + stolen, hertz)[1]
