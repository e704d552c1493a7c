// What part of a graph's inputs and outputs each micro-batch feeds and fetches.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/ports.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "runtime/plan/checker/pieces.h"

namespace partita {
namespace {

std::vector<bool> Sliced(const EntryView& view, absl::string_view what,
                         const std::vector<Port>& ports,
                         const std::vector<ValueId>& values,
                         Findings& findings) {
  const int64_t micro_batches = view.micro_batches();
  std::vector<bool> sliced(ports.size());
  if (ports.size() != values.size()) {
    findings.Add(view.Found(
        Rule::kShape, -1,
        absl::StrCat("found ", ports.size(), " ", what, "s; expected the ",
                     values.size(), " of @", view.graph().name())));
    return sliced;
  }
  for (size_t i = 0; i < ports.size(); ++i) {
    const TensorType& type = view.graph().type(values[i]);
    const int64_t bytes = type.num_bytes();
    const int64_t found =
        CheckType(ports[i].type).ok() ? ports[i].type.num_bytes() : -1;
    sliced[i] = found != bytes;
    const bool all =
        bytes > 0 && found % bytes == 0 && found / bytes == micro_batches;
    if (type.layout.is_row_major() && (found == bytes || all)) {
      continue;
    }
    findings.Add(
        view.Found(Rule::kSize, -1,
                   absl::StrCat(what, " ", i, " ", ports[i].name, ": found ",
                                found, " bytes; expected the ", bytes,
                                " of a row-major value, or of each of ",
                                micro_batches, " micro-batches")));
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
