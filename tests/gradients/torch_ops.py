# One graph for each op with a gradient, and the same function in PyTorch.
# SPDX-License-Identifier: Apache-2.0
"""torch_ops.txt has, for each case, the graph in Partita's text and the gradients of its result by its float inputs."""

import re

import torch
import torch.nn.functional as F

from drawn import drawn, drawn_indices, numbers, weighted

CASES = []


def case(title, graph, function, below=0):
    """`graph` has one f64 result of one element; `function` takes its inputs by name. Integers are below `below`."""
    CASES.append((title, graph, function, below))


def elementwise(title, op, function, attributes=""):
    case(title, """graph @f(%%x: f64[3, 4], %%c: f64[3, 4]) -> f64[] {
  %%y = %s %%x%s : f64[3, 4]
  %%p = mul %%y, %%c : f64[3, 4]
  %%l = reduce_sum %%p {axes = [0, 1], keep_dims = false} : f64[]
  return %%l
}""" % (op, attributes and " " + attributes), lambda x, c: weighted(function(x), c))


def after(title, prepare, op, function, attributes=""):
    """`op` on numbers of its domain, computed from %x by `prepare`: lines of text that end in %e, and their function."""
    lines, prepared = prepare
    case(title, """graph @f(%%x: f64[3, 4], %%c: f64[3, 4]) -> f64[] {
%s
  %%y = %s %%e%s : f64[3, 4]
  %%p = mul %%y, %%c : f64[3, 4]
  %%l = reduce_sum %%p {axes = [0, 1], keep_dims = false} : f64[]
  return %%l
}""" % (lines, op, attributes and " " + attributes), lambda x, c: weighted(function(prepared(x)), c))


POSITIVE = ("  %e = exp %x : f64[3, 4]", torch.exp)
BETWEEN_MINUS_ONE_AND_ONE = ("  %e = tanh %x : f64[3, 4]", torch.tanh)
ABOVE_ONE = ("""  %a = exp %x : f64[3, 4]
  %b = constant f64[] 1.25
  %e = add %a, %b : f64[3, 4]""", lambda x: x.exp() + 1.25)


def shaped(title, inputs, node, result, function, below=0):
    """One node whose result is weighted by %c of its own type."""
    axes = ", ".join(str(d) for d in range(len(result)))
    kind = "f64[%s]" % ", ".join(map(str, result))
    case(title, """graph @f(%s, %%c: %s) -> f64[] {
  %%y = %s : %s
  %%p = mul %%y, %%c : %s
  %%l = reduce_sum %%p {axes = [%s], keep_dims = false} : f64[]
  return %%l
}""" % (inputs, kind, node, kind, kind, axes), lambda c, **x: weighted(function(*x.values()), c), below)


def gelu_slope(x):
    return torch.special.ndtr(x) + x * (x * x / -2).exp() / (2 * torch.pi) ** 0.5


