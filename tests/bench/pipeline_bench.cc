// Steps per second of a plan with `depth` steps in flight, on virtual devices.
// SPDX-License-Identifier: Apache-2.0

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/host_tensor.h"
#include "graph/status_macros.h"
#include "partita/session.h"

namespace partita {
namespace {

// The caller's bytes of one step in flight.
struct Slot {
  std::vector<HostTensor> inputs, outputs;
  std::vector<const void*> in;
  std::vector<void*> out;
};

Slot NewSlot(const Session& session) {
  Slot slot;
  for (int i = 0; i < session.num_inputs(); ++i) {
    HostTensor& tensor = slot.inputs.emplace_back(session.input_type(i));
    for (int64_t k = 0; k < tensor.type().num_elements(); ++k) {
      SetFromDouble(tensor, k, static_cast<double>(k % 17) / 17);
    }
  }
  for (int i = 0; i < session.num_outputs(); ++i) {
    slot.outputs.emplace_back(session.output_type(i));
  }
  for (HostTensor& tensor : slot.inputs) slot.in.push_back(tensor.bytes());
  for (HostTensor& tensor : slot.outputs) slot.out.push_back(tensor.bytes());
  return slot;
}

// Keeps as many steps in flight as the plan allows.
absl::StatusOr<double> SecondsOf(Session& session, int requests) {
  std::vector<Slot> slots;
  for (int i = 0; i < session.depth(); ++i) slots.push_back(NewSlot(session));
  std::deque<uint64_t> running;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < requests; ++i) {
    if (running.size() == slots.size()) {
      PARTITA_RETURN_IF_ERROR(session.Wait(running.front()));
      running.pop_front();
    }
    Slot& slot = slots[i % slots.size()];
    PARTITA_ASSIGN_OR_RETURN(const uint64_t step,
                             session.Submit(slot.in, slot.out));
    running.push_back(step);
  }
  for (const uint64_t step : running) {
    PARTITA_RETURN_IF_ERROR(session.Wait(step));
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

absl::Status Run(const std::string& plan, int requests) {
  LoadOptions options;
  options.devices = DeviceMode::kVirtual;
  PARTITA_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session,
                           Session::Load(plan, options));
  PARTITA_RETURN_IF_ERROR(SecondsOf(*session, session->depth()).status());
  PARTITA_ASSIGN_OR_RETURN(const double seconds, SecondsOf(*session, requests));
  std::printf("%.6f\n", requests / seconds);
  return absl::OkStatus();
}

}  // namespace
}  // namespace partita

int main(int argc, char** argv) {
  const int requests = argc == 3 ? std::atoi(argv[2]) : 0;
  if (requests < 1) {
    std::fprintf(stderr, "usage: pipeline_bench PLAN REQUESTS\n");
    return 2;
  }
  const absl::Status status = partita::Run(argv[1], requests);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}
