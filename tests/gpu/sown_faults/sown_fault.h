// Faults that are sown in the CUDA backend: one call of the driver is wrong.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_GPU_SOWN_FAULTS_SOWN_FAULT_H_
#define PARTITA_TESTS_GPU_SOWN_FAULTS_SOWN_FAULT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace partita {

// What is counted: the calls of a run, by kind, from 0 on. One call may count
// for several kinds, as what is wrong with it differs.
enum class CallKind : uint8_t {
  kRecord,  // cuEventRecord
  kWait,    // cuStreamWaitEvent
  kEvent,   // cuEventCreate
  kStream,  // cuStreamCreateWithPriority
  kGraph,   // cuGraphCreate, cuGraphInstantiate
  // Of events, streams, libraries, graphs and execs; the release of a context.
  kDestroy,
  kAlloc,     // cuMemAlloc
  kPinned,    // cuMemHostAlloc
  kFree,      // cuMemFree, cuMemFreeHost
  kContext,   // cuDevicePrimaryCtxRetain
  kSwitch,    // cuCtxSetCurrent
  kPeer,      // cuCtxEnablePeerAccess
  kQuestion,  // cuDeviceCanAccessPeer, cuPointerGetAttribute
  kCode,      // cuLibraryLoadData, cuKernelGetFunction
  kPrepare,   // cuFuncLoad, cuGraphUpload
  kCopy,      // cuMemcpy*Async
  kBytes,     // what such a call, or a node, copies
  kLaunch,    // cuLaunchKernel, cuGraphLaunch
  kExec,      // the graph of cuGraphLaunch
  kGrid,      // blocks and threads of a kernel, launched or as a node
  kArgument,  // each parameter of such a kernel
  kNode,      // cuGraphAdd*Node
  kEdge,      // each node that such a call says the new one follows
  // cuStreamSynchronize, cuEventSynchronize, cuCtxSynchronize, and
  // cuEventQuery: once until the event is reached.
  kHostWait,
};
inline constexpr int kCallKinds = 24;

enum class Wrong : uint8_t {
  // It is not made, and returns success. A node does nothing.
  kDropped,
  // It is made a second time, at once. A second node follows what the first one
  // does, and nothing follows it.
  kTwice,
  // It is made after the thread's next one that is about the order of work, a
  // switch of contexts after the next call in that context.
  kLate,
  // The neighbour's: the event of the record, wait or creation before it, the
  // stream, memory, function or graph that was made before it, the context of
  // the switch before it, the GPU of the context before it, the stream that was
  // used before it, the source of the copy before it, the exec that was
  // launched before it; the parameters of the node of its type before it in the
  // graph, the node that was added before the one that an edge leads from.
  kNeighbours,
  // What it made is given back while a step is at work, and not again.
  kEarly,
  // With the next parameter; the two sides of a copy; the answer to a question;
  // the flags of an event, a stream or page-locked memory.
  kSwapped,
  kMoved,  // by kMovedBytes: an address, the target of a copy
  kShort,  // half as much: bytes, blocks, or threads of a single block
  kLong,   // kMovedBytes more; twice as many threads of a block
};
inline constexpr int kWrongs = 9;

// Within an arena, and what accesses of 16 bytes are aligned to.
inline constexpr uint64_t kMovedBytes = 16;

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

// True if work may be missing, be other work, or in another order within its
// stream: no race shows that, but other bits in every order of the streams.
bool ChangesWork(const SownFault& fault);

}  // namespace partita

#endif  // PARTITA_TESTS_GPU_SOWN_FAULTS_SOWN_FAULT_H_
