# Optimizers, schedules, losses, recurrent layers, replicas and products in bf16, by PyTorch.
# SPDX-License-Identifier: Apache-2.0
"""torch_training.txt has named lists of numbers for models that the tests build in C++."""

import torch
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel

from drawn import drawn, drawn_indices, numbers, weighted
from torch_replicas import mean_of_replicas, on_replicas, own_part


def record_optimizers(out):
    """w after each of five steps down sum(c w^2 / 2 + w)."""
    makers = {
        "sgd": lambda w: torch.optim.SGD(w, 0.1),
        "sgd momentum": lambda w: torch.optim.SGD(w, 0.1, momentum=0.9, weight_decay=0.01),
        "sgd nesterov": lambda w: torch.optim.SGD(w, 0.1, momentum=0.9, nesterov=True),
        "sgd nesterov decay": lambda w: torch.optim.SGD(w, 0.1, momentum=0.9, nesterov=True, weight_decay=0.01),
        "adam": lambda w: torch.optim.Adam(w, 0.1, weight_decay=0.01),
        "adamw": lambda w: torch.optim.AdamW(w, 0.1),
        "adamw decay": lambda w: torch.optim.AdamW(w, 0.1, weight_decay=0.3),
        "adagrad": lambda w: torch.optim.Adagrad(w, 0.1, weight_decay=0.01),
        "rmsprop": lambda w: torch.optim.RMSprop(w, 0.1, weight_decay=0.01),
        "rmsprop momentum": lambda w: torch.optim.RMSprop(w, 0.1, alpha=0.9, momentum=0.5),
        "rmsprop momentum decay": lambda w: torch.optim.RMSprop(w, 0.1, alpha=0.9, momentum=0.5, weight_decay=0.01),
    }
    for name, make in makers.items():
        w = drawn([3], 0).requires_grad_()
        c = drawn([3], 1)
        optimizer = make([w])
        path = []
        for _ in range(5):
            optimizer.zero_grad()
            (c * w * w / 2 + w).sum().backward()
            optimizer.step()
            path.append(numbers(w))
        out.write("%s: %s\n" % (name, " ".join(path)))


def record_schedules(out):
    def rates(make):
        optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], 0.5)
        schedule = make(optimizer)
        found = []
        for _ in range(8):
            found.append(optimizer.param_groups[0]["lr"])
            optimizer.step()
            schedule.step()
        return " ".join(repr(rate) for rate in found)

    rate = torch.optim.lr_scheduler
    out.write("step decay: %s\n" % rates(lambda o: rate.StepLR(o, 3, 0.5)))
    out.write("exponential decay: %s\n" % rates(lambda o: rate.ExponentialLR(o, 0.9)))
    out.write("cosine decay: %s\n" % rates(lambda o: rate.CosineAnnealingLR(o, 7, 0.1)))
    out.write("linear warm up: %s\n" % rates(lambda o: rate.LinearLR(o, 0.25, 1, 3)))


def record_losses(out):
    scores = drawn([4, 5], 0).requires_grad_()
    labels = drawn_indices([4], 5)
    for name, options in (("cross entropy", {}), ("cross entropy, smoothed", {"label_smoothing": 0.1}),
                          ("cross entropy, one ignored", {"label_smoothing": 0.1, "ignore_index": int(labels[1])})):
        scores.grad = None
        loss = F.cross_entropy(scores, labels, **options)
        loss.backward()
        out.write("%s: %s %s\n" % (name, numbers(loss), numbers(scores.grad)))
    pixels = drawn([2, 3, 2], 0).requires_grad_()
    loss = F.nll_loss(F.log_softmax(pixels, 1), drawn_indices([2, 2], 3))
    loss.backward()
    out.write("nll of pixels: %s %s\n" % (numbers(loss), numbers(pixels.grad)))
    x, target = drawn([2, 3], 0).requires_grad_(), drawn([2, 3], 1)
    loss = F.mse_loss(x, target)
    loss.backward()
    out.write("mse: %s %s\n" % (numbers(loss), numbers(x.grad)))


