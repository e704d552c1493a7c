# Ops of the ONNX standard that become several of ours, or one without arithmetic: by ONNX Runtime, or another program that has them.
# SPDX-License-Identifier: Apache-2.0
"""standard_ops.txt. Cases that ONNX Runtime lacks, or in which it deviates from the standard, name another judge."""

import os

import numpy as np
import onnx.reference

from cases import Case, write

ROUNDING = 2e-6


class Draws:
    def __init__(self):
        self.generator = np.random.default_rng(40)

    def f32(self, *shape, low=-2, high=2):
        return np.round(self.generator.uniform(low, high, shape), 2).astype(np.float32)

    def ints(self, low, high, *shape, dtype=np.int64):
        return self.generator.integers(low, high, shape).astype(dtype)


def ints(*values):
    return np.array(values, np.int64)


def scalar(value, dtype=np.int64):
    return np.array(value, dtype)


def by_reference(case):
    return onnx.reference.ReferenceEvaluator(case.model()).run(None, case.inputs), "the standard's reference"


def by_numpy(*expected):
    return expected, "NumPy"


def losses(d):
    for shape in ([3, 5], [2, 3, 4], [2, 4, 2, 3]):
        for op in ("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"):
            for reduction in ("none", "sum", "mean"):
                for weight, ignored in ((False, None), (True, None), (False, -1), (True, 1)):
                    labels = d.ints(0, shape[1], *(shape[:1] + shape[2:]))
                    attributes = {"reduction": reduction}
                    if ignored is not None:
                        labels.ravel()[::3] = ignored
                        attributes["ignore_index"] = ignored
                    if len(shape) == 3 and (weight or reduction == "none"):
                        labels = labels.astype(np.int32)
                    case = Case("%s %s %s%s%s" % (op, shape, reduction, ", weights" if weight else "", ", ignoring" if ignored is not None else ""),
                                bound=ROUNDING).input("x", d.f32(*shape)).input("t", labels)
                    if weight:
                        case.input("w", d.f32(shape[1], low=0.1))
                    both = op == "SoftmaxCrossEntropyLoss" and reduction == "mean"
                    case.node(op, "x t w" if weight else "x t", "y p" if both else "y", **attributes)
                    yield case.output(*(("y", "p") if both else ("y",))), None


def grid_samples(d):
    for mode in ("linear", "nearest", "cubic"):
        for padding in ("zeros", "border", "reflection"):
            for align in (0, 1):
                case = Case("GridSample %s %s %d" % (mode, padding, align), 22, ROUNDING)
                case.input("x", d.f32(2, 2, 3, 4)).input("g", d.f32(2, 3, 2, 2, low=-1.9, high=1.9))
                yield case.node("GridSample", "x g", "y", mode=mode, padding_mode=padding, align_corners=align).output("y"), None
                if mode == "cubic":
                    continue
                case = Case("GridSample of volumes %s %s %d" % (mode, padding, align), 20, ROUNDING)
                case.input("x", d.f32(1, 2, 3, 2, 4)).input("g", d.f32(1, 2, 2, 3, 3, low=-1.9, high=1.9))
                yield case.node("GridSample", "x g", "y", mode=mode, padding_mode=padding, align_corners=align).output("y"), None
    case = Case("GridSample of opset 16", 16, ROUNDING).input("x", d.f32(1, 2, 3, 4)).input("g", d.f32(1, 3, 2, 2))
    yield case.node("GridSample", "x g", "y", mode="bicubic").output("y"), None
    case = Case("GridSample of opset 16, as it is", 16, ROUNDING).input("x", d.f32(1, 2, 3, 4)).input("g", d.f32(1, 3, 2, 2))
    yield case.node("GridSample", "x g", "y").output("y"), None


