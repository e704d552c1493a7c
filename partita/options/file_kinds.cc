// One row for each kind of file.
// SPDX-License-Identifier: Apache-2.0

#include "partita/options/file_kinds.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace partita {
namespace {

struct Row {
  FileKind kind;
  absl::string_view name;
};

constexpr Row kRows[] = {
    {FileKind::kUnknown, "a file of an unknown format"},
    {FileKind::kText, "a text"},
    {FileKind::kJson, "JSON"},
    {FileKind::kPlan, "a plan"},
    {FileKind::kPlanText, "a plan as text"},
    {FileKind::kOnnxModel, "an ONNX model"},
    {FileKind::kGraphText, "a graph as text"},
    {FileKind::kOnnxTensor, "an ONNX tensor (.pb)"},
    {FileKind::kNpy, "a NumPy array (.npy)"},
    {FileKind::kNpz, "NumPy arrays (.npz)"},
    {FileKind::kIdx, "an IDX file"},
    {FileKind::kGzip, "a gzip file"},
    {FileKind::kSafetensors, "a safetensors file"},
    {FileKind::kMachine, "a machine file"},
    {FileKind::kProfile, "a profile"},
    {FileKind::kTrace, "a trace"},
    {FileKind::kPyTorch, "a Python pickle, as of torch.save"},
    {FileKind::kHdf5, "an HDF5 file"},
    {FileKind::kLfsPointer, "a pointer of Git LFS, not the file itself"},
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

}  // namespace partita