def declare_elementwise():
    elementwise("abs", "abs", torch.abs)
    after("acos", BETWEEN_MINUS_ONE_AND_ONE, "acos", torch.acos)
    after("acosh", ABOVE_ONE, "acosh", torch.acosh)
    after("asin", BETWEEN_MINUS_ONE_AND_ONE, "asin", torch.asin)
    elementwise("asinh", "asinh", torch.asinh)
    elementwise("atan", "atan", torch.atan)
    after("atanh", BETWEEN_MINUS_ONE_AND_ONE, "atanh", torch.atanh)
    elementwise("celu", "celu", lambda x: F.celu(x, 0.5), "{alpha = 0.5}")
    elementwise("clip", "clip", lambda x: x.clamp(-0.5, 0.75), "{max = 0.75, min = -0.5}")
    elementwise("cos", "cos", torch.cos)
    elementwise("cosh", "cosh", torch.cosh)
    elementwise("elu", "elu", lambda x: F.elu(x, 0.7), "{alpha = 0.7}")
    elementwise("erf", "erf", torch.erf)
    elementwise("gelu", "gelu", F.gelu)
    elementwise("slope of gelu", "gelu_slope", gelu_slope)
    elementwise("gelu by tanh", "gelu", lambda x: F.gelu(x, approximate="tanh"), "{tanh = true}")
    elementwise("hard sigmoid", "hard_sigmoid", lambda x: (x * 0.5 + 0.25).clamp(0, 1), "{alpha = 0.5, beta = 0.25}")
    elementwise("hard swish", "hard_swish", F.hardswish)
    elementwise("leaky relu", "leaky_relu", lambda x: F.leaky_relu(x, 0.1), "{alpha = 0.1}")
    elementwise("mish", "mish", F.mish)
    elementwise("neg", "neg", torch.neg)
    elementwise("reciprocal", "reciprocal", torch.reciprocal)
    elementwise("relu", "relu", F.relu)
    # More digits of the constants than the ONNX standard's, which are the op's defaults.
    elementwise("selu", "selu", F.selu, "{alpha = 1.6732632423543772, gamma = 1.0507009873554805}")
    elementwise("shrink", "shrink", lambda x: F.softshrink(x, 0.5), "{bias = 0.5}")
    elementwise("sigmoid", "sigmoid", torch.sigmoid)
    elementwise("silu", "silu", F.silu)
    elementwise("sin", "sin", torch.sin)
    elementwise("sinh", "sinh", torch.sinh)
    elementwise("softplus", "softplus", F.softplus)
    elementwise("softsign", "softsign", F.softsign)
    elementwise("tan", "tan", torch.tan)
    elementwise("tanh", "tanh", torch.tanh)
    elementwise("thresholded relu", "thresholded_relu", lambda x: F.threshold(x, 0.5, 0), "{alpha = 0.5}")
    after("log", POSITIVE, "log", torch.log)
    after("sqrt", POSITIVE, "sqrt", torch.sqrt)
    case("cast to f32 and back", """graph @f(%x: f64[3, 4], %c: f64[3, 4]) -> f64[] {
  %h = cast %x {to = f32} : f32[3, 4]
  %s = mul %h, %h : f32[3, 4]
  %y = cast %s {to = f64} : f64[3, 4]
  %p = mul %y, %c : f64[3, 4]
  %l = reduce_sum %p {axes = [0, 1], keep_dims = false} : f64[]
  return %l
}""", lambda x, c: weighted((x.float() * x.float()).double(), c))


def declare_pairs():
    pair = "%a: f64[3, 4], %b: f64[4]"
    shaped("add, broadcast", pair, "add %a, %b", [3, 4], lambda a, b: a + b)
    shaped("div, broadcast", pair, "div %a, %b", [3, 4], lambda a, b: a / b)
    shaped("max, broadcast", pair, "max %a, %b", [3, 4], lambda a, b: torch.maximum(a, b))
    shaped("min, broadcast", pair, "min %a, %b", [3, 4], lambda a, b: torch.minimum(a, b))
    shaped("max of equals", "%a: f64[3]", "max %a, %a", [3], lambda a: torch.maximum(a, a))
    shaped("mul, broadcast", pair, "mul %a, %b", [3, 4], lambda a, b: a * b)
    shaped("sub, broadcast", pair, "sub %a, %b", [3, 4], lambda a, b: a - b)
    case("pow, broadcast", """graph @f(%a: f64[3, 4], %b: f64[4], %c: f64[3, 4]) -> f64[] {
  %e = exp %a : f64[3, 4]
  %y = pow %e, %b : f64[3, 4]
  %p = mul %y, %c : f64[3, 4]
  %l = reduce_sum %p {axes = [0, 1], keep_dims = false} : f64[]
  return %l
}""", lambda a, b, c: weighted(a.exp() ** b, c))
    case("where, broadcast", """graph @f(%a: f64[3, 4], %b: f64[4], %c: f64[3, 4]) -> f64[] {
  %t = greater %a, %b : bool[3, 4]
  %y = where %t, %b, %a : f64[3, 4]
  %p = mul %y, %c : f64[3, 4]
  %l = reduce_sum %p {axes = [0, 1], keep_dims = false} : f64[]
  return %l
}""", lambda a, b, c: weighted(torch.where(a > b, b, a), c))
    shaped("mod", pair, "mod %a, %b", [3, 4], lambda a, b: torch.remainder(a, b))
    shaped("prelu", "%x: f64[2, 3, 2], %s: f64[3, 1]", "prelu %x, %s", [2, 3, 2],
           lambda x, s: F.prelu(x, s.reshape(3)))


