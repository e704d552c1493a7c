// The streams of a draft.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_STREAM_TABLE_H_
#define PARTITA_PLACEMENT_LOWER_STREAM_TABLE_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>

#include "graph/id_vector.h"
#include "placement/lower/ids.h"
#include "placement/machine/machine.h"
#include "runtime/plan/plan.h"

namespace partita {

// A stream of a device: kernels, copies to device `target`, collectives, feeds
// or fetches. On some devices the stream of kernels has some of the others too.
struct StreamKey {
  enum class Role : uint8_t { kCompute, kCopy, kCollective, kFeed, kFetch };
  MachineDeviceId device;
  Role role = Role::kCompute;
  MachineDeviceId target;  // kCopy
  friend auto operator<=>(const StreamKey&, const StreamKey&) = default;
};

// Streams in the order in which they were added, found by their keys.
class StreamTable {
 public:
  // The stream of the key; adds it if it is new.
  StreamId Of(const StreamKey& key);

  const StreamKey& operator[](StreamId stream) const { return keys_[stream]; }
  size_t size() const { return keys_.size(); }
  auto begin() const { return keys_.begin(); }
  auto end() const { return keys_.end(); }

 private:
  IdVector<StreamId, StreamKey> keys_;
  std::map<StreamKey, StreamId> ids_;
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_STREAM_TABLE_H_
