"""PyTorch's side of tests/bench/train: MODEL BATCH THREADS RUNS eager|compile, on the networks of graph/builder/examples.

Prints the median seconds of a step and the bytes that the process grew by.
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


class Block(nn.Module):
    def __init__(self, channels, width, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, width, 3, stride, 1, bias=False)
        self.conv2 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.bn1, self.bn2 = nn.BatchNorm2d(width), nn.BatchNorm2d(width)
        self.downsample = None
        if stride != 1 or channels != width:
            self.downsample = nn.Sequential(nn.Conv2d(channels, width, 1, stride, bias=False), nn.BatchNorm2d(width))

    def forward(self, x):
        y = functional.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return functional.relu(y + (x if self.downsample is None else self.downsample(x)))


class ResNet18(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64)
        widths = [64, 128, 256, 512]
        blocks = []
        for stage, width in enumerate(widths):
            blocks += [Block(widths[max(stage - 1, 0)], width, 2 if stage else 1), Block(width, width, 1)]
        self.blocks, self.fc = nn.Sequential(*blocks), nn.Linear(512, 10)

    def forward(self, x):
        return self.fc(self.blocks(functional.relu(self.bn1(self.conv1(x)))).mean((2, 3)))


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.all, self.out = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        n, context, width = x.shape
        q, k, v = (t.view(n, context, self.heads, -1).transpose(1, 2) for t in self.all(x).split(width, dim=2))
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(n, context, width))


class GptBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Gpt(nn.Module):
    def __init__(self, vocabulary=256, width=384, heads=6, layers=6, context=256):
        super().__init__()
        self.embedding, self.positions = nn.Embedding(vocabulary, width), nn.Parameter(torch.zeros(context, width))
        self.blocks = nn.Sequential(*(GptBlock(width, heads) for _ in range(layers)))
        self.norm = nn.LayerNorm(width)

    def forward(self, tokens):
        x = self.norm(self.blocks(self.embedding(tokens) + self.positions))
        return (x @ self.embedding.weight.T).flatten(0, 1)


def case(model, batch):
    """The network, its optimizer, and a batch."""
    if model == "gpt":
        network = Gpt()
        optimizer = torch.optim.AdamW(network.parameters(), 1e-3, weight_decay=0)
        return network, optimizer, torch.randint(0, 256, (batch, 256)), torch.randint(0, 256, (batch * 256,))
    labels = torch.randint(0, 10, (batch,))
    if model == "mnist":
        network = Mnist()
        return network, torch.optim.SGD(network.parameters(), 0.01, 0.5), torch.rand(batch, 1, 28, 28), labels
    if model != "resnet18":
        sys.exit(f"{model}: found no such model; expected mnist, resnet18 or gpt")
    network = ResNet18()
    optimizer = torch.optim.SGD(network.parameters(), 0.05, 0.9, weight_decay=5e-4)
    return network, optimizer, torch.rand(batch, 3, 64, 64), labels


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