EINSUMS = [
    ("ij,jk->ik", [2, 3], [3, 4]), ("ij , jk", [2, 3], [3, 4]), ("bij,bjk->bik", [2, 3, 4], [2, 4, 2]), ("...ij,...jk->...ik", [2, 3, 4], [4, 2]),
    ("...ij,...jk", [3, 1, 2, 4], [2, 4, 3]), ("ii->i", [3, 3]), ("ii", [3, 3]), ("iji->j", [2, 3, 2]), ("ij->ji", [2, 3]), ("ba", [2, 3]),
    ("ijk->", [2, 3, 2]), ("i,i", [4], [4]), ("i,j->ij", [3], [4]), ("i,j->ji", [3], [4]), ("ij,ij->ij", [2, 3], [2, 3]), ("ij,kj,lk->li", [2, 3], [4, 3], [2, 4]),
    ("bhqd,bhkd->bhqk", [1, 2, 3, 4], [1, 2, 2, 4]), ("iij,jk->ik", [2, 2, 3], [3, 2]), ("ij,j->i", [3, 4], [1]), ("a...b->b...a", [2, 3, 4]),
    ("i...->...", [2, 3, 4]), ("ij,kl->", [2, 3], [2, 2]), ("aB,Bc->ca", [2, 3], [3, 2]), (",ij->ij", [], [2, 3]), ("...,...->...", [2, 3], [3]), ("abc,abd,ae->dec", [2, 3, 2], [2, 3, 4], [2, 3]),
    ("ij,jk->ik", [2, 0], [0, 3]),
]


def einsums(d):
    for equation, *shapes in EINSUMS:
        case = Case("Einsum %s of %s" % (equation, shapes), 12, ROUNDING)
        names = "abc"[:len(shapes)]
        values = [d.f32(*shape) for shape in shapes]
        for name, value in zip(names, values):
            case.input(name, value)
        # Words of an attribute end at a space.
        case.node("Einsum", " ".join(names), "y", equation=equation.replace(" ", "")).output("y")
        yield case, by_numpy(np.asarray(np.einsum(equation, *[v.astype(np.float64) for v in values]), np.float32))
    x, y = d.ints(-9, 9, 2, 3, dtype=np.int32), d.ints(-9, 9, 3, 2, dtype=np.int32)
    case = Case("Einsum of integers", 12).input("a", x).input("b", y).node("Einsum", "a b", "y", equation="ij,jk->ki").output("y")
    yield case, by_numpy(np.einsum("ij,jk->ki", x, y))


def pools(d):
    for name, shape, attributes in [
            ("", [1, 2, 5, 6], {"kernel_shape": [2, 3]}), (", p 1", [1, 2, 5, 6], {"kernel_shape": [2, 2], "p": 1, "strides": [2, 2]}),
            (", p 3", [2, 1, 5, 6], {"kernel_shape": [3, 3], "p": 3, "pads": [1, 0, 1, 1]}), (", one dimension", [1, 3, 9], {"kernel_shape": [3], "strides": [2]}),
            (", three", [1, 2, 3, 4, 3], {"kernel_shape": [2, 2, 2]}), (", SAME_UPPER", [1, 2, 5, 6], {"kernel_shape": [3, 2], "strides": [2, 1], "auto_pad": "SAME_UPPER"}),
            (", dilated", [1, 1, 6, 7], {"kernel_shape": [2, 2], "dilations": [2, 3]})]:
        yield Case("LpPool" + name, 22, ROUNDING).input("x", d.f32(*shape)).node("LpPool", "x", "y", **attributes).output("y"), None
    for name, shape, attributes in [
            ("", [1, 2, 5, 6], {"kernel_shape": [2, 3]}), (", padded", [2, 2, 5, 6], {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "strides": [2, 2]}),
            (", columns first", [2, 2, 5, 6], {"kernel_shape": [2, 2], "strides": [2, 2], "storage_order": 1}), (", one dimension", [2, 3, 9], {"kernel_shape": [3], "strides": [2]}),
            (", three", [1, 2, 3, 4, 5], {"kernel_shape": [2, 2, 2]}), (", three, columns first", [1, 2, 3, 4, 5], {"kernel_shape": [2, 2, 2], "storage_order": 1}),
            (", ceil_mode", [1, 2, 7, 7], {"kernel_shape": [2, 2], "strides": [3, 3], "ceil_mode": 1}), (", dilated", [1, 1, 6, 7], {"kernel_shape": [2, 2], "dilations": [2, 3]})]:
        yield Case("MaxPool with indices" + name, 12).input("x", d.f32(*shape)).node("MaxPool", "x", "y i", **attributes).output("y", "i"), None
    equals = np.array([[[[1, 1, 2, 2], [1, 1, 2, 2], [-np.inf, -np.inf, 0, 3], [-np.inf, -np.inf, 3, 0]]]], np.float32)
    yield Case("MaxPool with indices, of equals", 12).input("x", equals).node("MaxPool", "x", "y i", kernel_shape=[2, 2], strides=[2, 2]).output("y", "i"), None
    case = Case("MaxUnpool", 11).input("x", d.f32(1, 2, 2, 2)).input("i", ints(5, 7, 13, 15, 16, 18, 26, 31).reshape(1, 2, 2, 2))
    yield case.node("MaxUnpool", "x i", "y", kernel_shape=[2, 2], strides=[2, 2]).output("y"), None
    case = Case("MaxUnpool to a shape", 11).input("x", d.f32(1, 1, 2, 2)).input("i", ints(5, 7, 13, 15).reshape(1, 1, 2, 2)).constant("s", ints(1, 1, 5, 5))
    case.node("MaxUnpool", "x i s", "y", kernel_shape=[2, 2], strides=[2, 2]).output("y")
    yield case, by_reference(case)