def declare_linear():
    shaped("matmul", "%a: f64[2, 3], %b: f64[3, 4]", "matmul %a, %b", [2, 4], torch.matmul)
    shaped("matmul, batches that broadcast", "%a: f64[2, 1, 2, 3], %b: f64[2, 3, 2]", "matmul %a, %b", [2, 2, 2, 2],
           torch.matmul)
    shaped("matmul, many by one", "%a: f64[2, 2, 3], %b: f64[3, 2]", "matmul %a, %b", [2, 2, 2], torch.matmul)
    shaped("matmul with a vector", "%a: f64[2, 2, 3], %b: f64[3]", "matmul %a, %b", [2, 2], torch.matmul)
    shaped("matmul, transposed", "%a: f64[3, 2], %b: f64[4, 3]",
           "matmul %a, %b {transpose_a = true, transpose_b = true}", [2, 4], lambda a, b: a.T @ b.T)
    shaped("convolution", "%x: f64[2, 2, 5, 4], %w: f64[4, 1, 3, 2], %b: f64[4]",
           "conv %x, %w, %b {dilations = [1, 2], groups = 2, pads_after = [1, 1], pads_before = [1, 1], strides = [2, 1]}",
           [2, 4, 3, 4],
           lambda x, w, b: F.conv2d(x, w, b, stride=(2, 1), padding=1, dilation=(1, 2), groups=2))
    shaped("convolution of one dimension", "%x: f64[2, 3, 7], %w: f64[2, 3, 2]", "conv %x, %w {strides = [3]}",
           [2, 2, 2], lambda x, w: F.conv1d(x, w, stride=3))
    shaped("convolution of three dimensions", "%x: f64[1, 2, 3, 3, 3], %w: f64[2, 2, 2, 2, 2]", "conv %x, %w",
           [1, 2, 2, 2, 2], F.conv3d)
    shaped("transposed convolution", "%x: f64[2, 2, 3, 2], %w: f64[2, 2, 3, 2], %b: f64[4]",
           "conv_transpose %x, %w, %b {groups = 2, output_padding = [1, 0], pads_after = [1, 0], pads_before = [1, 0], strides = [2, 2]}",
           [2, 4, 6, 4],
           lambda x, w, b: F.conv_transpose2d(x, w, b, stride=2, padding=(1, 0), output_padding=(1, 0), groups=2))


def backward_of(function, shape, dy, *operands):
    """The operand's gradient, for zeros of this shape, as a function of dy that itself has a gradient."""
    x = torch.zeros(shape, requires_grad=True)
    return torch.autograd.grad(function(x, *operands), x, dy, create_graph=True)[0]


def declare_backward():
    """Ops that occur in gradients have gradients too."""
    shaped("gradient of a convolution by its filters", "%x: f64[2, 2, 5, 4], %dy: f64[2, 4, 3, 4]",
           "conv_weight_gradient %x, %dy {dilations = [1, 2], groups = 2, kernel = [3, 2], pads_after = [1, 1], pads_before = [1, 1], strides = [2, 1]}",
           [4, 1, 3, 2],
           lambda x, dy: backward_of(lambda w, x: F.conv2d(x, w, stride=(2, 1), padding=1, dilation=(1, 2), groups=2),
                                     [4, 1, 3, 2], dy, x))
    shaped("gradient of an average pool", "%dy: f64[1, 2, 3, 3]",
           "avg_pool_gradient %dy {kernel = [3, 2], pads_after = [1, 1], pads_before = [1, 1], sizes = [5, 4], strides = [2, 2]}",
           [1, 2, 5, 4],
           lambda dy: backward_of(lambda x: F.avg_pool2d(x, (3, 2), stride=2, padding=1, count_include_pad=False),
                                  [1, 2, 5, 4], dy))
    shaped("gradient of a bilinear resize", "%dy: f64[1, 1, 5, 3]",
           "resize_gradient %dy {mode = \"linear\", sizes = [1, 1, 3, 4]}", [1, 1, 3, 4],
           lambda dy: backward_of(lambda x: F.interpolate(x, (5, 3), mode="bilinear", align_corners=False),
                                  [1, 1, 3, 4], dy))
    shaped("gradient of an embedding", "%dy: f64[2, 3, 2], %i: i64[2, 3]", "gather_gradient %dy, %i {extent = 5}", [5, 2],
           lambda dy, i: backward_of(lambda x, i: F.embedding(i, x), [5, 2], dy, i), 5)


