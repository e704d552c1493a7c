// Which command happens before which.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_EMULATED_GPU_DRIVER_TIMELINE_H_
#define PARTITA_TESTING_EMULATED_GPU_DRIVER_TIMELINE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/node_hash_set.h"
#include "absl/strings/string_view.h"

namespace partita::emulated_gpu {

// A stream, or a lane of a graph: its commands follow each other.
using ChainId = uint32_t;
// Of a command, from 1 on; 0 is none.
using CommandId = uint32_t;

// How many commands of each chain are over for sure.
class VectorClock {
 public:
  void Join(const VectorClock& other);
  void Set(ChainId chain, uint32_t count);
  uint32_t at(ChainId chain) const {
    return chain < counts_.size() ? counts_[chain] : 0;
  }

 private:
  std::vector<uint32_t> counts_;
};

// All commands that were ever issued: place in the order, and description.
class Timeline {
 public:
  // `name` says where its commands run: "stream 2 of gpu 0".
  ChainId AddChain(absl::string_view name);
  // The next command of a chain; enters itself in `clock`.
  CommandId Add(ChainId chain, absl::string_view what, VectorClock& clock);

  // Whether a command is over when one with this clock starts.
  bool HappensBefore(CommandId command, const VectorClock& clock) const {
    const Record& record = records_[command - 1];
    return clock.at(record.chain) >= record.count;
  }
  // "kernel add (7th command of stream 2 of gpu 0)"
  std::string Describe(CommandId command) const;
  size_t chains() const { return chains_.size(); }

 private:
  struct Chain {
    std::string name;
    uint32_t count = 0;
  };
  struct Record {
    ChainId chain;
    uint32_t count;
    const std::string* what;  // in names_
  };
  std::vector<Chain> chains_;
  std::vector<Record> records_;
  absl::node_hash_set<std::string> names_;
};

}  // namespace partita::emulated_gpu

#endif  // PARTITA_TESTING_EMULATED_GPU_DRIVER_TIMELINE_H_
