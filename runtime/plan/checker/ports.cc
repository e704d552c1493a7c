// What part of a graph's inputs and outputs each micro-batch feeds and fetches.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/ports.h"

#include <algorithm>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/plan/checker/form.h"
#include "runtime/plan/checker/pieces.h"

namespace partita {
namespace {

// One `type` for each micro-batch, behind each other: the first dimension is
// that many times as long. Scalars have none, and make a list.
std::optional<TensorType> OfAll(const TensorType& type, int64_t micro_batches) {
  if (!type.layout.is_row_major() || type.num_bytes() == 0) return std::nullopt;
  TensorType all = type;
  if (all.dims.empty()) all.dims.push_back(1);
  if (all.dims[0] > kMaxPartBytes / micro_batches) return std::nullopt;
  all.dims[0] *= micro_batches;
  if (!CheckType(all).ok()) return std::nullopt;
  return all;
}

std::string Expected(const TensorType& type,
                     const std::optional<TensorType>& all,
                     int64_t micro_batches) {
  std::string text = type.RowMajor().ToString();
  if (all.has_value()) {
    absl::StrAppend(&text, ", or ", all->ToString(), " for one in each of the ",
                    micro_batches, " micro-batches");
  }
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
    findings.Add(
        view.Found(Rule::kShape, -1,
                   absl::StrCat("found ", ports.size(), " ", what,
                                "s; expected the ", values.size(), " of @",
                                view.graph().name(), "; declare as many")));
    return sliced;
  }
  for (size_t i = 0; i < ports.size(); ++i) {
    const TensorType& type = view.graph().type(values[i]);
    const TensorType& port = ports[i].type;
    if (type.layout.is_row_major() && port == type) continue;
    sliced[i] = true;
    std::optional<TensorType> all;
    if (micro_batches > 1) all = OfAll(type, micro_batches);
    if (all.has_value() && port == *all) continue;
    findings.Add(
        view.Found(Rule::kSize, -1,
                   absl::StrCat(what, " ", i, " ", ports[i].name, ": found ",
                                port.ToString(), "; expected ",
                                Expected(type, all, micro_batches),
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

int PortSlices::MemberOn(ValueId value, DeviceId device) const {
  const auto& devices = ProducedPlacement(view_.graph(), value).devices;
  const auto it = std::find(devices.begin(), devices.end(),
                            view_.device(device).traits.name);
  return it == devices.end() ? -1 : static_cast<int>(it - devices.begin());
}

}  // namespace partita