def declare_windows():
    shaped("max pool", "%x: f64[1, 2, 5, 4]", "max_pool %x {kernel = [3, 2], pads_after = [1, 0], pads_before = [1, 0], strides = [2, 1]}",
           [1, 2, 3, 3], lambda x: F.max_pool2d(x, (3, 2), stride=(2, 1), padding=(1, 0)))
    shaped("average pool", "%x: f64[1, 2, 5, 4]", "avg_pool %x {kernel = [3, 2], pads_after = [1, 1], pads_before = [1, 1], strides = [2, 2]}",
           [1, 2, 3, 3], lambda x: F.avg_pool2d(x, (3, 2), stride=2, padding=1, count_include_pad=False))
    shaped("average pool that counts pads", "%x: f64[1, 2, 5]",
           "avg_pool %x {count_include_pad = true, kernel = [3], pads_after = [1], pads_before = [1], strides = [2]}",
           [1, 2, 3], lambda x: F.avg_pool1d(x, 3, stride=2, padding=1))
    shaped("bilinear resize", "%x: f64[1, 1, 3, 4]", "resize %x {mode = \"linear\", sizes = [1, 1, 5, 3]}", [1, 1, 5, 3],
           lambda x: F.interpolate(x, (5, 3), mode="bilinear", align_corners=False))
    shaped("bilinear resize, corners aligned", "%x: f64[1, 1, 3, 4]",
           "resize %x {coordinates = \"align_corners\", mode = \"linear\", sizes = [1, 1, 5, 3]}", [1, 1, 5, 3],
           lambda x: F.interpolate(x, (5, 3), mode="bilinear", align_corners=True))
    shaped("cubic resize", "%x: f64[1, 1, 4, 4]", "resize %x {mode = \"cubic\", sizes = [1, 1, 6, 3]}", [1, 1, 6, 3],
           lambda x: F.interpolate(x, (6, 3), mode="bicubic", align_corners=False))
    shaped("nearest resize", "%x: f64[1, 1, 3, 2]",
           "resize %x {coordinates = \"asymmetric\", nearest = \"floor\", sizes = [1, 1, 7, 4]}", [1, 1, 7, 4],
           lambda x: F.interpolate(x, (7, 4), mode="nearest"))


