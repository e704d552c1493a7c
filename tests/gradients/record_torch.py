#!/usr/bin/env python3
# Records gradients as PyTorch computes them, in f64, for the tests beside this file.
# SPDX-License-Identifier: Apache-2.0
"""usage: record_torch.py   (with torch 1.13 or newer; writes torch_{ops,training,models}.txt beside it)

Every number that goes in is a formula of its position (`drawn`), which the tests know too. torch_ops.txt has, for
each case, the graph in Partita's text and the gradients of its result by its float inputs; torch_training.txt and
torch_models.txt have named lists of numbers, of what the tests build in C++.
"""

import os
import re

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)

CASES = []


def case(title, graph, function, below=0):
    """`graph` has one f64 result of one element; `function` takes its inputs by name. Integers are below `below`."""
    CASES.append((title, graph, function, below))


def drawn(shape, number):
    """Numbers between -2 and 2, all different, for input `number`."""
    count = 1
    for extent in shape:
        count *= extent
    values = [((i * 7919 + number * 3571 + 17) % 1009 - 504) / 256 for i in range(count)]
    return torch.tensor(values).reshape(shape)


def drawn_indices(shape, below):
    count = 1
    for extent in shape:
        count *= extent
    return torch.tensor([(i * 7 + 3) % below for i in range(count)], dtype=torch.int64).reshape(shape)


def weighted(y, c):
    return (y * c).sum()


def elementwise(title, op, function, attributes=""):
    case(title, """graph @f(%%x: f64[3, 4], %%c: f64[3, 4]) -> f64[] {
  %%y = %s %%x%s : f64[3, 4]
  %%p = mul %%y, %%c : f64[3, 4]
  %%l = reduce_sum %%p {axes = [0, 1], keep_dims = false} : f64[]
  return %%l
}""" % (op, attributes and " " + attributes), lambda x, c: weighted(function(x), c))


def after(title, prepare, op, function, attributes=""):
    """`op` on numbers of its domain, which `prepare` makes of %x: lines of text that end in %e, and what they compute."""
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
    # Other digits of the constants than the ONNX standard's, which are the op's defaults.
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
    """What the function of zeros of this shape gives its operand, as a function of dy that has a gradient itself."""
    x = torch.zeros(shape, requires_grad=True)
    return torch.autograd.grad(function(x, *operands), x, dy, create_graph=True)[0]


def declare_backward():
    """The ops that other ops' gradients are made of have gradients too."""
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
    shaped("local response norm", "%x: f64[2, 6, 2]", "lrn %x {alpha = 0.5, beta = 0.6, bias = 2, size = 3}", [2, 6, 2],
           lambda x: F.local_response_norm(x, 3, alpha=0.5, beta=0.6, k=2))
    shaped("division by the 2-norm", "%x: f64[3, 4]", "lp_norm %x", [3, 4], lambda x: F.normalize(x, dim=1))
    shaped("softmax", "%x: f64[3, 4]", "softmax %x {axis = 0}", [3, 4], lambda x: F.softmax(x, 0))
    shaped("log softmax", "%x: f64[3, 4]", "log_softmax %x", [3, 4], lambda x: F.log_softmax(x, 1))


def packed_attention(x, causal):
    """Of x [n, positions, 3, heads, size]: queries, keys and values, as the op has them."""
    q, k, v = x.permute(2, 0, 3, 1, 4)
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal).permute(0, 2, 1, 3)


def declare_attention():
    for title, attributes, causal in (("attention", "", False), ("causal attention", " {causal = true}", True)):
        shaped(title, "%x: f64[2, 5, 3, 2, 3]", "attention %x" + attributes, [2, 5, 2, 3],
               lambda x, causal=causal: packed_attention(x, causal))


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


def numbers(tensor):
    return " ".join(repr(float(v)) for v in tensor.detach().reshape(-1))


