// Schedules, and what they find.
// SPDX-License-Identifier: Apache-2.0

#include "testing/emulated_gpu/driver/program_run.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace partita::emulated_gpu {

using driver_rules::Bench;

EmulatedGpuOptions ScheduleOptions(uint64_t seed) {
  constexpr Order kOrders[] = {
      Order::kRandom,          Order::kOldestStreamFirst,
      Order::kLateWaits,       Order::kYoungestStreamFirst,
      Order::kStarveOneStream, Order::kAtOnce,
  };
  return {.gpus = 2,
          .bytes_per_gpu = int64_t{64} << 20,
          .peers = AllPeers(2),
          .seed = seed,
          .order = kOrders[seed % 6]};
}

std::vector<std::string> TextsOf(const std::vector<Finding>& findings) {
  std::vector<std::string> texts;
  for (const Finding& finding : findings) texts.push_back(TextOf(finding));
  return texts;
}

std::vector<std::string> FindingsOf(const Program& program,
                                    const EmulatedGpuOptions& options) {
  auto cuda = EmulatedCuda::New(options);
  if (!cuda.ok()) return {std::string(cuda.status().message())};
  std::string faults;
  {
    Bench bench((*cuda)->api());
    program(bench);
    faults = bench.faults();
  }
  std::vector<std::string> texts = TextsOf((*cuda)->findings());
  if (!faults.empty()) texts.push_back(absl::StrCat("fault: ", faults));
  return texts;
}

std::string MissingInSchedules(const std::string& text,
                               const Program& program) {
  for (uint64_t seed = 0; seed < kSchedules; ++seed) {
    const std::vector<std::string> texts =
        FindingsOf(program, ScheduleOptions(seed));
    bool all = !texts.empty();
    for (const std::string& found : texts) {
      all = all && absl::StrContains(found, text);
    }
    if (!all) {
      return absl::StrCat("seed ", seed, ": found ", texts.size(),
                          " findings; expected ", text, "\n",
                          absl::StrJoin(texts, "\n"));
    }
  }
  return "";
}

SecondGpu::SecondGpu(Bench& owner) : bench(owner) {
  const DriverApi& api = bench.api;
  bench.Is("retain", api.DevicePrimaryCtxRetain(&context, 1));
  bench.Is("current", api.CtxSetCurrent(context));
  bench.Is("stream", api.StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  bench.Is("event", api.EventCreate(&event, CU_EVENT_DISABLE_TIMING));
  bench.Is("alloc", api.MemAlloc(&memory, 64));
  bench.Is("peer", api.CtxEnablePeerAccess(bench.context, 0));
  bench.Is("current", api.CtxSetCurrent(bench.context));
  bench.Is("peer", api.CtxEnablePeerAccess(context, 0));
}

SecondGpu::~SecondGpu() {
  const DriverApi& api = bench.api;
  api.CtxSetCurrent(context);
  api.CtxSynchronize();
  if (memory != 0) api.MemFree(memory);
  api.EventDestroy(event);
  api.StreamDestroy(stream);
  api.CtxSetCurrent(bench.context);
  api.DevicePrimaryCtxRelease(1);
}

}  // namespace partita::emulated_gpu
