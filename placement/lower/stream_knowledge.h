// What all streams know to have ended as the launch order goes on.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_STREAM_KNOWLEDGE_H_
#define PARTITA_PLACEMENT_LOWER_STREAM_KNOWLEDGE_H_

#include <map>
#include <vector>

#include "placement/lower/device_clocks.h"
#include "placement/lower/lifetimes.h"

namespace partita {

// What a stream knows only grows, so an item of which all streams know
// conflicts with none that is first touched now or later.
class StreamKnowledge {
 public:
  // Of the streams that touch these lives. `clocks` must outlive it.
  StreamKnowledge(const std::vector<Life>& lives, const DeviceClocks& clocks);

  // The launch order has come to `task`.
  void Advance(int task);
  bool AllKnow(const Life& life) const;

 private:
  const DeviceClocks& clocks_;
  std::map<int, int> latest_;  // by stream, its last task so far
  int next_task_ = 0;
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_STREAM_KNOWLEDGE_H_