def declare_norms():
    shaped("batch norm of given statistics", "%x: f64[2, 3, 2], %s: f64[3], %b: f64[3], %m: f64[3], %v: f64[3]",
           "batch_norm %x, %s, %b, %m, %v {epsilon = 4}", [2, 3, 2],
           lambda x, s, b, m, v: (x - m.reshape(3, 1)) / (v.reshape(3, 1) + 4).sqrt() * s.reshape(3, 1) + b.reshape(3, 1))
    shaped("group norm", "%x: f64[2, 4, 3], %s: f64[4], %b: f64[4]", "group_norm %x, %s, %b {groups = 2}", [2, 4, 3],
           lambda x, s, b: F.group_norm(x, 2, s, b))
    shaped("instance norm", "%x: f64[2, 3, 4], %s: f64[3], %b: f64[3]", "instance_norm %x, %s, %b", [2, 3, 4],
           lambda x, s, b: F.instance_norm(x, weight=s, bias=b))
    shaped("layer norm", "%x: f64[2, 3, 4], %s: f64[3, 4], %b: f64[3, 4]", "layer_norm %x, %s, %b {axis = 1}", [2, 3, 4],
           lambda x, s, b: F.layer_norm(x, (3, 4), s, b))
    shaped("layer norm without center", "%x: f64[2, 3, 4], %s: f64[3, 4], %b: f64[3, 4]", "layer_norm %x, %s, %b {axis = 1, center = false}",
           [2, 3, 4], lambda x, s, b: F.rms_norm(x, (3, 4), s, 1e-5) + b)
    shaped("local response norm", "%x: f64[2, 6, 2]", "lrn %x {alpha = 0.5, beta = 0.6, bias = 2, size = 3}", [2, 6, 2],
           lambda x: F.local_response_norm(x, 3, alpha=0.5, beta=0.6, k=2))
    shaped("division by the 2-norm", "%x: f64[3, 4]", "lp_norm %x", [3, 4], lambda x: F.normalize(x, dim=1))
    shaped("softmax", "%x: f64[3, 4]", "softmax %x {axis = 0}", [3, 4], lambda x: F.softmax(x, 0))
    shaped("log softmax", "%x: f64[3, 4]", "log_softmax %x", [3, 4], lambda x: F.log_softmax(x, 1))


def attention(q, k, v, mask=None, causal=False, softcap=0, past=0, rows=False):
    """By the formula, with a scale of 0.5; `rows`: for [n, positions, heads, size]."""
    if rows:
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    group = q.shape[1] // k.shape[1]
    k, v = (x.repeat_interleave(group, dim=1) for x in (k, v))
    scores = q @ k.transpose(2, 3) * 0.5
    if softcap:
        scores = softcap * torch.tanh(scores / softcap)
    if mask is not None:
        scores = scores + mask
    if causal:
        scores = scores.masked_fill(torch.ones(scores.shape[2:]).triu(1 + past).bool(), float("-inf"))
    y = scores.softmax(-1) @ v
    return y.transpose(1, 2) if rows else y


def declare_attention():
    heads = "%q: f64[2, 2, 5, 3], %k: f64[2, 2, 6, 3], %v: f64[2, 2, 6, 4]"
    rows = "%q: f64[2, 5, 2, 3], %k: f64[2, 5, 2, 3], %v: f64[2, 5, 2, 3]"
    groups = "%q: f64[2, 4, 5, 3], %k: f64[2, 2, 6, 3], %v: f64[2, 2, 6, 3], %m: f64[4, 1, 6]"
    shaped("attention", heads, "attention %q, %k, %v {scale = 0.5}", [2, 2, 5, 4], attention)
    shaped("causal attention behind a past", heads, "attention %q, %k, %v {causal = true, past = 1, scale = 0.5}", [2, 2, 5, 4],
           lambda q, k, v: attention(q, k, v, causal=True, past=1))
    shaped("causal attention of positions first", rows,
           "attention %q, %k, %v {causal = true, positions_first = true, scale = 0.5}", [2, 5, 2, 3],
           lambda q, k, v: attention(q, k, v, causal=True, rows=True))
    shaped("attention of groups with a mask", groups, "attention %q, %k, %v, %m {scale = 0.5}", [2, 4, 5, 3], attention)
    shaped("causal attention of groups with a mask and a softcap", groups,
           "attention %q, %k, %v, %m {causal = true, scale = 0.5, softcap = 1.5}", [2, 4, 5, 3],
           lambda q, k, v, m: attention(q, k, v, m, causal=True, softcap=1.5))


def one_direction(function, gates, r, states, bias, order, reverse):
    """A recurrence of torch over one direction, after the product of its inputs; `order`: our place of each of its gates."""
    units = r.shape[1]
    places = torch.cat([torch.arange(units) + place * units for place in order])
    x = gates[:, :, 0].flip(0) if reverse else gates[:, :, 0]
    weights = [torch.eye(len(places)), r[0, :, places].T]
    if bias is not None:
        weights += [torch.zeros(len(places)), torch.cat((torch.zeros(len(places) - units), bias[0]))]
    y, *last = function(x[:, :, places], states, weights, bias is not None, 1, 0., False, False, False)
    return (y.flip(0) if reverse else y).unsqueeze(2), last


