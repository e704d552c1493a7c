"""The page of real models: which pass, and why the others do not."""
# SPDX-License-Identifier: Apache-2.0

import dataclasses

import judge


PEERS = {"wheel": "ONNX Runtime", "export": "PyTorch"}


@dataclasses.dataclass
class Row:
    name: str
    kind: str
    by_list: int = 0  # devices that take part
    by_pipeline: int = 0
    share: float = 0.0
    judges: set = dataclasses.field(default_factory=set)
    problem: str = ""
    wrong: bool = False


def line_of(row):
    judges = ", ".join(sorted(row.judges)).replace("the peer", "peer").replace("peer", PEERS[row.kind])
    return f"| {row.name} | {row.by_list} / {row.by_pipeline} | {100 * row.share:.2g} % | {judges} |"


def section(rows, kind):
    return [
        "| model | devices used: list / pipeline | difference | compared with |",
        "|---|---|---|---|",
        *(line_of(row) for row in rows if row.kind == kind and not row.problem),
    ]


def table(rows):
    passed = {kind: sum(row.kind == kind and not row.problem for row in rows) for kind in PEERS}
    total = {kind: sum(row.kind == kind for row in rows) for kind in PEERS}
    failed = [f"| {row.name} | {row.problem} |" for row in rows if row.problem]
    return "\n".join([
        "# Real models",
        "",
        f"{passed['wheel']} of {total['wheel']} pretrained models from PyPI's wheels pass, and {passed['export']} of "
        f"{total['export']} exports of PyTorch and transformers. Each runs on one",
        "device, and on three by `list` and by `pipeline`, and every run equals its plan's reference bit for bit.",
        "`tests/models/real_models.py` fetches, exports and runs them, and writes this page.",
        "",
        f"Outputs are compared with ONNX Runtime's or PyTorch's. The tolerance is {judge.RELATIVE:g} of each value and "
        f"{judge.FLOOR:g} of the output's",
        "largest; integers must be equal. The table shows the largest difference as a share of the tolerance. If the two disagree, a run",
        "in f64 decides: of the model with ONNX's reference evaluator, or of the module in PyTorch. If `list` finds one device to be the",
        "fastest, each device gets three quarters of the memory that the model takes on one. If that is too little, one device remains.",
        "",
        "## Wheels",
        "",
        *section(rows, "wheel"),
        "",
        "## Exports",
        "",
        "Small sizes, random weights, a batch of two, padded if the model takes a mask. The number is the opset: PyTorch's",
        "tracing exporter writes 17, the one that captures the program newer ones. `open` has open batches and lengths.",
        "",
        *section(rows, "export"),
        "",
        "## What does not pass",
        "",
        "| model | why |",
        "|---|---|",
        *failed,
    ]) + "\n"


def listed(path):
    """The failing models of the table, or None without a table."""
    if path is None or not path.exists():
        return None
    rows = path.read_text().split("## What does not pass")[-1].splitlines()
    return {row.split("|")[1].strip() for row in rows if row.startswith("| ")}
