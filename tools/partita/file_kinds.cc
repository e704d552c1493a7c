// One row for each kind of file.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/file_kinds.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace partita {
namespace {

struct Row {
  FileKind kind;
  absl::string_view name;
  absl::string_view use;  // PATH stands for the file
};

constexpr Row kRows[] = {
    {FileKind::kUnknown, "a file of an unknown format", "name another file"},
    {FileKind::kText, "a text", "name another file"},
    {FileKind::kJson, "JSON", "name another file"},
    {FileKind::kPlan, "a plan", "run it: partita run PATH"},
    {FileKind::kPlanText, "a plan as text", "run it: partita run PATH"},
    {FileKind::kOnnxModel, "an ONNX model",
     "compile it first: partita compile PATH --output FILE.plan"},
    {FileKind::kGraphText, "a graph as text",
     "compile it first: partita compile PATH --output FILE.plan"},
    {FileKind::kOnnxTensor, "an ONNX tensor (.pb)",
     "it is an input: partita run MODEL --input NAME=PATH"},
    {FileKind::kNpy, "a NumPy array (.npy)",
     "it is an input: partita run MODEL --input NAME=PATH"},
    {FileKind::kNpz, "NumPy arrays (.npz)",
     "save one array by numpy.save, or train on it: partita train --help"},
    {FileKind::kIdx, "an IDX file", "train on it: partita train --help"},
    {FileKind::kGzip, "a gzip file",
     "unpack it, or train on it: partita train --help"},
    {FileKind::kSafetensors, "a safetensors file",
     "continue its training: partita train MODEL --resume PATH"},
    {FileKind::kMachine, "a machine file",
     "it is an option: partita compile MODEL --machine PATH"},
    {FileKind::kProfile, "a profile",
     "name it in a machine file, by the key profile"},
    {FileKind::kTrace, "a trace",
     "view it beside its plan: partita view PLAN --trace PATH"},
    {FileKind::kPyTorch, "a Python pickle, as of torch.save",
     "export the model as ONNX, by torch.onnx.export"},
    {FileKind::kHdf5, "an HDF5 file",
     "export the model as ONNX, in Keras by model.export"},
    {FileKind::kLfsPointer, "a pointer of Git LFS, not the file itself",
     "fetch the file by git lfs pull"},
};

const Row& RowOf(FileKind kind) {
  for (const Row& row : kRows) {
    if (row.kind == kind) return row;
  }
  return kRows[0];
}

}  // namespace

absl::string_view NameOf(FileKind kind) { return RowOf(kind).name; }

std::string NamesOf(FileKinds kinds) {
  std::vector<absl::string_view> names;
  for (const Row& row : kRows) {
    // What reads plans reads them as text too.
    const bool is_said =
        row.kind == FileKind::kPlanText && kinds.has(FileKind::kPlan);
    if (kinds.has(row.kind) && !is_said) names.push_back(row.name);
  }
  if (names.size() < 3) return absl::StrJoin(names, " or ");
  const absl::string_view last = names.back();
  names.pop_back();
  return absl::StrCat(absl::StrJoin(names, ", "), " or ", last);
}

std::string UseOf(FileKind kind, absl::string_view path) {
  return absl::StrReplaceAll(RowOf(kind).use, {{"PATH", path}});
}

}  // namespace partita
