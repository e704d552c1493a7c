# Prints docs/internals/own_kernels.md: which kernels are our own, and how they compare with oneDNN's versions.
# SPDX-License-Identifier: Apache-2.0
"""usage: own_kernels_page.py ROOT"""

import hashlib
import json
import math
import pathlib
import statistics
import sys

BASE, OURS = "2.6.3", "ours"
LEAST_MS = 1  # a model below it measures the cost of a launch
LARGE = f"of at least {LEAST_MS} ms"

HEAD = """# Our own kernels

A convolution is a library's job: Partita computes with oneDNN %(base)s, Debian's package. Kernels of our own exist where that has none, or one
that is much slower. This page says which, and why neither a newer oneDNN replaces them nor they replace it. It is generated from
[the measurement](../../tests/bench/results/onednn_versions.json) by `bazel run --config=opt //tests/docs:reference_test -- --update`;
a test compares.

## Which, and where

| kernels | why | code |
|---|---|---|
| `cpu.winograd_4x4`, `cpu.winograd_4x4_weight_gradient`: 3x3 convolutions in training and their gradients | oneDNN %(base)s has Winograd's algorithm for AVX-512 alone, and not for gradients by the image | [`kernels/winograd/convolution.h`](../../kernels/winograd/convolution.h) |
| `onednn.winograd`: the transform of its weights | oneDNN transforms them in advance only into a format of its own, which a plan cannot hold | [`kernels/winograd/small_tile_weights.h`](../../kernels/winograd/small_tile_weights.h) |
| `cpu.attention`, also its gradient | oneDNN %(base)s has none; the composed nodes write all scores to memory | `kernels/cpu/attention.cc`, `attention_gradient.cc` |
| `cpu.recurrent`: LSTMs, GRUs, RNNs | one product for all rows of a step, sums that do not depend on the threads | `kernels/cpu/recurrent.cc` |
| `cpu.softmax`, `cpu.max_pool`, `cpu.reduce`, `cpu.rms_norm`, `cpu.max_pool_gradient`, `cpu.layer_norm_gradient` | oneDNN %(base)s lacks them, or computes them with plain loops | a source each in `kernels/cpu` |
| `cpu.move`, `cpu.gather`, `cpu.fill`, `cpu.random_uniform`, ... | oneDNN has none | `kernels/copy`, a source each in `kernels/cpu` |
| fused elementwise nodes | generated, not written by hand | `kernels/codegen` |

Those named `cpu.` are offered and bound by `CpuCatalog` and `CpuLibrary` ([`kernels/cpu/cpu_kernels.h`](../../kernels/cpu/cpu_kernels.h)), from a table
with a row for each family. Winograd's arithmetic is in one folder, `kernels/winograd`, which knows neither graphs nor oneDNN;
`kernels/cpu/tiled_convolution.cc` makes kernels of it. Products inside our kernels are those of
[`kernels/vector/block_product.h`](../../kernels/vector/block_product.h). The library's kernels are chosen for everything else; a plan names each
node's kernel, and `--stop-after kernels` prints them.

Winograd's larger tiles lose digits ([numerics](numerics.md)), so they serve training only: a convolution with constant weights stays
oneDNN's.

## The measurement
"""

METHOD = """
    tests/bench/onednn_versions/run --folder FOLDER

times each distinct convolution, product, pool and normalisation of %(models)d models ([`nodes.tsv`](../../tests/bench/onednn_versions/nodes.tsv):
%(nodes)d nodes, without epilogues) with each version and with our kernels, each in a process of its own on the same cores, in turn (rounds: %(rounds)s). A time is the median over %(ms)g ms in the fastest of these layouts of images: what the library prefers, channels
last, row-major; or by Winograd's algorithm, where the library has it. A convolution's weights are in the layout that the library
prefers, a product's only if they are constant. Conversions of layouts are not counted. A ratio is to %(base)s's time in the same round: below 1
is faster. Cells are the median of the rounds, in brackets the least and the most. *With ours* takes the faster of the
library's and our kernel for each node. A model's time is the sum over its nodes; a row of nodes is the geometric mean of their ratios.

%(processor)s, %(cores)d cores, %(system)s, measured on %(date)s at commit %(commit)s; load of the host before it: %(load)s.

| version | package | threads by | installed | gradient of a strided 1x1 convolution (oneDNN #6035) | depthwise convolution with a sum |
|---|---|---|---|---|---|
"""

TRIAL = """
**The figures below are those of a trial of the programs with few nodes, not of the measurement.**
"""