def moves(d):
    for exclusive in (0, 1):
        for reverse in (0, 1):
            x = d.f32(2, 4, 3)
            turned = np.flip(x, 1) if reverse else x
            product = np.cumprod(turned.astype(np.float64), 1)
            if exclusive:
                product = np.concatenate([np.ones((2, 1, 3)), product[:, :-1]], 1)
            product = np.flip(product, 1) if reverse else product
            case = Case("CumProd %d %d" % (exclusive, reverse), 26, ROUNDING).input("x", x).constant("axis", scalar(1))
            yield case.node("CumProd", "x axis", "y", exclusive=exclusive, reverse=reverse).output("y"), by_numpy(product.astype(np.float32))
    x = d.ints(-4, 5, 3, 4, dtype=np.int32)
    case = Case("CumProd of integers", 26).input("x", x).constant("axis", scalar(-2, np.int32))
    yield case.node("CumProd", "x axis", "y").output("y"), by_numpy(np.cumprod(x, 0, dtype=np.int32))
    for shape, axes in (([2, 5], None), ([7, 8], None), ([4, 4], None), ([9], [1]), ([2, 3], [-1, 0])):
        case = Case("CenterCropPad %s %s" % (shape, axes), 18).input("x", d.f32(5, 6)).constant("s", ints(*shape))
        case.node("CenterCropPad", "x s", "y", **({"axes": axes} if axes else {})).output("y")
        yield case, by_reference(case)
    for pads in ([1, 2, 0, 5], [-1, 3, 1, 0]):
        case = Case("Pad that wraps %s" % pads, 19).input("x", d.f32(2, 3)).constant("p", ints(*pads))
        yield case.node("Pad", "x p", "y", mode="wrap").output("y"), None
    for time in (0, 1):
        case = Case("ReverseSequence along %d" % time, 10).input("x", d.f32(4, 4, 2)).input("n", ints(1, 4, 2, 3))
        yield case.node("ReverseSequence", "x n", "y", time_axis=time, batch_axis=1 - time).output("y"), None
    x = d.f32(2, 3)
    for to, dtype in ((6, np.int32), (12, np.uint32)):
        yield Case("BitCast to %d" % to, 26).input("x", x).node("BitCast", "x", "y", to=to).output("y"), by_numpy(x.view(dtype))
    case = Case("BitCast of integers", 26).input("x", np.array([-1, 7, -128], np.int8)).node("BitCast", "x", "y", to=2).output("y")
    yield case, by_numpy(np.array([255, 7, 128], np.uint8))


