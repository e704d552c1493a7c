"""The program under test, and machines of equal CPUs for it."""
# SPDX-License-Identifier: Apache-2.0

import itertools
import json
import subprocess


def machine_json(devices, isa, memory):
    """Equal one-thread CPUs, all linked."""
    cpus = [
        {
            "name": f"cpu:{i}",
            "kind": "cpu",
            "memory": memory,
            "reserve": "0 B",
            "threads": 1,
            "isa": isa,
            "peak_flops": {"f64": 9.6e10, "f32": 1.92e11, "bf16": 3.84e11},
            "memory_bandwidth": 1.2e10,
            "launch_seconds": 1e-6,
        }
        for i in range(devices)
    ]
    links = [
        {"from": f"cpu:{a}", "to": f"cpu:{b}", "bandwidth": 6e9, "latency": 2e-6, "duplex": True}
        for a, b in itertools.combinations(range(devices), 2)
    ]
    return json.dumps({"name": f"{devices}_cpus", "devices": cpus, "links": links})


class Program:
    def __init__(self, path, folder):
        self.path = path
        self.folder = folder
        self.isa = json.loads(self("devices", "--output", "-"))["devices"][0]["isa"]

    def __call__(self, *arguments):
        command = [str(self.path), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command[1:])}\n{done.stdout}{done.stderr}".strip())
        return done.stdout

    def machine(self, devices, memory="4 GiB"):
        path = self.folder / f"cpus_{devices}.json"
        path.write_text(machine_json(devices, self.isa, memory))
        return path
