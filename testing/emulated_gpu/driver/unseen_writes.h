// Writes of device work to the host's memory that the host does not know to be
// over.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_EMULATED_GPU_DRIVER_UNSEEN_WRITES_H_
#define PARTITA_TESTING_EMULATED_GPU_DRIVER_UNSEEN_WRITES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "absl/functional/function_ref.h"
#include "testing/emulated_gpu/driver/timeline.h"

namespace partita::emulated_gpu {

struct Device;

// The rule: bytes that device work writes to the host's memory may arrive at
// any time between the issue of the work and the host's learning that it is
// over, in any order. The host "must synchronize memory accesses using streams
// or events" (CUDA C++ programming guide, mapped memory; for copies, CUDA
// driver API, API synchronization behavior). In between the host has poison
// where it would find the bytes, so that whoever reads them too early computes
// with wrong ones. Device work sees them at once, in its own order.
//
// Addresses are the host's and of any kind: page-locked, registered, pageable.
class UnseenWrites {
 public:
  // A command that writes, and what is over when it starts.
  struct Writer {
    CommandId command = 0;
    const VectorClock* clock = nullptr;
    const Device* device = nullptr;
  };
  // The host changed bytes before it knew that the last command that writes
  // them is over.
  struct Changed {
    CommandId writer = 0;
    uint64_t address = 0;
  };

  // The seed chooses the poison. `timeline` must outlive this.
  UnseenWrites(const Timeline& timeline, uint64_t seed);

  // The host has poison from now on; device work still sees the old bytes.
  void Begin(uint64_t address, uint64_t bytes, const Writer& by);
  // Begins, and device work sees the new bytes.
  void Write(uint64_t address, uint64_t bytes, const std::byte* from,
             const Writer& by);
  // The host's memory as device work sees it.
  void Read(uint64_t address, uint64_t bytes, std::byte* to) const;

  // The host gets the bytes whose writers are all over, once and for all. Where
  // it changed some of them, it keeps what it has.
  std::vector<Changed> Show(absl::FunctionRef<bool(CommandId)> is_over);
  // The memory is given back: it is not written any more.
  void Forget(uint64_t address, uint64_t bytes);
  // The device's work will never be over: its bytes stay poison.
  void Abandon(const Device* device);

 private:
  struct Open {
    CommandId command;
    const Device* device;
  };
  // Neighbours with the same writers.
  struct Run {
    std::vector<std::byte> bytes;  // as device work sees them
    // None happens before another. The one that came last is at the end.
    std::vector<Open> writers;

    bool IsWrittenBy(CommandId command) const;
  };
  using Runs = std::map<uint64_t, Run>;  // by address

  // The run that has the address, or else the next one.
  Runs::iterator FirstFrom(uint64_t address);
  // No run has bytes on both sides of the address.
  void SplitAt(uint64_t address);
  // Poison from `address` on up to the run `next`, or to `end`.
  Runs::iterator AddRun(uint64_t address, uint64_t end, Runs::iterator next,
                        const Writer& by);
  void AddWriter(Run& run, const Writer& by) const;
  bool IsPoison(const std::byte* host, uint64_t bytes) const;

  const Timeline& timeline_;
  const std::byte poison_;
  Runs runs_;
};

}  // namespace partita::emulated_gpu

#endif  // PARTITA_TESTING_EMULATED_GPU_DRIVER_UNSEEN_WRITES_H_
