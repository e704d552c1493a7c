#!/usr/bin/env python3
# Makes a run of run_on_gpu the data of a page: publish_facts.py RESULTS COMMIT >tests/bench/results/gpu_facts/NAME.json
# SPDX-License-Identifier: Apache-2.0
"""RESULTS is the folder that run_on_gpu wrote: facts.json and device.txt. COMMIT is what driver_facts was built from."""

import csv
import datetime
import json
import os
import re
import sys


def device(text):
    """Name, driver, CUDA version and date of nvidia-smi's report."""
    lines = text.splitlines()
    fields = dict(zip([name.strip() for name in lines[0].split(",")], next(csv.reader([lines[1]], skipinitialspace=True))))
    found = {"gpu": fields["name"], "driver": fields["driver_version"]}
    for name, pattern in (("cuda", r"CUDA Version\s*: (\S+)"), ("date", r"Timestamp\s*: (.+)"),
                          ("host", r"Model name:\s*(.+)")):
        match = re.search(pattern, text)
        if not match:
            raise ValueError("device.txt: found no %s; expected a line like %r" % (name, pattern))
        found[name] = match.group(1).strip()
    found["date"] = datetime.datetime.strptime(found["date"], "%a %b %d %H:%M:%S %Y").strftime("%Y-%m-%d")
    return found


def published(results, commit):
    with open(os.path.join(results, "device.txt"), encoding="utf-8") as file:
        run = device(file.read())
    with open(os.path.join(results, "facts.json"), encoding="utf-8") as file:
        facts = json.load(file)
    run["commit"] = commit
    run["seconds"] = round(facts["seconds"])
    return {"run": run, "rows": facts["rows"]}


def main(arguments):
    if len(arguments) != 2:
        sys.exit("usage: publish_facts.py RESULTS COMMIT")
    print(json.dumps(published(*arguments), indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main(sys.argv[1:])
