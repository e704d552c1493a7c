// Reserved addresses, and a map of allocations.
// SPDX-License-Identifier: Apache-2.0

#include "testing/emulated_gpu/driver/address_space.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace partita::emulated_gpu {
namespace {

// Addresses of a GPU beside twice its memory. ThreadSanitizer leaves a process
// little more than a TiB.
constexpr uint64_t kSpareAddresses = uint64_t{1} << 36;
// Between two allocations: what a kernel may be wrong by without reaching the
// next one.
constexpr uint64_t kGap = uint64_t{1} << 24;
// How far behind an allocation a message names it.
constexpr uint64_t kNear = kGap;

// Neither 0 nor a small number, and another one for each byte.
std::byte Junk(uint64_t address) {
  return static_cast<std::byte>((address * 0x9E3779B97F4A7C15) >> 56 | 0x80);
}

}  // namespace

uint64_t HashOfBytes(const std::byte* bytes, uint64_t count) {
  return absl::Hash<absl::string_view>()(
      {reinterpret_cast<const char*>(bytes), count});
}

void ReadBytes(const Allocation& from, uint64_t offset, uint64_t bytes,
               std::byte* to) {
  std::memcpy(to, from.storage + offset, bytes);
  for (uint64_t i = 0; i < bytes;) {
    bool defined = false;
    const uint64_t run = from.shadow.DefinedRun(offset + i, bytes - i, defined);
    for (uint64_t j = i; !defined && j < i + run; ++j) {
      to[j] = Junk(from.address + offset + j);
    }
    i += run;
  }
}

Pages::Pages(uint64_t bytes, Access access) : size_(bytes) {
  const int protection =
      access == Access::kNone ? PROT_NONE : PROT_READ | PROT_WRITE;
  void* found = mmap(nullptr, bytes, protection,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (found != MAP_FAILED) bytes_ = static_cast<std::byte*>(found);
}

Pages::~Pages() {
  if (bytes_ != nullptr) munmap(bytes_, size_);
}

AddressSpace::AddressSpace(int gpus, uint64_t bytes_per_gpu)
    : addresses_of_gpu_(2 * bytes_per_gpu + kSpareAddresses) {
  if (gpus == 0) return;
  const uint64_t size = addresses_of_gpu_ * gpus;
  reserved_ = std::make_unique<Pages>(size, Pages::Access::kNone);
  begin_ = reinterpret_cast<uint64_t>(reserved_->get());
  if (begin_ == 0) return;
  end_ = begin_ + size;
  for (int gpu = 0; gpu < gpus; ++gpu) {
    next_.push_back(begin_ + addresses_of_gpu_ * gpu);
  }
}

uint64_t AddressSpace::FindDeviceAddress(int gpu, uint64_t bytes,
                                         uint64_t alignment) {
  const uint64_t first = begin_ + addresses_of_gpu_ * gpu;
  const uint64_t last = first + addresses_of_gpu_;
  uint64_t address = next_[gpu];
  for (int round = 0; round < 2; ++round) {
    while (true) {
      address =
          (address + 2 * alignment - 1) / (2 * alignment) * (2 * alignment) +
          alignment;
      if (address + bytes + kGap > last) break;
      const auto after = all_.upper_bound(address + bytes + kGap);
      if (after == all_.begin()) break;
      const auto& [start, before] = *std::prev(after);
      if (start + before->bytes + kGap <= address || start >= last) break;
      address = start + before->bytes + kGap;
    }
    if (address + bytes + kGap <= last) {
      next_[gpu] = address + bytes + kGap;
      return address;
    }
    address = first;
  }
  return 0;
}

Allocation* AddressSpace::Add(std::unique_ptr<Allocation> allocation) {
  // What was there before is of no interest any more.
  const uint64_t end = allocation->address + allocation->bytes;
  auto old = gone_.lower_bound(allocation->address);
  if (old != gone_.begin()) {
    const auto before = std::prev(old);
    if (before->first + before->second.bytes > allocation->address) {
      old = before;
    }
  }
  while (old != gone_.end() && old->first < end) old = gone_.erase(old);
  std::unique_ptr<Allocation>& place = all_[allocation->address];
  place = std::move(allocation);
  return place.get();
}

void AddressSpace::Remove(Allocation* allocation) {
  if (last_ == allocation) last_ = nullptr;
  gone_[allocation->address] = {allocation->bytes, allocation->text};
  all_.erase(allocation->address);
}

Allocation* AddressSpace::Find(uint64_t address) {
  if (last_ != nullptr && address - last_->address < last_->bytes) return last_;
  const auto after = all_.upper_bound(address);
  if (after == all_.begin()) return nullptr;
  Allocation* before = std::prev(after)->second.get();
  if (address - before->address >= before->bytes) return nullptr;
  return last_ = before;
}

bool AddressSpace::IsOfDevices(uint64_t address) const {
  return address >= begin_ && address < end_;
}

std::string AddressSpace::Describe(uint64_t address) const {
  const auto after = all_.upper_bound(address);
  if (after != all_.begin()) {
    const auto& [start, block] = *std::prev(after);
    if (address - start < block->bytes) {
      return absl::StrCat("byte ", address - start, " of ", block->text);
    }
    const uint64_t past = address - start - block->bytes;
    const auto gone = gone_.upper_bound(address);
    const bool freed_later =
        gone != gone_.begin() && std::prev(gone)->first > start;
    if (past < kNear && !freed_later) {
      return absl::StrCat(past, " bytes behind the end of ", block->text);
    }
  }
  const auto gone = gone_.upper_bound(address);
  if (gone != gone_.begin()) {
    const auto& [start, block] = *std::prev(gone);
    if (address - start < block.bytes) {
      return absl::StrCat("byte ", address - start, " of ", block.text,
                          ", which was freed");
    }
  }
  return absl::StrCat("address 0x", absl::Hex(address));
}

}  // namespace partita::emulated_gpu
