// One row for each kind of file.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/file_uses.h"

#include "absl/strings/str_replace.h"

namespace partita {
namespace {

struct Row {
  FileKind kind;
  absl::string_view use;  // PATH stands for the file
};

constexpr absl::string_view kUseOfPlan =
    "it is compiled already: partita simulate PATH shows its figures, partita "
    "run PATH runs it";

constexpr Row kRows[] = {
    {FileKind::kUnknown, "name another file"},
    {FileKind::kText, "name another file"},
    {FileKind::kJson, "name another file"},
    {FileKind::kPlan, kUseOfPlan},
    {FileKind::kPlanText, kUseOfPlan},
    {FileKind::kOnnxModel,
     "compile it first: partita compile PATH --output FILE.plan"},
    {FileKind::kGraphText,
     "compile it first: partita compile PATH --output FILE.plan"},
    {FileKind::kOnnxTensor,
     "it is an input: partita run MODEL --input NAME=PATH"},
    {FileKind::kNpy, "it is an input: partita run MODEL --input NAME=PATH"},
    {FileKind::kNpz,
     "save one array by numpy.save, or train on it: partita train --help"},
    {FileKind::kIdx, "train on it: partita train --help"},
    {FileKind::kGzip, "unpack it, or train on it: partita train --help"},
    {FileKind::kSafetensors,
     "continue its training: partita train MODEL --resume PATH"},
    {FileKind::kMachine,
     "it is an option: partita compile MODEL --machine PATH"},
    {FileKind::kProfile, "name it in a machine file, by the key profile"},
    {FileKind::kTrace,
     "view it beside its plan: partita view PLAN --trace PATH"},
    {FileKind::kPyTorch, "export the model as ONNX, by torch.onnx.export"},
    {FileKind::kHdf5, "export the model as ONNX, in Keras by model.export"},
    {FileKind::kLfsPointer, "fetch the file by git lfs pull"},
};

}  // namespace

std::string UseOf(FileKind kind, absl::string_view path) {
  absl::string_view use;
  for (const Row& row : kRows) {
    if (row.kind == kind) use = row.use;
  }
  return absl::StrReplaceAll(use, {{"PATH", path}});
}

}  // namespace partita
