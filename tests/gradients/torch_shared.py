# Trainings of models that read one weight in several ways, or weights without elements, by PyTorch.
# SPDX-License-Identifier: Apache-2.0
"""torch_shared.txt: for each model the losses of 20 steps of SGD, and then its weight."""

import torch
import torch.nn.functional as F

from drawn import drawn, drawn_indices, numbers


def weight(shape, number=0):
    return (drawn(shape, number) / 4).requires_grad_()


def train(out, name, scores_of, w, inputs, labels, others=()):
    optimizer = torch.optim.SGD([w, *others], 0.1)
    losses = []
    for _ in range(20):
        optimizer.zero_grad()
        loss = F.cross_entropy(scores_of(w, inputs), labels)
        loss.backward()
        optimizer.step()
        losses.append(numbers(loss))
    out.write("%s: %s %s\n" % (name, " ".join(losses), numbers(w)))


def record(out):
    x, labels = drawn([5, 3], 1) / 4, drawn_indices([5], 3)
    train(out, "identities", lambda w, x: torch.relu(x @ w) @ w, weight([3, 3]), x, labels)
    train(out, "reshapes", lambda w, x: torch.relu(x @ w.reshape(3, 3)) @ w.reshape(9).reshape(3, 3), weight([9]), x, labels)
    train(out, "transposes", lambda w, x: torch.relu(x @ w) @ w.T, weight([3, 3]), x, labels)
    train(out, "chains", lambda w, x: torch.relu(x @ w.reshape(3, 4)) @ w.T.reshape(4, 3), weight([2, 6]), x, labels)
    train(out, "tied embeddings", lambda e, ids: e[ids].mean(1) @ e.T, weight([7, 3]), drawn_indices([5, 2], 7),
          drawn_indices([5], 7))
    a, b, bias = weight([3, 0], 2), weight([0, 3], 3), weight([3], 4)
    train(out, "rank 0", lambda w, x: x @ w + (x @ a) @ b + bias, weight([3, 3]), x, labels, (a, b, bias))
