// Checks of each access.
// SPDX-License-Identifier: Apache-2.0

#include "testing/emulated_gpu/driver/kernel_memory.h"

#include <cstring>

#include "absl/strings/str_cat.h"

namespace partita::emulated_gpu {
namespace {

std::string PlaceOf(const ptx::Access& access) {
  return absl::StrCat(" (line ", access.line, ", block ", access.block,
                      ", thread ", access.thread, ")");
}

}  // namespace

Accessor KernelMemory::AccessorOf(const ptx::Access& access) const {
  return {
      command_.id, &command_.clock,
      static_cast<uint32_t>(access.block * threads_of_block_ + access.thread)};
}

// cuda.h:2833: an address that is not mapped ends the context. Peers' memory is
// mapped by cuCtxEnablePeerAccess (cuda.h:23855), the host's if
// it is page-locked (cuda.h:8871).
Allocation* KernelMemory::Find(const ptx::Access& access, const char* what) {
  Allocation* found = memory_.Find(access.address);
  const uint64_t bytes = static_cast<uint64_t>(access.bytes);
  if (found != nullptr &&
      access.address - found->address + bytes <= found->bytes) {
    const Context* context = command_.context;
    if (found->is_host() || found->context == context ||
        context->peers.contains(found->context)) {
      return found;
    }
    report_.Add(
        FindingKind::kForeignMemory,
        absl::StrCat(what, memory_.Describe(access.address), PlaceOf(access),
                     ", which ", context->name, " has no access to"));
  } else {
    const bool of_devices = memory_.IsOfDevices(access.address);
    report_.Add(
        of_devices ? FindingKind::kBounds : FindingKind::kForeignMemory,
        absl::StrCat(what, memory_.Describe(access.address), PlaceOf(access)));
  }
  strayed_ = true;
  return nullptr;
}

absl::Status KernelMemory::Read(const ptx::Access& access, std::byte* to) {
  Allocation* from = Find(access, " reads ");
  if (from == nullptr) return absl::OutOfRangeError("a stray read");
  const uint64_t offset = access.address - from->address;
  const uint64_t bytes = static_cast<uint64_t>(access.bytes);
  from->shadow.Read(offset, bytes, AccessorOf(access), conflicts_);
  if (!conflicts_.empty()) {
    report_.Races(false, *from, PlaceOf(access), conflicts_);
  }
  if (from->is_host()) {
    unseen_.Read(access.address, bytes, to);
  } else if (!from->shadow.IsDefined(offset, bytes)) {
    report_.Undefined(offset, *from, PlaceOf(access));
    ReadBytes(*from, offset, bytes, to);
  } else {
    std::memcpy(to, from->storage + offset, bytes);
  }
  return absl::OkStatus();
}

absl::Status KernelMemory::Write(const ptx::Access& access,
                                 const std::byte* from) {
  Allocation* to = Find(access, " writes ");
  if (to == nullptr) return absl::OutOfRangeError("a stray write");
  const uint64_t offset = access.address - to->address;
  const uint64_t bytes = static_cast<uint64_t>(access.bytes);
  to->shadow.Write(offset, bytes, AccessorOf(access), conflicts_);
  if (!conflicts_.empty()) {
    report_.Races(true, *to, PlaceOf(access), conflicts_);
  }
  if (to->is_host()) {
    ++to->writes;
    unseen_.Write(access.address, bytes, from,
                  {command_.id, &command_.clock, command_.context->device});
    return absl::OkStatus();
  }
  to->shadow.SetDefined(offset, bytes, true);
  std::memcpy(to->storage + offset, from, bytes);
  return absl::OkStatus();
}

}  // namespace partita::emulated_gpu
