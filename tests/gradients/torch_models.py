# Gradients of whole models by all their weights, by PyTorch.
# SPDX-License-Identifier: Apache-2.0
"""torch_models.txt has named lists of numbers, of what the tests build in C++."""

import torch
import torch.nn.functional as F

from drawn import drawn, drawn_indices, numbers


def digest(value):
    """Of all elements: their squares, and a sum in which each has a weight of its own."""
    return numbers(torch.stack([(value * value).sum(), (value * drawn(list(value.shape), 1)).sum()]))


def model_weights(shapes):
    """Drawn by their place among the names in order; leaves of the backward pass."""
    return {name: (drawn(shapes[name], number) / 8).requires_grad_() for number, name in enumerate(sorted(shapes))}


def record_model(out, name, loss, weights, statistics=()):
    loss.backward()
    out.write("%s loss: %s\n" % (name, numbers(loss)))
    for weight in sorted(weights):
        out.write("%s %s: %s\n" % (name, weight, digest(weights[weight].grad)))
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
        record_model(out, name, F.cross_entropy(scores.reshape(8, 5), labels.reshape(8)), w)


def resnet18_convolutions(width):
    """(convolution, norm, channels in, channels out, kernel, stride) as torchvision names them."""
    yield "conv1", "bn1", 3, width, 3, 1
    for stage in range(4):
        outputs = width << stage
        inputs = width if stage == 0 else outputs // 2
        for block in range(2):
            name = "layer%d.%d." % (stage + 1, block)
            stride = 2 if stage > 0 and block == 0 else 1
            yield name + "conv1", name + "bn1", inputs if block == 0 else outputs, outputs, 3, stride
            yield name + "conv2", name + "bn2", outputs, outputs, 3, 1
            if stride == 2:
                yield name + "downsample.0", name + "downsample.1", inputs, outputs, 1, 2


def resnet18_weights(width, classes):
    shapes = {"fc.weight": [classes, 8 * width], "fc.bias": [classes]}
    for conv, norm, inputs, outputs, kernel, _ in resnet18_convolutions(width):
        shapes[conv + ".weight"] = [outputs, inputs, kernel, kernel]
        shapes[norm + ".weight"] = shapes[norm + ".bias"] = [outputs]
    return model_weights(shapes)


def resnet18_statistics(width):
    statistics = {}
    for _, norm, _, outputs, _, _ in resnet18_convolutions(width):
        statistics[norm + ".running_mean"] = torch.zeros(outputs)
        statistics[norm + ".running_var"] = torch.ones(outputs)
    return statistics


def resnet18_loss(w, statistics, width, x, labels):
    """Moves the statistics."""
    strides, norms = {}, {}
    for conv, norm, _, _, _, stride in resnet18_convolutions(width):
        strides[conv], norms[conv] = stride, norm

    def conv_norm(x, conv):
        weight, norm = w[conv + ".weight"], norms[conv]
        y = F.conv2d(x, weight, stride=strides[conv], padding=weight.shape[2] // 2)
        return F.batch_norm(y, statistics[norm + ".running_mean"], statistics[norm + ".running_var"],
                            w[norm + ".weight"], w[norm + ".bias"], training=True)

    x = F.relu(conv_norm(x, "conv1"))
    for stage in range(1, 5):
        for block in range(2):
            name = "layer%d.%d." % (stage, block)
            y = conv_norm(F.relu(conv_norm(x, name + "conv1")), name + "conv2")
            shortcut = conv_norm(x, name + "downsample.0") if name + "downsample.0" in norms else x
            x = F.relu(y + shortcut)
    return F.cross_entropy(F.linear(x.mean((2, 3)), w["fc.weight"], w["fc.bias"]), labels)


def record_resnet18(out):
    width, classes = 4, 5
    w, statistics = resnet18_weights(width, classes), resnet18_statistics(width)
    loss = resnet18_loss(w, statistics, width, drawn([4, 3, 8, 8], 0), drawn_indices([4], classes))
    record_model(out, "resnet18", loss, w, statistics.items())


def record_resnet18_replicas(out):
    """As DistributedDataParallel: of each half of the batch its own statistics, of the gradients the mean; the running
    statistics that are kept are the first replica's."""
    width, classes = 4, 5
    w, statistics = resnet18_weights(width, classes), [resnet18_statistics(width) for _ in range(2)]
    images, labels = drawn([8, 3, 16, 16], 0).chunk(2), drawn_indices([8], classes).chunk(2)
    losses = [resnet18_loss(w, own, width, x, wanted) for own, x, wanted in zip(statistics, images, labels)]
    record_model(out, "two-replica resnet18", sum(losses) / 2, w, statistics[0].items())


def record(out):
    record_gpt(out)
    record_resnet18(out)
    record_resnet18_replicas(out)
