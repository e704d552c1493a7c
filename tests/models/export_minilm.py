"""Exports an encoder of MiniLM's shape with seeded random weights, and records PyTorch's result for one sentence.

    export_minilm.py FOLDER     writes FOLDER/model.onnx and FOLDER/test_data_set_0
"""
# SPDX-License-Identifier: Apache-2.0

import math
import pathlib
import sys

import torch
from torch import nn

LAYERS, WIDTH, HEADS, HIDDEN, TOKENS, WORDS = 6, 384, 12, 1536, 128, 4000


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.mix = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.up, self.down = nn.Linear(WIDTH, HIDDEN), nn.Linear(HIDDEN, WIDTH)
        self.after_attention, self.after_hidden = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)

    def forward(self, x):
        def heads(y):
            return y.reshape(1, TOKENS, HEADS, WIDTH // HEADS).transpose(1, 2)

        query, key, value = heads(self.query(x)), heads(self.key(x)), heads(self.value(x))
        scores = torch.softmax(query @ key.transpose(2, 3) / math.sqrt(WIDTH // HEADS), dim=-1)
        mixed = (scores @ value).transpose(1, 2).reshape(1, TOKENS, WIDTH)
        x = self.after_attention(x + self.mix(mixed))
        return self.after_hidden(x + self.down(nn.functional.gelu(self.up(x))))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(TOKENS, WIDTH)
        self.norm = nn.LayerNorm(WIDTH)
        self.layers = nn.Sequential(*(Layer() for _ in range(LAYERS)))

    def forward(self, ids):
        return self.layers(self.norm(self.words(ids) + self.places.weight)).mean(dim=1)


def varint(value):
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def tensor_proto(tensor, data_type):
    raw = tensor.numpy().tobytes()
    dims = b"".join(b"\x08" + varint(n) for n in tensor.shape)
    return dims + b"\x10" + varint(data_type) + b"\x4a" + varint(len(raw)) + raw


def main(folder):
    torch.manual_seed(1)
    torch.set_num_threads(1)
    model = Encoder().eval()
    ids = torch.randint(0, WORDS, (1, TOKENS))
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    with torch.no_grad():
        output = model(ids)
        torch.onnx.export(model, ids, str(folder / "model.onnx"), input_names=["ids"], opset_version=13)
    (data / "input_0.pb").write_bytes(tensor_proto(ids, 7))
    (data / "output_0.pb").write_bytes(tensor_proto(output, 1))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