def recurrence(title, inputs, node, results, function):
    """y weighted by %c, and the last states multiplied by one another."""
    case(title, """graph @f(%s, %%c: f64[4, 2, 1, 3]) -> f64[] {
  %s = %s : f64[4, 2, 1, 3]%s
  %%p = mul %%y, %%c : f64[4, 2, 1, 3]
  %%l = reduce_sum %%p {axes = [0, 1, 2, 3], keep_dims = false} : f64[]
  %%q = mul %s : f64[1, 2, 3]
  %%m = reduce_sum %%q {axes = [0, 1, 2], keep_dims = false} : f64[]
  %%n = add %%l, %%m : f64[]
  return %%n
}""" % (inputs, ", ".join(["%y"] + results), node, ", f64[1, 2, 3]" * len(results), ", ".join((results * 2)[:2])),
         lambda c, **x: sum_of(*function(*x.values()), c))


def sum_of(y, last, c):
    return weighted(y, c) + (last[0] * last[-1]).sum()


def declare_recurrences():
    states = "%g: f64[4, 2, 1, 12], %r: f64[1, 3, 12], %h: f64[1, 2, 3], %e: f64[1, 2, 3]"
    for title, reverse in (("lstm", False), ("reversed lstm", True)):
        recurrence(title, states, "lstm %g, %r, %h, %e" + (" {reverse = [1]}" if reverse else ""), ["%a", "%b"],
                   lambda g, r, h, e, reverse=reverse: one_direction(torch._VF.lstm, g, r, (h, e), None, (0, 2, 3, 1), reverse))
    recurrence("gru", "%g: f64[4, 2, 1, 9], %r: f64[1, 3, 9], %h: f64[1, 2, 3], %b: f64[1, 3]",
               "gru %g, %r, %h, %b {linear_before_reset = true}", ["%a"],
               lambda g, r, h, b: one_direction(torch._VF.gru, g, r, h, b, (1, 0, 2), False))
    for name in ("tanh", "relu"):
        recurrence("rnn of " + name, "%g: f64[4, 2, 1, 3], %r: f64[1, 3, 3], %h: f64[1, 2, 3]",
                   "rnn %%g, %%r, %%h {activations = \"%s\", reverse = [1]}" % name, ["%a"],
                   lambda g, r, h, name=name: one_direction(getattr(torch._VF, "rnn_" + name), g, r, h, None, (0,), True))