def record_recurrent(out):
    """Gradients by x, the weights in their order, and the states."""
    for name, gates, module in (("rnn", 1, torch.nn.RNN(3, 2)), ("gru", 3, torch.nn.GRU(3, 2)),
                                ("lstm", 4, torch.nn.LSTM(3, 2))):
        x = drawn([3, 2, 3], 0).requires_grad_()
        shapes = [[gates * 2, 3], [gates * 2, 2], [gates * 2], [gates * 2]]
        with torch.no_grad():
            for number, (weight, shape) in enumerate(zip(module.parameters(), shapes)):
                weight.copy_(drawn(shape, 1 + number))
        hidden = drawn([1, 2, 2], 5).requires_grad_()
        cell = drawn([1, 2, 2], 6).requires_grad_()
        outputs, last = module(x, (hidden, cell) if name == "lstm" else hidden)
        loss = weighted(outputs, drawn([3, 2, 2], 7))
        loss = loss + (last[1].sum() if name == "lstm" else last.sum())
        loss.backward()
        found = [x] + list(module.parameters()) + [hidden] + ([cell] if name == "lstm" else [])
        out.write("%s: %s %s\n" % (name, numbers(loss), " ".join(numbers(value.grad) for value in found)))


def record_batch_norm(out):
    x = drawn([3, 2, 2], 0).requires_grad_()
    scale, bias = drawn([2], 1).requires_grad_(), drawn([2], 2).requires_grad_()
    mean, variance = torch.zeros(2), torch.ones(2)
    y = F.batch_norm(x, mean, variance, scale, bias, training=True)
    weighted(y, drawn([3, 2, 2], 3)).backward()
    out.write("batch norm: %s %s %s\n" % (numbers(x.grad), numbers(scale.grad), numbers(bias.grad)))
    out.write("running statistics: %s %s\n" % (numbers(mean), numbers(variance)))


def record_mixed_precision(out):
    """What autocast computes in bf16 from f32: two products of matrices, and a convolution."""
    x, w, v, c = (drawn(shape, number).float().requires_grad_()
                  for number, shape in enumerate(([4, 6], [6, 5], [5, 3], [4, 3])))
    with torch.autocast("cpu", torch.bfloat16):
        y = F.relu((x @ w).float()) @ v
    loss = weighted(y.float(), c)
    loss.backward()
    out.write("bf16 products: %s %s\n" % (numbers(loss), " ".join(numbers(value.grad) for value in (x, w, v))))
    x, w, bias, c = (drawn(shape, number).float().requires_grad_()
                     for number, shape in enumerate(([2, 2, 5, 4], [3, 2, 3, 2], [3], [2, 3, 3, 3])))
    with torch.autocast("cpu", torch.bfloat16):
        y = F.conv2d(x, w)
    loss = weighted(y.float() + bias.reshape(3, 1, 1), c)
    loss.backward()
    out.write("bf16 convolution: %s %s\n" % (numbers(loss), " ".join(numbers(value.grad) for value in (x, w, bias))))


def small_conv_net():
    module = torch.nn.Sequential(torch.nn.Conv1d(2, 3, 2), torch.nn.BatchNorm1d(3), torch.nn.ReLU(),
                                 torch.nn.Flatten(), torch.nn.Linear(6, 2))
    with torch.no_grad():
        for number, parameter in enumerate(module.parameters()):
            parameter.copy_(drawn(list(parameter.shape), number))
    return module


def train_replica():
    """Four steps in the process of one replica: the means of the losses, and the trained model."""
    replica = DistributedDataParallel(small_conv_net())
    optimizer = torch.optim.SGD(replica.parameters(), 0.1)
    losses = []
    for step in range(4):
        x, target = own_part(drawn([6, 2, 3], 10 + step)), own_part(drawn([6, 2], 20 + step))
        optimizer.zero_grad()
        loss = F.mse_loss(replica(x), target)
        loss.backward()
        optimizer.step()
        losses.append(mean_of_replicas(loss))
    return losses, replica.module.state_dict()


def record_replicas(out):
    """Each half of the batch has its own statistics; the running ones are the first replica's."""
    losses, state = on_replicas(train_replica, 2)
    out.write("losses of two replicas: %s\n" % " ".join(map(numbers, losses)))
    for name in ("0.weight", "1.weight", "4.weight", "1.running_mean", "1.running_var"):
        out.write("two replicas' %s: %s\n" % (name, numbers(state[name])))


def record_clipping(out):
    for name, most in (("clipped", 1.5), ("not clipped", 100)):
        values = [drawn([3], 0).requires_grad_(), drawn([2, 2], 1).requires_grad_()]
        for value in values:
            value.grad = drawn(list(value.shape), 2)
        torch.nn.utils.clip_grad_norm_(values, most)
        out.write("%s: %s\n" % (name, " ".join(numbers(value.grad) for value in values)))


def record(out):
    record_optimizers(out)
    record_schedules(out)
    record_losses(out)
    record_recurrent(out)
    record_batch_norm(out)
    record_replicas(out)
    record_clipping(out)
    record_mixed_precision(out)
