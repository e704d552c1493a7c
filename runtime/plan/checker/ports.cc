// What part of a graph's inputs and outputs each micro-batch feeds and fetches.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/ports.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "runtime/plan/checker/form.h"
#include "runtime/plan/checker/pieces.h"

namespace partita {
namespace {

// One `type` for each micro-batch, behind each other: the first dimension
// counts them, or holds that many times as much.
bool HoldsEach(const TensorType& port, const TensorType& type,
               int64_t micro_batches) {
  if (!CheckType(port).ok() || !port.layout.is_row_major() ||
      port.dtype != type.dtype || type.num_bytes() == 0) {
    return false;
  }
  Shape counted = type.dims;
  counted.insert(counted.begin(), micro_batches);
  if (port.dims == counted) return true;
  Shape longer = type.dims;
  if (longer.empty() || longer[0] > kMaxPartBytes / micro_batches) return false;
  longer[0] *= micro_batches;
  return port.dims == longer;
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
    if (type.layout.is_row_major() && HoldsEach(port, type, micro_batches)) {
      continue;
    }
    findings.Add(view.Found(
        Rule::kSize, -1,
        absl::StrCat(what, " ", i, " ", ports[i].name, ": found ",
                     port.ToString(), "; expected ", type.RowMajor().ToString(),
                     ", or ", micro_batches,
                     " of them, one a micro-batch, and a row-major value; "
                     "change the port's type")));
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