def declare_reductions():
    x = "%x: f64[2, 3, 4]"
    for op, function in (("mean", lambda x: x.mean((0, 2))), ("max", lambda x: x.amax((0, 2))),
                         ("min", lambda x: x.amin((0, 2))), ("log_sum_exp", lambda x: x.logsumexp((0, 2))),
                         ("l1", lambda x: x.abs().sum((0, 2))), ("l2", lambda x: x.norm(dim=(0, 2))),
                         ("sum_square", lambda x: (x * x).sum((0, 2)))):
        shaped("reduce " + op, x, "reduce_%s %%x {axes = [0, 2], keep_dims = false}" % op, [3], function)
    shaped("reduce prod", "%x: f64[3, 4]", "reduce_prod %x {axes = [1]}", [3, 1], lambda x: x.prod(1, keepdim=True))
    case("reduce log sum", """graph @f(%x: f64[2, 3, 4], %c: f64[3]) -> f64[] {
  %e = exp %x : f64[2, 3, 4]
  %y = reduce_log_sum %e {axes = [0, 2], keep_dims = false} : f64[3]
  %p = mul %y, %c : f64[3]
  %l = reduce_sum %p {axes = [0], keep_dims = false} : f64[]
  return %l
}""", lambda x, c: weighted(x.exp().sum((0, 2)).log(), c))
    case("reduce prod with zeros", """graph @f(%x: f64[4]) -> f64[] {
  %z = constant f64[4] [1, 0, 1, 1]
  %y = mul %x, %z : f64[4]
  %l = reduce_prod %y {axes = [0], keep_dims = false} : f64[]
  return %l
}""", lambda x: (x * torch.tensor([1., 0, 1, 1])).prod())
    case("moments", """graph @f(%x: f64[2, 3, 4], %c: f64[1, 3, 1]) -> f64[] {
  %s, %q = moments %x {axes = [0, 2]} : f64[1, 3, 1], f64[1, 3, 1]
  %y = mul %s, %q : f64[1, 3, 1]
  %p = mul %y, %c : f64[1, 3, 1]
  %l = reduce_sum %p {axes = [0, 1, 2], keep_dims = false} : f64[]
  return %l
}""", lambda x, c: weighted(x.sum((0, 2), keepdim=True) * (x * x).sum((0, 2), keepdim=True), c))
    case("cross moments", """graph @f(%x: f64[2, 3, 4], %y: f64[2, 3, 4], %c: f64[1, 3, 1]) -> f64[] {
  %s, %q = cross_moments %x, %y {axes = [0, 2]} : f64[1, 3, 1], f64[1, 3, 1]
  %m = mul %s, %q : f64[1, 3, 1]
  %p = mul %m, %c : f64[1, 3, 1]
  %l = reduce_sum %p {axes = [0, 1, 2], keep_dims = false} : f64[]
  return %l
}""", lambda x, y, c: weighted(x.sum((0, 2), keepdim=True) * (x * y).sum((0, 2), keepdim=True), c))
    shaped("cumsum", x, "cumsum %x {axis = 1}", [2, 3, 4], lambda x: x.cumsum(1))


def declare_moves():
    shaped("slice with steps", "%x: f64[5, 4]", "slice %x {sizes = [2, 3], starts = [1, 3], steps = [3, -1]}", [2, 3],
           lambda x: x[1::3].flip(1)[:, 0:3])
    shaped("concat", "%a: f64[2, 1], %b: f64[2, 3]", "concat %a, %b {axis = 1}", [2, 4],
           lambda a, b: torch.cat((a, b), 1))
    shaped("reflect pad", "%x: f64[1, 2, 4]", "pad %x {after = [0, 0, 1], before = [0, 0, 3], mode = \"reflect\"}",
           [1, 2, 8], lambda x: F.pad(x, (3, 1), mode="reflect"))
    shaped("edge pad", "%x: f64[1, 2, 4]", "pad %x {after = [0, 0, 1], before = [0, 0, 2], mode = \"edge\"}", [1, 2, 7],
           lambda x: F.pad(x, (2, 1), mode="replicate"))
    shaped("reshape", "%x: f64[2, 6]", "reshape %x {shape = [3, 4]}", [3, 4], lambda x: x.reshape(3, 4))
    shaped("transpose", "%x: f64[2, 3, 4]", "transpose %x {perm = [2, 0, 1]}", [4, 2, 3], lambda x: x.permute(2, 0, 1))
    shaped("expand", "%x: f64[3, 1]", "expand %x {shape = [2, 3, 4]}", [2, 3, 4], lambda x: x.expand(2, 3, 4))
    case("split", """graph @f(%x: f64[2, 4], %c: f64[2, 3]) -> f64[] {
  %a, %b = split %x {axis = 1, sizes = [1, 3]} : f64[2, 1], f64[2, 3]
  %y = mul %a, %b : f64[2, 3]
  %p = mul %y, %c : f64[2, 3]
  %l = reduce_sum %p {axes = [0, 1], keep_dims = false} : f64[]
  return %l
}""", lambda x, c: weighted(x[:, :1] * x[:, 1:], c))
    shaped("tile", "%x: f64[2, 3]", "tile %x {repeats = [2, 3]}", [4, 9], lambda x: x.repeat(2, 3))
    shaped("depth to space", "%x: f64[1, 8, 1, 2]", "depth_to_space %x {block = 2, mode = \"crd\"}", [1, 2, 2, 4],
           lambda x: F.pixel_shuffle(x, 2))
    shaped("space to depth", "%x: f64[1, 1, 4, 2]", "space_to_depth %x {block = 2}", [1, 4, 2, 1],
           lambda x: F.pixel_unshuffle(x, 2))
    shaped("upper triangle", "%x: f64[3, 3]", "trilu %x {k = 1}", [3, 3], lambda x: x.triu(1))