def record_ops(out):
    for title, graph, function, below in CASES:
        inputs = inputs_of(graph, below)
        function(**inputs).backward()
        out.write("=== %s\n%s\n" % (title, graph))
        if below:
            out.write("--- indices below %d\n" % below)
        for name, value in inputs.items():
            if value.requires_grad and name != "c":
                out.write("--- %%%s %s\n" % (name, numbers(value.grad)))


def record_optimizers(out):
    """w after each of five steps down sum(c w^2 / 2 + w)."""
    makers = {
        "sgd": lambda w: torch.optim.SGD(w, 0.1),
        "sgd momentum": lambda w: torch.optim.SGD(w, 0.1, momentum=0.9, weight_decay=0.01),
        "sgd nesterov": lambda w: torch.optim.SGD(w, 0.1, momentum=0.9, nesterov=True),
        "adam": lambda w: torch.optim.Adam(w, 0.1, weight_decay=0.01),
        "adamw": lambda w: torch.optim.AdamW(w, 0.1),
        "adagrad": lambda w: torch.optim.Adagrad(w, 0.1, weight_decay=0.01),
        "rmsprop": lambda w: torch.optim.RMSprop(w, 0.1, weight_decay=0.01),
        "rmsprop momentum": lambda w: torch.optim.RMSprop(w, 0.1, alpha=0.9, momentum=0.5),
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
    """What autocast computes in bf16 of f32: two products of matrices, and a convolution."""
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


def train_replicas(replicas, x, target):
    """One step of DistributedDataParallel, whose processes average gradients: returns the mean of the losses."""
    losses = [F.mse_loss(replica(part), wanted)
              for replica, part, wanted in zip(replicas, x.chunk(len(replicas)), target.chunk(len(replicas)))]
    for replica, loss in zip(replicas, losses):
        replica.zero_grad()
        loss.backward()
    with torch.no_grad():
        for same in zip(*(replica.parameters() for replica in replicas)):
            gradient = sum(parameter.grad for parameter in same) / len(replicas)
            for parameter in same:
                parameter -= 0.1 * gradient
    return sum(losses) / len(losses)


def record_replicas(out):
    """Each half of the batch by its own statistics; the first replica's running statistics are what is kept."""
    replicas = [small_conv_net(), small_conv_net()]
    losses = [train_replicas(replicas, drawn([6, 2, 3], 10 + step), drawn([6, 2], 20 + step)) for step in range(4)]
    out.write("losses of two replicas: %s\n" % " ".join(map(numbers, losses)))
    state = replicas[0].state_dict()
    for name in ("0.weight", "1.weight", "4.weight", "1.running_mean", "1.running_var"):
        out.write("two replicas' %s: %s\n" % (name, numbers(state[name])))


def record_clipping(out):
    values = [drawn([3], 0).requires_grad_(), drawn([2, 2], 1).requires_grad_()]
    for value in values:
        value.grad = drawn(list(value.shape), 2)
    torch.nn.utils.clip_grad_norm_(values, 1.5)
    out.write("clipped: %s\n" % " ".join(numbers(value.grad) for value in values))


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


def main():
    declare_elementwise()
    declare_pairs()
    declare_linear()
    declare_backward()
    declare_windows()
    declare_norms()
    declare_attention()
    declare_reductions()
    declare_moves()
    declare_indexed()
    folder = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(folder, "torch_ops.txt"), "w") as out:
        record_ops(out)
    with open(os.path.join(folder, "torch_training.txt"), "w") as out:
        record_optimizers(out)
        record_schedules(out)
        record_losses(out)
        record_recurrent(out)
        record_batch_norm(out)
        record_replicas(out)
        record_clipping(out)
        record_mixed_precision(out)
    with open(os.path.join(folder, "torch_models.txt"), "w") as out:
        record_gpt(out)
        record_resnet18(out)
        record_resnet18_replicas(out)


if __name__ == "__main__":
    main()
