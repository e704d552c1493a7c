// Calls that take an operand of a call before them.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_GPU_SOWN_FAULTS_NEIGHBOURS_H_
#define PARTITA_TESTS_GPU_SOWN_FAULTS_NEIGHBOURS_H_

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "tests/gpu/sown_faults/call_account.h"

namespace partita {

template <typename Handle>
bool Take(uintptr_t other, Handle& handle) {
  if (other == 0) return false;
  if constexpr (std::is_pointer_v<Handle>) {
    handle = reinterpret_cast<Handle>(other);
  } else {
    handle = static_cast<Handle>(other);
  }
  return true;
}
template <typename Handle>
bool Take(const Recent& recent, Handle& handle) {
  return Take(recent.OtherThan(KeyOf(handle)), handle);
}

// Changes one operand (Wrong::kNeighbours). False if there is no other, or the
// call has no such operand.
template <auto member, typename... Args>
bool TakeNeighbour(const CallAccount&, Call<member>, Args&...) {
  return false;
}
inline bool TakeNeighbour(const CallAccount& account,
                          Call<&DriverApi::EventRecord>, CUevent& event,
                          CUstream&) {
  return Take(account.recorded, event);
}
inline bool TakeNeighbour(const CallAccount& account,
                          Call<&DriverApi::StreamWaitEvent>, CUstream&,
                          CUevent& event, unsigned&) {
  return Take(account.waited_for, event);
}
inline bool TakeNeighbour(const CallAccount& account, Call<&DriverApi::MemFree>,
                          CUdeviceptr& block) {
  return Take(account.freed, block);
}
inline bool TakeNeighbour(const CallAccount& account,
                          Call<&DriverApi::MemFreeHost>, void*& block) {
  return Take(account.freed_on_host, block);
}
inline bool TakeNeighbour(const CallAccount& account,
                          Call<&DriverApi::CtxSetCurrent>, CUcontext& context) {
  return Take(account.contexts, context);
}
inline bool TakeNeighbour(const CallAccount& account,
                          Call<&DriverApi::MemcpyAsync>, CUdeviceptr&,
                          CUdeviceptr&, size_t&, CUstream& stream) {
  return Take(account.streams, stream);
}
inline bool TakeNeighbour(const CallAccount& account,
                          Call<&DriverApi::MemcpyHtoDAsync>, CUdeviceptr&,
                          const void*&, size_t&, CUstream& stream) {
  return Take(account.streams, stream);
}
inline bool TakeNeighbour(const CallAccount& account,
                          Call<&DriverApi::MemcpyDtoHAsync>, void*&,
                          CUdeviceptr&, size_t&, CUstream& stream) {
  return Take(account.streams, stream);
}
inline bool TakeNeighbour(const CallAccount& account,
                          Call<&DriverApi::LaunchKernel>, CUfunction&,
                          unsigned&, unsigned&, unsigned&, unsigned&, unsigned&,
                          unsigned&, unsigned&, CUstream& stream, void**&,
                          void**&) {
  return Take(account.streams, stream);
}
inline bool TakeNeighbour(const CallAccount& account,
                          Call<&DriverApi::DevicePrimaryCtxRetain>, CUcontext*&,
                          CUdevice& device) {
  const uintptr_t other = account.devices.OtherThan(KeyOf(device) + 1);
  if (other == 0) return false;
  device = static_cast<CUdevice>(other - 1);
  return true;
}
inline bool TakeNeighbour(const CallAccount& account,
                          Call<&DriverApi::GraphInstantiate>, CUgraphExec*&,
                          CUgraph& graph, unsigned long long&) {
  return Take(account.made_graphs, graph);
}
inline bool TakeNeighbour(const CallAccount& account,
                          Call<&DriverApi::GraphAddEventRecordNode>,
                          CUgraphNode*&, CUgraph&, const CUgraphNode*&, size_t&,
                          CUevent& event) {
  return Take(account.recorded_in_graphs, event);
}
// The nodes have contexts of their own.
inline bool TakeNeighbour(const CallAccount& account,
                          Call<&DriverApi::GraphLaunch>, CUgraphExec&,
                          CUstream& stream) {
  return Take(account.OtherStream(stream), stream);
}

// Gives the program what was made before, instead of something new
// (Wrong::kNeighbours): it will be given back twice. False if there is none, or
// the call makes nothing.
template <auto member, typename... Args>
bool TakeMade(const CallAccount&, Call<member>, Args&...) {
  return false;
}
inline bool TakeMade(const CallAccount& account, Call<&DriverApi::EventCreate>,
                     CUevent*& event, unsigned&) {
  return Take(account.created.OtherThan(0), *event);
}
inline bool TakeMade(const CallAccount& account,
                     Call<&DriverApi::StreamCreateWithPriority>,
                     CUstream*& stream, unsigned&, int&) {
  return Take(account.made_streams.OtherThan(0), *stream);
}
inline bool TakeMade(const CallAccount& account, Call<&DriverApi::GraphCreate>,
                     CUgraph*& graph, unsigned&) {
  return Take(account.made_graphs.OtherThan(0), *graph);
}
inline bool TakeMade(const CallAccount& account, Call<&DriverApi::MemHostAlloc>,
                     void**& block, size_t& bytes, unsigned&) {
  return Take(account.PinnedBlock(bytes), *block);
}

}  // namespace partita

#endif  // PARTITA_TESTS_GPU_SOWN_FAULTS_NEIGHBOURS_H_
