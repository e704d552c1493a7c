// Clocks: event times against the host's, their steps, the device's timers.
// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "graph/status_macros.h"
#include "testing/gpu/driver_facts/fact.h"
#include "testing/gpu/driver_facts/gpu.h"

namespace partita {
namespace {

// The host's time of a record on an idle stream: between call and completion.
struct Anchor {
  double host = 0;
  double width = 0;
};

Anchor Record(const Gpu& gpu, CUevent event, CUstream stream) {
  const double before = HostSeconds();
  gpu.api().EventRecord(event, stream);
  gpu.api().EventSynchronize(event);
  const double after = HostSeconds();
  return {(before + after) / 2, after - before};
}

// The best of some anchors: the narrowest is the most precise.
Anchor BestAnchor(const Gpu& gpu, CUevent event, CUstream stream) {
  Anchor best{0, 1};
  for (int i = 0; i < 20 || best.width > 1e-4; ++i) {
    if (i >= 200) break;
    best = Record(gpu, event, stream);
    if (best.width < 1.2e-5) break;
  }
  return best;
}

absl::StatusOr<Reading> Drift(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(OwnedEvent start, gpu.NewEvent(CU_EVENT_DEFAULT));
  PARTITA_ASSIGN_OR_RETURN(OwnedEvent end, gpu.NewEvent(CU_EVENT_DEFAULT));
  Steps steps(api);
  for (int round = 0; round < 3; ++round) {
    const Anchor first = BestAnchor(gpu, start.get(), stream.get());
    usleep(1000000);
    const Anchor second = BestAnchor(gpu, end.get(), stream.get());
    float ms = 0;
    api.EventElapsedTime(&ms, start.get(), end.get());
    const double host = second.host - first.host;
    steps.Figure(absl::StrCat("drift_", round, "_ppm"),
                 (ms * 1e-3 / host - 1) * 1e6);
    steps.Figure(absl::StrCat("anchor_width_", round, "_us"),
                 std::max(first.width, second.width) * 1e6);
  }
  return steps.End();
}

absl::StatusOr<Reading> AnchorError(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(OwnedEvent origin, gpu.NewEvent(CU_EVENT_DEFAULT));
  PARTITA_ASSIGN_OR_RETURN(OwnedEvent event, gpu.NewEvent(CU_EVENT_DEFAULT));
  const Anchor first = BestAnchor(gpu, origin.get(), stream.get());
  std::vector<double> errors;
  std::vector<double> widths;
  for (int i = 0; i < 200; ++i) {
    const Anchor anchor = Record(gpu, event.get(), stream.get());
    float ms = 0;
    api.EventElapsedTime(&ms, origin.get(), event.get());
    errors.push_back((anchor.host - first.host - ms * 1e-3) * 1e6);
    widths.push_back(anchor.width * 1e6);
  }
  std::sort(errors.begin(), errors.end());
  Steps steps(api);
  steps.Figure("median_us", errors[100]);
  steps.Figure("from_us", errors[5]);
  steps.Figure("to_us", errors[194]);
  steps.Figure("width_median_us", Median(widths));
  return steps.End();
}

absl::StatusOr<Reading> EventSteps(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(Gate gate, Gate::New(gpu));
  std::vector<OwnedEvent> events;
  gate.Block(stream.get());
  for (int i = 0; i < 400; ++i) {
    PARTITA_ASSIGN_OR_RETURN(OwnedEvent event, gpu.NewEvent(CU_EVENT_DEFAULT));
    api.EventRecord(event.get(), stream.get());
    events.push_back(std::move(event));
  }
  gate.Open();
  api.StreamSynchronize(stream.get());
  double smallest = 1e9;
  double last = 0;
  std::vector<double> gaps;
  bool ordered = true;
  for (size_t i = 1; i < events.size(); ++i) {
    float ms = 0;
    api.EventElapsedTime(&ms, events[0].get(), events[i].get());
    const double gap = ms * 1e3 - last;
    ordered = ordered && gap >= 0;
    if (gap > 0) smallest = std::min(smallest, gap);
    gaps.push_back(gap);
    last = ms * 1e3;
  }
  Steps steps(api);
  steps.Holds("times in order of records", ordered);
  steps.Figure("smallest_step_us", smallest);
  steps.Figure("record_to_record_us", Median(gaps));
  return steps.End();
}

absl::StatusOr<Reading> GlobalTimer(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  constexpr uint32_t kSamples = 20000;
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory area, gpu.NewMemory(kSamples * 8));
  gpu.Launch(stream.get(), "sample_timer", {}, area.get(), kSamples);
  api.StreamSynchronize(stream.get());
  std::vector<uint64_t> times(kSamples);
  api.MemcpyDtoH(times.data(), area.get(), kSamples * 8);
  uint64_t smallest = ~uint64_t{0};
  int steps_seen = 0;
  for (size_t i = 1; i < times.size(); ++i) {
    const uint64_t step = times[i] - times[i - 1];
    if (step == 0) continue;
    ++steps_seen;
    smallest = std::min(smallest, step);
  }
  Steps steps(api);
  steps.Figure("smallest_step_ns", static_cast<double>(smallest));
  steps.Figure("steps", steps_seen);
  steps.Figure("mean_step_ns", static_cast<double>(times.back() - times[0]) /
                                   std::max(steps_seen, 1));
  return steps.End();
}

absl::StatusOr<Reading> DeviceClocks(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(OwnedEvent start, gpu.NewEvent(CU_EVENT_DEFAULT));
  PARTITA_ASSIGN_OR_RETURN(OwnedEvent end, gpu.NewEvent(CU_EVENT_DEFAULT));
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory area, gpu.NewMemory(32));
  api.EventRecord(start.get(), stream.get());
  gpu.Launch(stream.get(), "sample_clock", {}, area.get(), uint64_t{500000000});
  api.EventRecord(end.get(), stream.get());
  api.StreamSynchronize(stream.get());
  std::vector<uint64_t> seen(4);
  api.MemcpyDtoH(seen.data(), area.get(), 32);
  float ms = 0;
  api.EventElapsedTime(&ms, start.get(), end.get());
  const double timer = static_cast<double>(seen[2] - seen[0]);
  Steps steps(api);
  steps.Figure("clock64_MHz",
               static_cast<double>(seen[3] - seen[1]) / timer * 1e3);
  steps.Figure("attribute_MHz",
               gpu.attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE) / 1e3);
  steps.Figure("globaltimer_against_events_ppm",
               (timer / (ms * 1e6) - 1) * 1e6);
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  steps.Figure("globaltimer_behind_host_realtime_s",
               (now.tv_sec + now.tv_nsec * 1e-9) - seen[2] * 1e-9);
  return steps.End();
}

constexpr Fact kFacts[] = {
    {"clock.drift", "Event times against the host's clock over 1 s",
     "cuda.h:16136: about 0.5 us", "figure", Drift},
    {"clock.anchor_error", "One record against the host's clock, 200 times",
     "none", "figure", AnchorError},
    {"clock.event_steps", "Times of records of a stream are in order",
     "cuda.h:16136", "in order", EventSteps},
    {"clock.globaltimer", "Steps of %globaltimer", "PTX ISA, globaltimer",
     "figure", GlobalTimer},
    {"clock.device_clocks", "%clock64 and %globaltimer", "PTX ISA", "figure",
     DeviceClocks},
};

}  // namespace

FactGroup ClockFacts() { return {"clock", kFacts}; }

}  // namespace partita
