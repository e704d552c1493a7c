"""PyTorch's side of tests/bench/train: MODEL BATCH THREADS RUNS eager|compile.

Trains the network of PyTorch's MNIST example. Prints the median seconds of a step and the bytes that the process grew by.
"""

import json
import statistics
import sys
import time

import torch
from torch import nn
from torch.nn import functional


class Mnist(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 10, 5), nn.Conv2d(10, 20, 5)
        self.dropout2d, self.dropout = nn.Dropout2d(0.5), nn.Dropout(0.5)
        self.fc1, self.fc2 = nn.Linear(320, 50), nn.Linear(50, 10)

    def forward(self, x):
        x = functional.relu(functional.max_pool2d(self.conv1(x), 2))
        x = functional.relu(functional.max_pool2d(self.dropout2d(self.conv2(x)), 2))
        return self.fc2(self.dropout(functional.relu(self.fc1(x.flatten(1)))))


def case(model, batch):
    """The network, its optimizer, and a batch."""
    if model != "mnist":
        sys.exit(f"{model}: found no such model; expected mnist")
    network = Mnist()
    optimizer = torch.optim.SGD(network.parameters(), 0.01, 0.5)
    return network, optimizer, torch.rand(batch, 1, 28, 28), torch.randint(0, 10, (batch,))


def memory(field):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(field))


def main():
    model, batch, threads, runs, how = sys.argv[1], *map(int, sys.argv[2:5]), sys.argv[5]
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    before = memory("VmRSS")
    network, optimizer, x, labels = case(model, batch)
    scores = torch.compile(network) if how == "compile" else network

    def step():
        optimizer.zero_grad()
        loss = functional.cross_entropy(scores(x), labels)
        loss.backward()
        optimizer.step()
        return loss.item()

    for _ in range(3):
        step()
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # the peak begins anew: compiling is no part of it
    seconds = []
    for _ in range(runs):
        start = time.perf_counter()
        step()
        seconds.append(time.perf_counter() - start)
    print(json.dumps({"seconds": statistics.median(seconds), "bytes": memory("VmHWM") - before}))


main()
