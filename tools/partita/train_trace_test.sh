#!/bin/bash
# The timeline of a training's last step, by `partita train --trace`: all commands
# of two replicas, and the loss read on the device of --output-device.
# SPDX-License-Identifier: Apache-2.0
set -eu
partita=$PWD/$1
cpus=$PWD/$2
cd "${TEST_TMPDIR:-$(mktemp -d)}"

(printf '\0\0\10\3\0\0\0\4\0\0\0\34\0\0\0\34'; head -c 3136 /dev/zero) > images.idx
printf '\0\0\10\1\0\0\0\4\3\1\4\1' > labels.idx
for device in cpu:0 cpu:1; do
  "$partita" train builtin:mnist --images images.idx --labels labels.idx \
    --batch 4 --epochs 2 --machine "$cpus" --strategy data --virtual \
    --output-device $device --trace $device.json --csv $device.csv
done

python3 - << 'END'
import collections, json

def spans_of(path):
    """Categories and names of what each device did."""
    with open(path) as file:
        events = json.load(file)["traceEvents"]
    devices = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    spans = collections.defaultdict(list)
    for e in events:
        if e["ph"] == "X":
            assert e["ts"] >= 0 and e["dur"] >= 0, e
            spans[devices[e["pid"]].split()[0]].append((e["cat"], e["name"]))
    return spans

losses = []
for device in ["cpu:0", "cpu:1"]:
    spans = spans_of(device + ".json")
    print(device, {d: collections.Counter(c for c, _ in s) for d, s in spans.items()})
    assert set(spans) == {"cpu:0", "cpu:1"}, "not the events of both devices"
    kernels = [sorted(n.split(" rank ")[0] for c, n in s if c == "kernel") for s in spans.values()]
    assert len(kernels[0]) > 40 and kernels[0] == kernels[1], "replicas compute other nodes"
    for d, s in spans.items():
        categories = {c for c, _ in s}
        assert {"feed", "kernel", "collective"} <= categories, f"{d} has only {categories}"
        # One step's, not two's.
        assert sum(c == "feed" for c, _ in s) == 2, f"{d} was not fed its part of images and labels"
    fetches = [(d, n) for d, s in spans.items() for c, n in s if c == "fetch"]
    assert fetches == [(device, "fetch loss")], f"outputs end as {fetches}, not on {device}"
    with open(device + ".csv") as file:
        losses.append([line.split(",")[2] for line in file])
assert len(losses[0]) == 3 and losses[0] == losses[1], f"the device changes the losses: {losses}"
END
