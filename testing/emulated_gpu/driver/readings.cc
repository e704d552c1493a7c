// The table of doubts.
// SPDX-License-Identifier: Apache-2.0

#include "testing/emulated_gpu/driver/readings.h"

namespace partita::emulated_gpu {
namespace {

constexpr Doubt kDoubts[] = {
    {"peer_copy_captures", &Readings::peer_copy_captures},
    {"device_copy_captures", &Readings::device_copy_captures},
    {"loading_waits", &Readings::loading_waits},
    {"launches_wait", &Readings::launches_wait},
    {"queues_are_short", &Readings::queues_are_short},
    {"pageable_copies_wait", &Readings::pageable_copies_wait},
    {"pageable_fetches_wait", &Readings::pageable_fetches_wait},
    {"writes_arrive_early", &Readings::writes_arrive_early},
    {"frees_wait", &Readings::frees_wait},
};

void Flip(bool& reading) { reading = !reading; }

}  // namespace

absl::Span<const Doubt> Doubts() { return kDoubts; }

std::vector<NamedReadings> AllReadings() {
  std::vector<NamedReadings> all = {{"default", {}}};
  NamedReadings others = {"others", {}};
  for (const Doubt& doubt : kDoubts) {
    NamedReadings other = {doubt.name, {}};
    Flip(other.readings.*doubt.reading);
    Flip(others.readings.*doubt.reading);
    all.push_back(other);
  }
  all.push_back(others);
  return all;
}

}  // namespace partita::emulated_gpu
