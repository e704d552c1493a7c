// The memory of all emulated GPUs, and the host's page-locked memory.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_EMULATED_GPU_DRIVER_ADDRESS_SPACE_H_
#define PARTITA_TESTING_EMULATED_GPU_DRIVER_ADDRESS_SPACE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "testing/emulated_gpu/driver/shadow.h"
#include "testing/emulated_gpu/driver/timeline.h"

namespace partita::emulated_gpu {

struct Context;

// Bytes from the system, 0 where nobody wrote: those that nobody accesses take
// no memory.
class Pages {
 public:
  enum class Access { kNone, kReadAndWrite };
  Pages() = default;
  Pages(uint64_t bytes, Access access);
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages();
  // Null if the system has none left.
  std::byte* get() const { return bytes_; }

 private:
  std::byte* bytes_ = nullptr;
  uint64_t size_ = 0;
};

enum class MemoryKind {
  kDevice,
  kPinned,      // cuMemHostAlloc
  kRegistered,  // cuMemHostRegister
};

struct Allocation {
  Allocation(MemoryKind memory_kind, Context* owner, uint64_t at, uint64_t size,
             std::string description, const Timeline& timeline)
      : kind(memory_kind),
        context(owner),
        address(at),
        bytes(size),
        text(std::move(description)),
        shadow(size, timeline) {}

  MemoryKind kind;
  Context* context;
  uint64_t address;
  uint64_t bytes;
  std::string text;              // "the 3rd block of gpu 0"
  std::byte* storage = nullptr;  // of the host: `address` itself
  std::unique_ptr<Pages> pages;  // what `storage` is in, if it is not foreign
  Shadow shadow;
  uint64_t writes = 0;  // by commands, if it is the host's

  bool is_host() const { return kind != MemoryKind::kDevice; }
};

uint64_t HashOfBytes(const std::byte* bytes, uint64_t count);

// Copies bytes of device memory out; those that are undefined come as junk.
void ReadBytes(const Allocation& from, uint64_t offset, uint64_t bytes,
               std::byte* to);

// Device memory has addresses that are reserved and not mapped: the host
// that reads it ends with SIGSEGV. An address is taken again as late as can be.
class AddressSpace {
 public:
  // `bytes_per_gpu`: at most kMostBytesPerGpu (options.h).
  AddressSpace(int gpus, uint64_t bytes_per_gpu);
  // False if the system has not that many addresses: nothing can be added.
  bool is_reserved() const { return reserved_ == nullptr || begin_ != 0; }

  // The next address that is free, a multiple of `alignment` and not of twice
  // as much; 0 if none is.
  uint64_t FindDeviceAddress(int gpu, uint64_t bytes, uint64_t alignment);
  Allocation* Add(std::unique_ptr<Allocation> allocation);
  // Ends it. Its address is remembered for messages.
  void Remove(Allocation* allocation);

  // The allocation that the address is in; null if there is none.
  Allocation* Find(uint64_t address);
  // Whether the address is one of device memory, taken or not.
  bool IsOfDevices(uint64_t address) const;
  // "64 bytes behind the 3rd block of gpu 0", "in the 3rd block of gpu 0, which
  // was freed", "0x10".
  std::string Describe(uint64_t address) const;
  // The live allocations, by address.
  const std::map<uint64_t, std::unique_ptr<Allocation>>& all() const {
    return all_;
  }

 private:
  struct Gone {
    uint64_t bytes;
    std::string text;
  };
  std::map<uint64_t, std::unique_ptr<Allocation>> all_;
  std::map<uint64_t, Gone> gone_;
  const uint64_t addresses_of_gpu_;
  std::unique_ptr<Pages> reserved_;
  uint64_t begin_ = 0;
  uint64_t end_ = 0;
  std::vector<uint64_t> next_;  // of each GPU
  Allocation* last_ = nullptr;  // that was found
};

}  // namespace partita::emulated_gpu

#endif  // PARTITA_TESTING_EMULATED_GPU_DRIVER_ADDRESS_SPACE_H_
