"""What judge.py accepts and what it does not."""
# SPDX-License-Identifier: Apache-2.0

import math
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import judge  # noqa: E402


def no_exact():
    raise AssertionError("f64 was asked although the peer agrees")


class Share(unittest.TestCase):
    def test_a_thousandth_of_the_value_is_the_limit(self):
        self.assertAlmostEqual(judge.share([1.001], [1.0]), 1 / 1.01, places=6)
        self.assertGreater(judge.share([1.0011], [1.0]), 1)

    def test_a_small_value_beside_a_large_one_may_be_off_by_the_floor(self):
        self.assertLess(judge.share([100.0, 9e-4], [100.0, 0.0]), 1)
        self.assertGreater(judge.share([100.0, 1.1e-3], [100.0, 0.0]), 1)

    def test_integers_must_be_equal(self):
        self.assertEqual(judge.share([7, 1000], [7, 1000]), 0)
        self.assertEqual(judge.share([1000], [1001]), math.inf)

    def test_what_is_not_finite_must_be_the_same(self):
        self.assertEqual(judge.share([math.nan, math.inf], [math.nan, math.inf]), 0)
        for found, expected in ((math.nan, 1.0), (1.0, math.nan), (math.inf, -math.inf), (1e30, math.inf)):
            self.assertEqual(judge.share([found], [expected]), math.inf)

    def test_zeros_are_near_nothing_else(self):
        self.assertEqual(judge.share([0.0], [0.0]), 0)
        self.assertEqual(judge.share([1e-30], [0.0]), math.inf)

    def test_other_lengths_are_refused(self):
        with self.assertRaisesRegex(ValueError, "found 2 elements; expected 1"):
            judge.share([1.0, 1.0], [1.0])


class Verdict(unittest.TestCase):
    def test_the_peer_is_asked_first(self):
        self.assertEqual(judge.verdict([1.0], [1.0], no_exact), ("peer", 0.0))

    def test_f64_decides_where_the_peer_does_not_agree(self):
        self.assertEqual(judge.verdict([1.0], [5.9], lambda: [1.0]), ("f64", 0.0))
        self.assertIsNone(judge.verdict([1.0], [5.9], lambda: [5.9])[0])

    def test_nearer_to_f64_than_the_peer_is_right(self):
        self.assertEqual(judge.verdict([1.01], [1.02], lambda: [1.0])[0], "nearer to f64 than the peer")
        self.assertIsNone(judge.verdict([1.02], [1.01], lambda: [1.0])[0])

    def test_without_f64_the_peer_is_right(self):
        self.assertIsNone(judge.verdict([1.01], [1.0], lambda: None)[0])


if __name__ == "__main__":
    unittest.main()
