#!/usr/bin/env python3
# Records ONNX Runtime's results, for the tests beside this file.
# SPDX-License-Identifier: Apache-2.0
"""usage: record.py [FOLDER]

With onnxruntime 1.32, onnx 1.23 and torch 2.15 on a CPU. Writes the files that the tests read into the folder, or beside this file."""

import os
import sys

import onnxruntime

import empty_values
import recurrent
import resize
import special_values
import standard_ops
import transformers


def main():
    onnxruntime.set_default_logger_severity(3)
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    for module in (empty_values, recurrent, resize, special_values, standard_ops, transformers):
        module.record(folder)


if __name__ == "__main__":
    main()