DECISION = """## The decision

Partita keeps oneDNN %(base)s and its own kernels:

* *Speed.* %(speed)s
* *Right under the guarded test.* The last two columns of the first table say what each version does with two faults that
  [the sweep](kernel_sweep.md) found. %(free)s. Exclusions would remain, and every implementation of a new version would have to be swept
  again, for each instruction set.
* *Simplest to install.* Debian's package is %(base_mb)s MB and in every mirror; %(others)s. Versions after 3.2 come from PyPI with SYCL
  alone, whose launches cost more than a small node.

What would change it: a Debian with oneDNN 3.x on OpenMP, or nodes above in which a newer version is faster by more than ours.
"""

CLASSES = [
    ("3x3 convolution of stride 1", lambda n: n["kind"] == "conv" and is_3x3(n)),
    ("1x1 convolution", lambda n: n["kind"] == "conv" and set(spatial(n)) == {"1"}),
    ("depthwise convolution", lambda n: n["kind"] == "conv" and n["groups"] == n["x"].split("x")[1] != "1"),
    ("other convolution", lambda n: n["kind"] == "conv"),
    ("3x3 convolution's gradient by the image", lambda n: n["kind"] == "conv_transpose" and is_3x3(n)),
    ("other transposed convolution", lambda n: n["kind"] == "conv_transpose"),
    ("3x3 convolution's gradient by the weights", lambda n: n["kind"] == "conv_weight_gradient" and is_3x3(n)),
    ("other gradient by the weights", lambda n: n["kind"] == "conv_weight_gradient"),
    ("product with constant weights", lambda n: n["kind"] == "matmul" and "constant" in n["flags"]),
    ("product", lambda n: n["kind"] == "matmul"),
    ("pool", lambda n: n["kind"].endswith("_pool")),
    ("softmax, layer norm", lambda n: True),
]


def spatial(node):
    return node["w"].split("x")[2:]


def is_3x3(node):
    return spatial(node) == ["3", "3"] and node["strides"] == "1x1" and node["groups"] == "1"


def class_of(node):
    name = next(name for name, holds in CLASSES if holds(node))
    trained = node["kind"] == "conv" and "constant" not in node["flags"]
    return name + ", in training" if trained else name


def read_nodes(path, count):
    lines = path.read_text(encoding="utf-8").splitlines()
    columns = lines[0].split("\t")
    return [dict(zip(columns, line.split("\t"))) for line in lines[1:][:count]]


def models_of(node):
    for text in node["models"].split("; "):
        count, name = text.split(" ", 1)
        yield name, int(count)


def mean(ratios):
    """The geometric one."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def cell(rounds):
    """The median and the spread of a list that may lack rounds."""
    found = sorted(value for value in rounds if value is not None)
    return "%.2f (%.2f to %.2f)" % (statistics.median(found), found[0], found[-1]) if found else "-"


class Setting:
    """The times of an instruction set and a number of threads."""

    def __init__(self, setting, nodes):
        self.isa, self.threads, self.nodes = setting["isa"], setting["threads"], nodes
        self.times = dict(setting["times"])
        self.versions = [name for name in self.times if name != OURS]
        self.rounds = range(len(self.times[BASE]))
        for name in self.versions:
            self.times["%s with ours" % name] = [
                [min(filter(None, pair), default=None) for pair in zip(theirs, ours)]
                for theirs, ours in zip(self.times[name], self.times[OURS])]
        self.columns = [*self.versions[1:], BASE + " with ours", self.versions[-1] + " with ours"]

    def title(self):
        return "%s, %d thread%s" % (self.isa.replace("_CORE", "").replace("AVX512", "AVX-512"), self.threads,
                                    "s" * (self.threads > 1))

    def of_nodes(self, column, chosen):
        """The geometric mean of the nodes' ratios in each round."""
        for turn in self.rounds:
            pairs = [(self.times[column][turn][i], self.times[BASE][turn][i]) for i in chosen]
            pairs = [(a, b) for a, b in pairs if a and b]
            yield mean([a / b for a, b in pairs]) if pairs else None

    def milliseconds(self, column, name, turn):
        """The sums over a model's nodes that both computed: of the column's times and of the base's."""
        sums = [0, 0]
        for i, node in enumerate(self.nodes):
            count = dict(models_of(node)).get(name, 0)
            pair = self.times[column][turn][i], self.times[BASE][turn][i]
            if count and all(pair):
                sums = [total + count * time / 1000 for total, time in zip(sums, pair)]
        return sums

    def of_model(self, column, name):
        return [a / b if b else None for a, b in (self.milliseconds(column, name, turn) for turn in self.rounds)]

    def base_ms(self, name):
        return statistics.median(self.milliseconds(BASE, name, turn)[0] for turn in self.rounds)

    def of_models(self, column, names):
        """The geometric mean of the models' ratios in each round."""
        rounds = zip(*(self.of_model(column, name) for name in names))
        return [mean([ratio for ratio in ratios if ratio]) for ratios in rounds if any(ratios)]


