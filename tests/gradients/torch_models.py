# Gradients of whole models by all their weights, by PyTorch.
# SPDX-License-Identifier: Apache-2.0
"""torch_models.txt has named lists of numbers for models that the tests build in C++."""

import torch
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel

from drawn import drawn, drawn_indices, numbers
from torch_replicas import mean_of_replicas, on_replicas, own_part


def digest(value):
    """Over all elements: the sum of squares, and a sum with a different weight for each."""
    return numbers(torch.stack([(value * value).sum(), (value * drawn(list(value.shape), 1)).sum()]))


def model_weights(shapes):
    """Drawn by their position among the sorted names; leaves of the backward pass."""
    return {name: (drawn(shapes[name], number) / 8).requires_grad_() for number, name in enumerate(sorted(shapes))}


def record_step(out, name, loss, gradients, statistics=()):
    out.write("%s loss: %s\n" % (name, numbers(loss)))
    for weight in sorted(gradients):
        out.write("%s %s: %s\n" % (name, weight, digest(gradients[weight])))
    for statistic, value in sorted(statistics):
        out.write("%s %s: %s\n" % (name, statistic, digest(value)))


def gpt_shapes(layers, width, context, vocabulary):
    shapes = {"embedding.weight": [vocabulary, width], "positions.weight": [context, width],
              "head.weight": [vocabulary, width], "head.norm.weight": [width], "head.norm.bias": [width]}
    for i in range(1, layers + 1):
        for part, inputs, outputs in (("attention.in", width, 3 * width), ("attention.out", width, width),
                                      ("mlp.in", width, 4 * width), ("mlp.out", 4 * width, width)):
            shapes["block%d.%s.weight" % (i, part)] = [inputs, outputs]
            shapes["block%d.%s.bias" % (i, part)] = [outputs]
        for norm in ("norm1", "norm2"):
            shapes["block%d.%s.weight" % (i, norm)] = [width]
            shapes["block%d.%s.bias" % (i, norm)] = [width]
    return shapes


def gpt_scores(w, tokens, layers, heads, head):
    def norm(x, name):
        return F.layer_norm(x, x.shape[-1:], w[name + ".weight"], w[name + ".bias"])

    def linear(x, name):
        return x @ w[name + ".weight"] + w[name + ".bias"]

    def attention(x, name):
        n, time, width = x.shape
        q, k, v = (part.reshape(n, time, heads, width // heads).transpose(1, 2)
                   for part in linear(x, name + ".in").chunk(3, dim=2))
        scores = q @ k.transpose(2, 3) / (width // heads) ** 0.5
        hidden = torch.ones(time, time).triu(1).bool()
        y = scores.masked_fill(hidden, float("-inf")).softmax(-1) @ v
        return linear(y.transpose(1, 2).reshape(n, time, width), name + ".out")

    x = F.embedding(tokens, w["embedding.weight"]) + w["positions.weight"]
    for i in range(1, layers + 1):
        block = "block%d." % i
        x = x + attention(norm(x, block + "norm1"), block + "attention")
        x = x + linear(F.gelu(linear(norm(x, block + "norm2"), block + "mlp.in")), block + "mlp.out")
    return norm(x, "head.norm") @ w[head].T


def record_gpt(out):
    tokens = drawn_indices([2, 4], 5)
    labels = (tokens * 3 + 1) % 5
    for name, head in (("gpt", "head.weight"), ("tied gpt", "embedding.weight")):
        shapes = gpt_shapes(2, 8, 4, 5)
        if head != "head.weight":
            del shapes["head.weight"]
        w = model_weights(shapes)
        scores = gpt_scores(w, tokens, 2, 2, head)
        loss = F.cross_entropy(scores.reshape(8, 5), labels.reshape(8))
        loss.backward()
        record_step(out, name, loss, {weight: w[weight].grad for weight in w})


def convolution(inputs, outputs, kernel, stride):
    return torch.nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False)


class Block(torch.nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1, self.bn1 = convolution(inputs, outputs, 3, stride), torch.nn.BatchNorm2d(outputs)
        self.conv2, self.bn2 = convolution(outputs, outputs, 3, 1), torch.nn.BatchNorm2d(outputs)
        self.downsample = torch.nn.Sequential()
        if stride == 2:
            self.downsample = torch.nn.Sequential(convolution(inputs, outputs, 1, 2), torch.nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + self.downsample(x))


class ResNet18(torch.nn.Module):
    """For small images, with torchvision's names."""

    def __init__(self, width, classes):
        super().__init__()
        self.conv1, self.bn1 = convolution(3, width, 3, 1), torch.nn.BatchNorm2d(width)
        inputs = width
        for stage in range(4):
            outputs = width << stage
            first = Block(inputs, outputs, 1 if stage == 0 else 2)
            setattr(self, "layer%d" % (stage + 1), torch.nn.Sequential(first, Block(outputs, outputs, 1)))
            inputs = outputs
        self.fc = torch.nn.Linear(inputs, classes)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(x.mean((2, 3)))


def drawn_resnet18():
    model = ResNet18(4, 5)
    weights = model_weights({name: list(weight.shape) for name, weight in model.named_parameters()})
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.copy_(weights[name])
    return model


def running_statistics(model):
    return [(name, value) for name, value in model.named_buffers() if name.endswith(("running_mean", "running_var"))]


def record_resnet18(out):
    model = drawn_resnet18()
    loss = F.cross_entropy(model(drawn([4, 3, 8, 8], 0)), drawn_indices([4], 5))
    loss.backward()
    gradients = {name: weight.grad for name, weight in model.named_parameters()}
    record_step(out, "resnet18", loss, gradients, running_statistics(model))


def resnet18_replica():
    """A step in the process of one replica; gradients are averaged over replicas."""
    replica = DistributedDataParallel(drawn_resnet18())
    images, labels = own_part(drawn([8, 3, 16, 16], 0)), own_part(drawn_indices([8], 5))
    loss = F.cross_entropy(replica(images), labels)
    loss.backward()
    model = replica.module
    gradients = {name: weight.grad for name, weight in model.named_parameters()}
    return mean_of_replicas(loss), gradients, running_statistics(model)


def record_resnet18_replicas(out):
    """Each half of the batch has its own statistics; the running ones are the first replica's."""
    record_step(out, "two-replica resnet18", *on_replicas(resnet18_replica, 2))


def record(out):
    record_gpt(out)
    record_resnet18(out)
    record_resnet18_replicas(out)
