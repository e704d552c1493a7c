#!/usr/bin/env python3
# Records PyTorch's gradients, in f64, for the tests beside this file.
# SPDX-License-Identifier: Apache-2.0
"""usage: record_torch.py [FOLDER]

With torch 2.15 on a CPU. Writes torch_{ops,training,models,shared}.txt into the folder, or beside this file."""

import os
import sys

import torch

import torch_models
import torch_ops
import torch_shared
import torch_training


def main():
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)  # the order of sums, and with it the last digit, is that of one thread
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    for module in (torch_ops, torch_training, torch_models, torch_shared):
        with open(os.path.join(folder, module.__name__ + ".txt"), "w") as out:
            module.record(out)


if __name__ == "__main__":
    main()