def selections(d):
    x = d.f32(3, 4)
    for axis in (None, 0, 1, -1):
        mask = np.array([True, False, True] if axis is not None else [False, True] * 4)
        case = Case("Compress %s" % axis, 11).input("x", x).constant("c", mask)
        yield case.node("Compress", "x c", "y", **({} if axis is None else {"axis": axis})).output("y"), None
    yield Case("NonZero", 13).input("unread", x).constant("c", d.ints(0, 2, 2, 3, 2)).node("NonZero", "c", "y").output("y"), None
    values = np.array([[2, 1, 2], [0, 3, 0], [2, 1, 2]], np.float32)
    for axis in (None, 0, 1):
        for in_order in (0, 1):
            case = Case("Unique %s %d" % (axis, in_order), 11).input("unread", x).constant("c", values)
            yield case.node("Unique", "c", "y i v n", sorted=in_order, **({} if axis is None else {"axis": axis})).output("y", "i", "v", "n"), None
    for centre in (0, 1):
        case = Case("NonMaxSuppression %d" % centre, 11).input("unread", x)
        corners = d.f32(2, 6, 2, low=0, high=1)
        case.constant("b", np.concatenate([corners, corners + d.f32(2, 6, 2, low=0.2, high=1)], 2)).constant("s", d.f32(2, 2, 6, low=0, high=1))
        case.constant("n", ints(3)).constant("o", np.array([0.4], np.float32)).constant("m", np.array([0.2], np.float32))
        yield case.node("NonMaxSuppression", "b s n o m", "y", center_point_box=centre).output("y"), None


def signals(d):
    for window in ("HannWindow", "HammingWindow", "BlackmanWindow"):
        for periodic in (0, 1):
            case = Case("%s %d" % (window, periodic), 17, ROUNDING).input("unread", d.f32(1)).constant("n", scalar(10))
            yield case.node(window, "n", "y", periodic=periodic).output("y"), None
    case = Case("MelWeightMatrix", 17, ROUNDING).input("unread", d.f32(1))
    for name, value in (("bins", scalar(6)), ("length", scalar(32)), ("rate", scalar(8000)), ("low", scalar(100, np.float32)), ("high", scalar(3800, np.float32))):
        case.constant(name, value)
    case.node("MelWeightMatrix", "bins length rate low high", "y").output("y")
    yield case, by_reference(case)
    for length in (5, 8):
        for parts in (1, 2):
            x = d.f32(2, length, 3, parts)
            z = x[..., 0].astype(np.complex128) + (1j * x[..., 1] if parts == 2 else 0)
            both = lambda y: by_numpy(np.stack([y.real, y.imag], -1).astype(np.float32))
            case = Case("DFT of %d, %d parts" % (length, parts), 17, ROUNDING).input("x", x)
            yield case.node("DFT", "x", "y", axis=1).output("y"), both(np.fft.fft(z, axis=1))
            case = Case("inverse DFT of %d, %d parts" % (length, parts), 20, ROUNDING).input("x", x).constant("axis", scalar(-3))
            yield case.node("DFT", "x _ axis", "y", inverse=1).output("y"), both(np.fft.ifft(z, axis=1))
            for n in (4, 11):
                case = Case("DFT of %d as %d, %d parts" % (length, n, parts), 20, ROUNDING).input("x", x).constant("n", scalar(n)).constant("axis", scalar(1))
                yield case.node("DFT", "x n axis", "y").output("y"), both(np.fft.fft(z, n, axis=1))
            if parts == 1:
                case = Case("DFT of %d, half" % length, 20, ROUNDING).input("x", x).constant("axis", scalar(1))
                yield case.node("DFT", "x _ axis", "y", onesided=1).output("y"), both(np.fft.rfft(x[..., 0], axis=1))
                continue
            for n in (None, 7):
                case = Case("DFT of half of %d to reals, %s" % (length, n), 20, ROUNDING).input("x", x).constant("axis", scalar(1))
                if n is not None:
                    case.constant("n", scalar(n))
                case.node("DFT", "x %s axis" % ("_" if n is None else "n"), "y", onesided=1, inverse=1).output("y")
                yield case, by_numpy(np.fft.irfft(z, n, axis=1)[..., None].astype(np.float32))
    for onesided in (0, 1):
        case = Case("STFT %d" % onesided, 17, 1e-5).input("x", d.f32(2, 20, 1)).constant("step", scalar(3)).input("w", d.f32(8))
        yield case.node("STFT", "x step w", "y", onesided=onesided).output("y"), None
        case = Case("STFT without a window %d" % onesided, 17, 1e-5).input("x", d.f32(1, 20, 1)).constant("step", scalar(4)).constant("n", scalar(7))
        yield case.node("STFT", "x step _ n", "y", onesided=onesided).output("y"), None