def table(head, rows):
    return ["| %s |" % " | ".join(head), "|%s" % ("---|" * len(head)), *("| %s |" % " | ".join(row) for row in rows), ""]


def class_rows(setting):
    groups = {}
    for i, node in enumerate(setting.nodes):
        groups.setdefault(class_of(node), []).append(i)
    for name in sorted(groups, key=lambda name: [base for base, _ in CLASSES].index(name.replace(", in training", ""))):
        chosen = groups[name]
        ours = sum(any(times[i] for times in setting.times[OURS]) for i in chosen)
        yield [name, str(len(chosen)), str(ours), *(cell(setting.of_nodes(column, chosen)) for column in setting.columns)]


def model_rows(setting, names):
    for name in names:
        yield [name, "%.3g" % setting.base_ms(name), *(cell(setting.of_model(column, name)) for column in setting.columns)]


def large(setting, names):
    return [name for name in names if setting.base_ms(name) >= LEAST_MS]


def mean_rows(setting, names):
    for label, chosen in (("all models", names), ("models %s" % LARGE, large(setting, names))):
        if chosen:
            yield ["**%s, geometric mean**" % label, "%d models" % len(chosen), "",
                   *(cell(setting.of_models(column, chosen)) for column in setting.columns)]


def speed_text(setting, names):
    chosen = large(setting, names)
    if not chosen:
        return "No model of the trial takes a millisecond."
    ratios = ["%s takes %.2f" % (column, statistics.median(setting.of_models(column, chosen))) for column in setting.columns]
    return "Of %s's time, with %s, geometric mean of the %d models %s: %s." % (
        BASE, setting.title(), len(chosen), LARGE, ", ".join(ratios))


def is_right(outcome):
    """Of a line of `onednn_bench fault`: the library has no such kernel, or computes right with it."""
    return outcome in ("no crash", "not offered") or outcome.startswith("right, ")


def free_text(faults):
    """Which versions are free of the faults. The decision rests on none being so."""
    right = [name for name, outcomes in faults.items() if all(map(is_right, outcomes.values()))]
    if right:
        sys.exit("oneDNN %s: found no fault in %s; expected a version with faults, as the page decides; decide anew in DECISION" % (
            ", ".join(right), " or ".join(faults[right[0]])))
    return "No version is free of them"


def page(report, nodes):
    run, versions = report["run"], report["versions"]
    settings = [Setting(setting, nodes) for setting in report["settings"]]
    names = list(dict.fromkeys(name for node in nodes for name, _ in models_of(node)))
    names.sort(key=settings[0].base_ms, reverse=True)
    counts = sorted({len(setting.rounds) for setting in settings})
    facts = dict(run, base=BASE, rounds=" or ".join(map(str, counts)), models=len(names), nodes=len(nodes))
    lines = [HEAD % facts + (TRIAL if run["is_trial"] else "") + METHOD.rstrip("\n") % facts]
    for name, version in versions.items():
        lines.append("| %s | %s | %s | %d MB | %s | %s |" % (
            name, version["package"], version["runtime"], version["megabytes"], *report["faults"][name].values()))
    lines.append("")
    for setting in settings:
        lines += ["### %s" % setting.title(), ""]
        lines += table(["nodes", "distinct", "of ours", *setting.columns],
                       [*class_rows(setting), *mean_rows(setting, names)])
    lines += ["### Models, %s" % settings[0].title(), ""]
    lines += table(["model", "ms with %s" % BASE, *settings[0].columns], model_rows(settings[0], names))
    others = ", ".join("%s takes %d MB" % (name, version["megabytes"]) for name, version in versions.items() if name != BASE)
    lines.append(DECISION.rstrip() % {
        "base": BASE, "speed": speed_text(settings[0], names), "base_mb": versions[BASE]["megabytes"], "others": others,
        "free": free_text(report["faults"])})
    return "\n".join(lines)


def main(root):
    bench = pathlib.Path(root) / "tests" / "bench"
    path, results = bench / "onednn_versions" / "nodes.tsv", bench / "results" / "onednn_versions.json"
    report = json.loads(results.read_text(encoding="utf-8"))
    if hashlib.sha256(path.read_bytes()).hexdigest() != report["run"]["nodes"]:
        sys.exit("%s: found times of other nodes than those of %s; expected the same; measure again" % (results, path))
    print(page(report, read_nodes(path, len(report["settings"][0]["times"][BASE][0]))))


if __name__ == "__main__":
    main(sys.argv[1])
