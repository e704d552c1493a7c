#!/usr/bin/env python3
# Records gradients as PyTorch computes them, in f64, for the tests beside this file.
# SPDX-License-Identifier: Apache-2.0
"""usage: record_torch.py   (with torch 1.13 or newer; writes torch_{ops,training,models}.txt beside it)"""

import os

import torch

import torch_models
import torch_ops
import torch_training


def main():
    torch.set_default_dtype(torch.float64)
    folder = os.path.dirname(os.path.abspath(__file__))
    for module in (torch_ops, torch_training, torch_models):
        with open(os.path.join(folder, module.__name__ + ".txt"), "w") as out:
            module.record(out)


if __name__ == "__main__":
    main()
