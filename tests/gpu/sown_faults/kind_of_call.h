// The kind of a call of the driver's table, by its member.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_GPU_SOWN_FAULTS_KIND_OF_CALL_H_
#define PARTITA_TESTS_GPU_SOWN_FAULTS_KIND_OF_CALL_H_

#include <optional>
#include <type_traits>

#include "tests/gpu/sown_faults/call_account.h"
#include "tests/gpu/sown_faults/sown_fault.h"
#include "third_party/cuda_loader/driver_api.h"

namespace partita {

// True if both are one member; they may be of different types.
template <auto a, auto b>
constexpr bool kIs = std::is_same_v<Call<a>, Call<b>>;

// The kind that counts the call itself; its operands may count for others.
// None: no fault is sown in such calls.
template <auto member>
constexpr std::optional<CallKind> KindOf() {
  using Api = DriverApi;
  if (kIs<member, &Api::EventRecord>) return CallKind::kRecord;
  if (kIs<member, &Api::StreamWaitEvent>) return CallKind::kWait;
  if (kIs<member, &Api::EventCreate>) return CallKind::kEvent;
  if (kIs<member, &Api::StreamCreateWithPriority>) return CallKind::kStream;
  if (kIs<member, &Api::GraphCreate> || kIs<member, &Api::GraphInstantiate>) {
    return CallKind::kGraph;
  }
  if (kIs<member, &Api::EventDestroy> || kIs<member, &Api::StreamDestroy> ||
      kIs<member, &Api::LibraryUnload> || kIs<member, &Api::GraphDestroy> ||
      kIs<member, &Api::GraphExecDestroy> ||
      kIs<member, &Api::DevicePrimaryCtxRelease>) {
    return CallKind::kDestroy;
  }
  if (kIs<member, &Api::MemAlloc>) return CallKind::kAlloc;
  if (kIs<member, &Api::MemHostAlloc>) return CallKind::kPinned;
  if (kIs<member, &Api::MemFree> || kIs<member, &Api::MemFreeHost>) {
    return CallKind::kFree;
  }
  if (kIs<member, &Api::DevicePrimaryCtxRetain>) return CallKind::kContext;
  if (kIs<member, &Api::CtxSetCurrent>) return CallKind::kSwitch;
  if (kIs<member, &Api::CtxEnablePeerAccess>) return CallKind::kPeer;
  if (kIs<member, &Api::DeviceCanAccessPeer> ||
      kIs<member, &Api::PointerGetAttribute>) {
    return CallKind::kQuestion;
  }
  if (kIs<member, &Api::LibraryLoadData> ||
      kIs<member, &Api::KernelGetFunction>) {
    return CallKind::kCode;
  }
  if (kIs<member, &Api::FuncLoad> || kIs<member, &Api::GraphUpload>) {
    return CallKind::kPrepare;
  }
  if (kIs<member, &Api::MemcpyAsync> || kIs<member, &Api::MemcpyHtoDAsync> ||
      kIs<member, &Api::MemcpyDtoHAsync>) {
    return CallKind::kCopy;
  }
  if (kIs<member, &Api::LaunchKernel> || kIs<member, &Api::GraphLaunch>) {
    return CallKind::kLaunch;
  }
  if (kIs<member, &Api::GraphAddKernelNode> ||
      kIs<member, &Api::GraphAddMemcpyNode> ||
      kIs<member, &Api::GraphAddEventRecordNode>) {
    return CallKind::kNode;
  }
  if (kIs<member, &Api::StreamSynchronize> ||
      kIs<member, &Api::EventSynchronize> ||
      kIs<member, &Api::CtxSynchronize> || kIs<member, &Api::EventQuery>) {
    return CallKind::kHostWait;
  }
  return std::nullopt;
}

// The call that gives back what another one makes; none: no fault is about it.
template <auto member>
struct GivesBack {};
template <>
struct GivesBack<&DriverApi::MemAlloc> {
  static constexpr auto by = &DriverApi::MemFree;
};
template <>
struct GivesBack<&DriverApi::EventCreate> {
  static constexpr auto by = &DriverApi::EventDestroy;
};
template <>
struct GivesBack<&DriverApi::StreamCreateWithPriority> {
  static constexpr auto by = &DriverApi::StreamDestroy;
};
template <>
struct GivesBack<&DriverApi::GraphCreate> {
  static constexpr auto by = &DriverApi::GraphDestroy;
};
template <>
struct GivesBack<&DriverApi::GraphInstantiate> {
  static constexpr auto by = &DriverApi::GraphExecDestroy;
};
template <>
struct GivesBack<&DriverApi::LibraryLoadData> {
  static constexpr auto by = &DriverApi::LibraryUnload;
};
template <auto member>
constexpr bool kIsGivenBack = requires {
  GivesBack<member>::by;
};

}  // namespace partita

#endif  // PARTITA_TESTS_GPU_SOWN_FAULTS_KIND_OF_CALL_H_
