// Faults that are sown in the CUDA backend: one call of the driver is wrong.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_GPU_SOWN_FAULTS_SOWN_FAULT_H_
#define PARTITA_TESTS_GPU_SOWN_FAULTS_SOWN_FAULT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace partita {

// What is counted: the calls of a run, by kind, from 0 on.
enum class CallKind : uint8_t {
  kRecord,  // cuEventRecord
  kWait,    // cuStreamWaitEvent
  kEvent,   // cuEventCreate
  // Of events, streams, libraries, graphs and execs; the release of a context.
  kDestroy,
  kAlloc,   // cuMemAlloc
  kFree,    // cuMemFree, cuMemFreeHost
  kSwitch,  // cuCtxSetCurrent
  kCopy,    // cuMemcpy*Async
  kLaunch,  // cuLaunchKernel, cuGraphLaunch
  kNode,    // cuGraphAdd*Node
  kEdge,    // each node that such a call says the new one follows
  // cuStreamSynchronize, cuEventSynchronize, cuCtxSynchronize, and
  // cuEventQuery: once until the event is reached.
  kHostWait,
};
inline constexpr int kCallKinds = 12;

enum class Wrong : uint8_t {
  // It is not made, and returns success. A node does nothing.
  kDropped,
  // It is made after the thread's next one that is about the order of work, a
  // switch of contexts after the next call in that context.
  kLate,
  // The neighbour's: the event of the record, wait or creation before it, the
  // memory of the free before it, the context of the switch before it, the
  // stream that was used before it; the parameters of the node of its type
  // before it in the graph, the node that was added before the one that an edge
  // leads from.
  kNeighbours,
  kEarly,  // the memory is freed while a step is at work, and not again
};
inline constexpr int kWrongs = 4;

absl::string_view NameOf(CallKind kind);  // "record"
absl::string_view NameOf(Wrong wrong);    // "dropped"

// What may be wrong with calls of a kind.
std::vector<Wrong> WrongsOf(CallKind kind);

struct SownFault {
  CallKind kind = CallKind::kRecord;
  int64_t index = 0;  // among the calls of the kind
  Wrong wrong = Wrong::kDropped;
};

// "record 3 dropped"
std::string TextOf(const SownFault& fault);

// True if work may be missing, or in another order within its stream: no race
// shows that, but other bits in every order of the streams.
bool ChangesWork(const SownFault& fault);

}  // namespace partita

#endif  // PARTITA_TESTS_GPU_SOWN_FAULTS_SOWN_FAULT_H_