def images(d):
    for align in (0, 1):
        for shape, size in (([2, 2, 3], ints(2, 1, 3, 4)), ([1, 3, 4], ints(1, 1, 2, 3, 4)), ([1, 2, 3], ints(1, 1, 2, 2))):
            case = Case("AffineGrid %s %d" % (shape, align), 20, ROUNDING).input("t", d.f32(*shape)).constant("s", size)
            yield case.node("AffineGrid", "t s", "y", align_corners=align).output("y"), None
    for name, shape, image, block, attributes in [
            ("", [1, 4, 12], [4, 5], [2, 2], {}), (", strides", [2, 18, 4], [5, 5], [3, 3], {"strides": [2, 2]}),
            (", pads", [1, 5, 15], [5, 5], [1, 5], {"pads": [0, 1, 0, 1]}), (", dilations", [1, 4, 5], [6, 6], [2, 2], {"dilations": [1, 5]}),
            (", volumes", [1, 10, 12], [3, 4, 5], [1, 1, 5], {}), (", rests", [1, 4, 4], [5, 5], [2, 2], {"strides": [2, 2]})]:
        case = Case("Col2Im" + name, 18, ROUNDING).input("x", d.f32(*shape)).constant("image", ints(*image)).constant("block", ints(*block))
        yield case.node("Col2Im", "x image block", "y", **attributes).output("y"), None
    yield Case("Det", 11, ROUNDING).input("x", d.f32(2, 3, 4, 4)).node("Det", "x", "y").output("y"), None
    yield Case("Det of a singular matrix", 11, ROUNDING).input("x", np.array([[1, 2], [2, 4]], np.float32)).node("Det", "x", "y").output("y"), None
    boxes = np.concatenate([d.f32(4, 2, low=-1, high=4), d.f32(4, 2, low=3, high=9)], 1)
    for mode in ("avg", "max"):
        for ratio in (0, 2):
            for coordinates in ("half_pixel", "output_half_pixel"):
                case = Case("RoiAlign %s %d %s" % (mode, ratio, coordinates), 16, ROUNDING).input("x", d.f32(2, 2, 6, 7)).input("b", boxes)
                case.input("i", ints(0, 1, 1, 0)).node("RoiAlign", "x b i", "y", mode=mode, sampling_ratio=ratio, output_height=2, output_width=3,
                                                       spatial_scale=0.75, coordinate_transformation_mode=coordinates)
                yield case.output("y"), None
    for name, groups, offset_groups, mask in (("", 1, 1, False), (", groups", 2, 2, True), (", a mask", 1, 2, True)):
        case = Case("DeformConv" + name, 19, 1e-5).input("x", d.f32(2, 4, 5, 6)).input("w", d.f32(4, 4 // groups, 2, 3))
        case.input("o", d.f32(2, offset_groups * 12, 5, 3)).input("b", d.f32(4))
        if mask:
            case.input("m", d.f32(2, offset_groups * 6, 5, 3, low=0, high=1))
        case.node("DeformConv", "x w o b m" if mask else "x w o b", "y", group=groups, offset_group=offset_groups, pads=[0, 1, 1, 1], strides=[1, 2], dilations=[1, 1])
        yield case.output("y"), None
    case = Case("ConvTranspose to a shape beyond its reach", 11, ROUNDING).input("x", d.f32(1, 1, 3, 3)).input("w", d.f32(1, 2, 3, 3))
    yield case.node("ConvTranspose", "x w", "y", strides=[3, 2], output_shape=[10, 8]).output("y"), None


def resizes(d):
    for mode in ("linear", "cubic"):
        for excludes in (0, 1):
            case = Case("Resize %s, antialias, %d" % (mode, excludes), 18, 1e-5).input("x", d.f32(1, 1, 7, 6)).constant("r", ints().astype(np.float32))
            case.constant("s", np.array([1, 1, 0.6, 0.5], np.float32)).node("Resize", "x r s", "y", mode=mode, antialias=1, exclude_outside=excludes).output("y")
            yield case, by_reference(case)
            case = Case("Resize %s, antialias of one axis, %d" % (mode, excludes), 18, 1e-5).input("x", d.f32(2, 7, 5)).constant("n", ints(3, 8))
            case.node("Resize", "x _ _ n", "y", mode=mode, antialias=1, exclude_outside=excludes, axes=[1, 2], coordinate_transformation_mode="align_corners").output("y")
            yield case, by_reference(case)
    for mode in ("nearest", "linear", "cubic"):
        case = Case("Resize %s of a part" % mode, 13, ROUNDING).input("x", d.f32(1, 1, 5, 6)).constant("r", np.array([0, 0, 0.4, -0.2, 1, 1, 0.6, 1.3], np.float32))
        case.constant("n", ints(1, 1, 4, 5)).node("Resize", "x r _ n", "y", mode=mode, coordinate_transformation_mode="tf_crop_and_resize",
                                                  extrapolation_value=10.0).output("y")
        yield case, by_reference(case)
        case = Case("Resize %s, symmetric" % mode, 19, ROUNDING).input("x", d.f32(1, 1, 5, 6)).constant("s", np.array([1, 1, 0.7, 1.9], np.float32))
        case.node("Resize", "x _ s", "y", mode=mode, coordinate_transformation_mode="half_pixel_symmetric").output("y")
        yield case, by_reference(case)


def training(d):
    case = Case("BatchNormalization in training mode", 15, ROUNDING).input("x", d.f32(2, 3, 2, 2))
    for name, low in (("s", -2), ("b", -2), ("m", -2), ("v", 0.1)):
        case.input(name, d.f32(3, low=low))
    case.node("BatchNormalization", "x s b m v", "y n u", training_mode=1, momentum=0.75).output("y", "n", "u")
    yield case, by_reference(case)
    case = Case("Dropout of nothing in training mode", 13).input("x", d.f32(2, 3)).constant("r", scalar(0, np.float32)).constant("t", scalar(True, bool))
    yield case.node("Dropout", "x r t", "y m").output("y", "m"), None


# A start before or after the axis is its first or last element.
def slices(_):
    for start, end, step in ((-3, -9, -1), (-100, -100, -1), (-6, 0, -1), (-6, -7, -2), (100, -100, -3), (3, -6, -2), (-100, 3, 2), (100, 200, 1)):
        case = Case(f"Slice {start}:{end}:{step}", 13).input("x", np.arange(5, dtype=np.float32))
        for name, value in (("s", start), ("e", end), ("a", 0), ("t", step)):
            case.constant(name, ints(value))
        yield case.node("Slice", "x s e a t", "y").output("y"), None


def record(folder):
    draws = Draws()
    with open(os.path.join(folder, "standard_ops.txt"), "w") as out:
        out.write("# Made by record.py.\n\n")
        for family in (losses, grid_samples, einsums, pools, moves, selections, signals, images, resizes, training, slices):
            for case, judged in family(draws):
                try:
                    write(case, out, *(judged or (None,)))
                except Exception as error:
                    raise RuntimeError(case.name) from error
