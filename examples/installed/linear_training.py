# Trains a linear model on two virtual devices.
# SPDX-License-Identifier: Apache-2.0
"""linear_training.py MODEL.graph MACHINE.json"""

import sys

import numpy as np
import partita


def main(model, machine):
    x = np.array([[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 1, 0]], np.float32)
    t = np.array([[1, 0, 2], [0, 1, 2], [1, 1, 2], [1, 1, 0], [1, 2, 0]], np.float32)
    plan = partita.compile(model, machine=machine, strategy="data")
    with plan.session(devices="virtual") as session:
        for step in range(1, 1001):
            loss = session.run({"x": x, "t": t})["loss"]
            if step in (1, 10, 100, 1000):
                print("step %4d: loss %.1f" % (step, loss))


if len(sys.argv) != 3:
    sys.exit("usage: " + __doc__)
main(*sys.argv[1:])
