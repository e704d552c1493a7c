#!/usr/bin/env python3
# Runs the standard's newest node tests by `partita run --test-data`, and writes which pass and why others do not.
#
#   python3 -m venv v && v/bin/pip install onnx==1.22.0
#   mkdir -p DATA/node && v/bin/backend-test-tools generate-data -o DATA
#   python3 tests/conformance/node_tests.py --data DATA/node --partita bazel-bin/tools/partita/partita \
#       --table docs/reference/node_tests.md
#
# Without --table nothing is written. The exit code is 1 if a case gives wrong numbers, if the program dies, or if a case
# fails that the old table did not list.
# SPDX-License-Identifier: Apache-2.0
import argparse
import collections
import concurrent.futures
import os
import re
import subprocess
import sys

# Data that contradict ONNX Runtime and PyTorch alike (docs/internals/numerics.md).
CONTRADICTED = {
    "test_resize_downsample_scales_cubic_align_corners",
    "test_resize_downsample_scales_linear_align_corners",
}
# Their data are NumPy's random numbers; the standard does not define them.
DRAWN = {
    "test_training_dropout",
    "test_training_dropout_default",
    "test_training_dropout_default_mask",
    "test_training_dropout_mask",
}
KNOWN = {case: "the data contradict ONNX Runtime and PyTorch" for case in CONTRADICTED} | {
    case: "the data are random numbers that NumPy drew" for case in DRAWN
}
SECONDS = 120


def run_case(partita, folder):
    """Nothing if every data set passes, else (exit code, message) of the first that does not."""
    for data in sorted(os.listdir(folder)):
        if not data.startswith("test_data_set"):
            continue
        command = [partita, "run", f"{folder}/model.onnx", "--test-data", f"{folder}/{data}"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return 124, f"does not end within {SECONDS} s"
        if done.returncode != 0:
            return done.returncode, done.stderr.strip()
    return None


def reason(message):
    """The message without the details of a case."""
    text = re.sub(r"^partita: ", "", message.replace("\n", " "))
    text = re.sub(r"^\S*?(model\.onnx|\.pb): ", "", text)
    ops = re.findall(r"(\w+)(?: of domain (\S+))? \((?:node|giving)", text)
    if "op is not supported" in text:
        return "no " + ", ".join(sorted({f"{domain}.{op}" if domain else op for op, domain in ops}))
    text = re.sub(r" \((?:node|giving) [^)]*\)", "", text)
    text = re.sub(r"\(input [^)]*\)", "", text)
    return re.sub(r"\b(input|output) \S+:", r"\1:", re.sub(r"%\S+", "%", text))[:160]


def outcomes(partita, root, jobs):
    cases = sorted(os.listdir(root))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        found = pool.map(lambda case: run_case(partita, os.path.join(root, case)), cases)
        return dict(zip(cases, found))


def is_wrong(case, outcome):
    code, message = outcome
    if case in KNOWN:
        return False
    return code not in (1, 2) or "outside the tolerances" in message


def table(results):
    reasons = collections.defaultdict(list)
    for case, outcome in results.items():
        if outcome is not None:
            reasons[KNOWN.get(case) or reason(outcome[1])].append(case.removeprefix("test_"))
    passed = sum(outcome is None for outcome in results.values())
    lines = [
        "# ONNX node tests",
        "",
        f"{passed} of the {len(results)} node tests of ONNX 1.22 pass with `partita run MODEL --test-data FOLDER`. "
        "None gives wrong",
        "numbers. The table says why the others do not pass. `tests/conformance/node_tests.py` runs them and writes this page.",
        "",
        "| cases | reason | names |",
        "|---|---|---|",
    ]
    for text, cases in sorted(reasons.items(), key=lambda row: (-len(row[1]), row[0])):
        lines.append(f"| {len(cases)} | {text.replace('|', ' ')} | {' '.join(cases)} |")
    return "\n".join(lines) + "\n"


def listed(path):
    if path is None or not os.path.exists(path):
        return None
    with open(path) as page:
        return {word for line in page if line.startswith("| ") for word in line.split("|")[-2].split()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    parser.add_argument("--partita", required=True)
    parser.add_argument("--table")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    results = outcomes(arguments.partita, arguments.data, arguments.jobs)
    before = listed(arguments.table)
    bad = [case for case, outcome in results.items() if outcome is not None and is_wrong(case, outcome)]
    lost = [
        case for case, outcome in results.items()
        if outcome is not None and before is not None and case.removeprefix("test_") not in before
    ]
    for kind, cases in (("wrong", bad), ("does not pass any more", lost)):
        for case in cases:
            print(f"{kind}: {case}: {results[case][1]}")
    if arguments.table is not None and not bad:
        with open(arguments.table + ".new", "w") as page:
            page.write(table(results))
        os.replace(arguments.table + ".new", arguments.table)
    print(f"{sum(outcome is None for outcome in results.values())} of {len(results)} pass, {len(bad)} wrong")
    return 1 if bad or lost else 0


sys.exit(main())
