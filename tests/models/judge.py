"""Whether outputs are close enough to a peer's, and which one is right if they are not."""
# SPDX-License-Identifier: Apache-2.0

import math

RELATIVE = 1e-3  # of a value
FLOOR = 1e-5  # of the output's largest magnitude: what rounding leaves of values that cancel


def share(found, expected):
    """The worst difference of two flat lists, as a share of the tolerance.

    Integers, flags and what is not finite must be equal.
    """
    if len(found) != len(expected):
        raise ValueError(f"found {len(found)} elements; expected {len(expected)}")
    finite = [abs(value) for value in expected if math.isfinite(value)]
    floor = FLOOR * max(finite, default=0)
    return max((one_share(a, b, floor) for a, b in zip(found, expected)), default=0.0)


def one_share(a, b, floor):
    if a == b or (a != a and b != b):
        return 0.0
    if not (isinstance(a, float) and math.isfinite(a) and math.isfinite(b)):
        return math.inf
    allowed = RELATIVE * abs(b) + floor
    return abs(a - b) / allowed if allowed else math.inf


def verdict(found, peer, exact):
    """The judge that accepts `found`, or None, and the difference as a share of the tolerance.

    `exact` gives the same output of a run in f64, or None if there is none; it is asked only where the peer does not
    agree. Found is right as well where the peer's own result is further from it.
    """
    against_peer = share(found, peer)
    if against_peer <= 1:
        return "peer", against_peer
    wanted = exact()
    if wanted is None:
        return None, against_peer
    against_exact = share(found, wanted)
    if against_exact <= 1:
        return "f64", against_exact
    if against_exact <= share(peer, wanted):
        return "nearer to f64 than the peer", against_exact
    return None, against_exact
