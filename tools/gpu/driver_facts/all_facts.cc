// The groups in the order in which they run: rules first, then rates.
// SPDX-License-Identifier: Apache-2.0

#include <array>

#include "tools/gpu/driver_facts/fact.h"

namespace partita {

absl::Span<const FactGroup> AllFactGroups() {
  static const auto* groups = new std::array{
      DeviceFacts(),  EventFacts(),       StreamFacts(),    GraphFacts(),
      CaptureFacts(), CaptureCopyFacts(), NumberFacts(),    ErrorFacts(),
      MemoryFacts(),  CodeFacts(),        LaunchFacts(),    CallbackFacts(),
      ThreadFacts(),  GraphCostFacts(),   FootprintFacts(), TransferFacts(),
      ClockFacts()};
  return *groups;
}

}  // namespace partita
