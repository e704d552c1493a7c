// The groups in the order in which they run: rules first, then rates.
// SPDX-License-Identifier: Apache-2.0

#include <array>

#include "testing/gpu/driver_facts/fact.h"

namespace partita {

absl::Span<const FactGroup> AllFactGroups() {
  static const auto* groups =
      new std::array{DeviceFacts(),       EventFacts(),        StreamFacts(),
                     GraphFacts(),        GraphContextFacts(), CaptureFacts(),
                     CaptureEventFacts(), CaptureCopyFacts(),  NumberFacts(),
                     NaNFacts(),          ErrorFacts(),        MemoryFacts(),
                     HostMemoryFacts(),   CodeFacts(),         LaunchFacts(),
                     QueueFacts(),        CallbackFacts(),     ThreadFacts(),
                     MisuseFacts(),       GraphMisuseFacts(),  GraphCostFacts(),
                     GraphShapeFacts(),   FootprintFacts(),    TransferFacts(),
                     ClockFacts()};
  return *groups;
}

}  // namespace partita
