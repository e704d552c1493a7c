# Inputs of recorded gradients, and the format of numbers.
# SPDX-License-Identifier: Apache-2.0
"""Every input is a formula of its position, which the tests compute too (drawn.h)."""

import torch


def drawn(shape, number):
    """Numbers between -2 and 2, all different, for input `number`."""
    count = 1
    for extent in shape:
        count *= extent
    values = [((i * 7919 + number * 3571 + 17) % 1009 - 504) / 256 for i in range(count)]
    return torch.tensor(values).reshape(shape)


def drawn_indices(shape, below):
    count = 1
    for extent in shape:
        count *= extent
    return torch.tensor([(i * 7 + 3) % below for i in range(count)], dtype=torch.int64).reshape(shape)


def weighted(y, c):
    return (y * c).sum()


def numbers(tensor):
    return " ".join(repr(float(v)) for v in tensor.detach().reshape(-1))
