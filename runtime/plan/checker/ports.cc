// The slice of the graph's inputs and outputs that each micro-batch feeds and
// fetches.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/ports.h"

#include <algorithm>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "runtime/plan/checker/form.h"
#include "runtime/plan/checker/shards.h"

namespace partita {
namespace {

// The types of all micro-batches in sequence: either the first dimension is
// multiplied by their number, or a new first dimension counts them. Extents are
// bounded separately, because an extent of 0 makes the number of bytes 0.
std::vector<TensorType> OfAll(const TensorType& type, int64_t micro_batches) {
  std::vector<TensorType> all;
  if (micro_batches < 2 || !type.layout.is_row_major() ||
      type.num_bytes() > kMaxTensorBytes / micro_batches) {
    return all;
  }
  if (type.rank() > 0 && type.dims[0] <= kMaxTensorBytes / micro_batches) {
    all.push_back(type);
    all.back().dims[0] *= micro_batches;
  }
  if (type.rank() < kMaxRank) {
    all.push_back(type);
    Shape& dims = all.back().dims;
    dims.insert(dims.begin(), micro_batches);
  }
  return all;
}

std::string Expected(const TensorType& type,
                     const std::vector<TensorType>& all) {
  std::string text = type.RowMajor().ToString();
  for (const TensorType& of_all : all) {
    absl::StrAppend(&text, " or ", of_all.ToString());
  }
  if (!all.empty()) text += ", of one or of all micro-batches";
  if (!type.layout.is_row_major()) text += ", of a value that is row-major";
  return text;
}

std::vector<bool> Sliced(const EntryView& view, absl::string_view what,
                         const std::vector<Port>& ports,
                         const std::vector<ValueId>& values,
                         Findings& findings) {
  const int64_t micro_batches = view.micro_batches();
  std::vector<bool> sliced(ports.size());
  if (ports.size() != values.size()) {
    findings.Add(view.Found(
        Rule::kShape, absl::StrCat("found ", ports.size(), " ", what,
                                   "s; expected the ", values.size(), " of @",
                                   view.graph().name(), "; declare as many")));
    return sliced;
  }
  for (size_t i = 0; i < ports.size(); ++i) {
    const TensorType& type = view.graph().type(values[i]);
    const TensorType& port = ports[i].type;
    if (type.layout.is_row_major() && port == type) continue;
    sliced[i] = true;
    const std::vector<TensorType> all = OfAll(type, micro_batches);
    if (absl::c_linear_search(all, port)) continue;
    findings.Add(view.Found(
        Rule::kSize,
        absl::StrCat(what, " ", i, " ", ports[i].name, ": found ",
                     port.ToString(), "; expected ", Expected(type, all),
                     "; change the port's type")));
  }
  return sliced;
}

}  // namespace

PortSlices::PortSlices(const EntryView& view, Findings& findings)
    : view_(view),
      inputs_(Sliced(view, "input", view.entry->inputs, view.graph().inputs(),
                     findings)),
      outputs_(Sliced(view, "output", view.entry->outputs,
                      view.graph().outputs(), findings)) {}

int PortSlices::RankOn(ValueId value, DeviceId device) const {
  const auto& devices = ProducedPlacement(view_.graph(), value).devices;
  const auto it = std::find(devices.begin(), devices.end(),
                            view_.device(device).traits.name);
  return it == devices.end() ? -1 : static_cast<int>(it - devices.begin());
}

}  // namespace partita