def declare_indexed():
    shaped("embedding", "%x: f64[5, 2], %i: i64[2, 3]", "gather %x, %i", [2, 3, 2], lambda x, i: F.embedding(i, x), 5)
    shaped("gather by element", "%x: f64[3, 4], %i: i64[3, 2]", "gather_elements %x, %i {axis = 1}", [3, 2],
           lambda x, i: x.gather(1, i), 4)
    shaped("gather by vectors", "%x: f64[3, 3, 2], %i: i64[4, 2]", "gather_nd %x, %i", [4, 2],
           lambda x, i: x[i[:, 0], i[:, 1]], 3)
    shaped("one hot", "%v: f64[2], %i: i64[2, 3]", "one_hot %i, %v {depth = 4}", [2, 3, 4], lambda v, i: v[F.one_hot(i, 4)], 4)
    for name, largest in (("greatest", True), ("least", False)):
        case("%s of a line" % name, """graph @f(%%x: f64[3, 4], %%c: f64[3, 2]) -> f64[] {
  %%y, %%i = top_k %%x {k = 2%s} : f64[3, 2], i64[3, 2]
  %%p = mul %%y, %%c : f64[3, 2]
  %%l = reduce_sum %%p {axes = [0, 1], keep_dims = false} : f64[]
  return %%l
}""" % ("" if largest else ", largest = false"), lambda x, c, largest=largest: weighted(x.topk(2, 1, largest)[0], c))
    for name, accumulate in (("none", False), ("add", True)):
        shaped("scatter by vectors, " + name, "%x: f64[4, 3], %i: i64[3, 1], %u: f64[3, 3]",
               "scatter_nd %%x, %%i, %%u {reduction = \"%s\"}" % name, [4, 3],
               lambda x, i, u, accumulate=accumulate: x.index_put((i[:, 0],), u, accumulate), 4 if name == "none" else 2)
    shaped("scatter none", "%x: f64[3, 4], %i: i64[3, 4], %u: f64[3, 4]", "scatter_elements %x, %i, %u", [3, 4],
           lambda x, i, u: x.scatter(0, i, u), 3)
    for name, torch_name in (("add", "sum"), ("mul", "prod"), ("max", "amax"), ("min", "amin")):
        shaped("scatter " + name, "%x: f64[3, 4], %i: i64[5, 4], %u: f64[5, 4]".replace("5", "3"),
               "scatter_elements %%x, %%i, %%u {reduction = \"%s\"}" % name, [3, 4],
               lambda x, i, u, r=torch_name: x.scatter_reduce(0, i, u, r), 3)


def inputs_of(graph, below):
    """By name, in the order of the header."""
    header = graph[graph.index("(") + 1:graph.index(") ->")]
    inputs = {}
    for number, (name, kind, dims) in enumerate(re.findall(r"%(\w+): (\w+)\[([^\]]*)\]", header)):
        shape = [int(d) for d in dims.split(",")] if dims else []
        if kind == "i64":
            inputs[name] = drawn_indices(shape, below)
        else:
            inputs[name] = drawn(shape, number).requires_grad_()
    return inputs


def record(out):
    declare_elementwise()
    declare_pairs()
    declare_linear()
    declare_backward()
    declare_windows()
    declare_norms()
    declare_attention()
    declare_recurrences()
    declare_reductions()
    declare_moves()
    declare_indexed()
    for title, graph, function, below in CASES:
        inputs = inputs_of(graph, below)
        function(**inputs).backward()
        out.write("=== %s\n%s\n" % (title, graph))
        if below:
            out.write("--- indices below %d\n" % below)
        for name, value in inputs.items():
            if value.requires_grad and name != "c":
                out.write("--- %%%s %s\n" % (name, numbers(value.grad)))
