// Which participants of a collective order which: those whose bytes reach them.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_REACH_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_REACH_H_

#include <vector>

#include "graph/op_view.h"
#include "runtime/plan/checker/entry_view.h"

namespace partita {

// A participant that takes waits for those that give it at least one byte, and
// for nobody else: a shard without bytes holds nobody back.
class Reach {
 public:
  // Of a collective node. Needs: a kind, and shardings that fit.
  Reach(const OpView& node, const Collective& collective);

  // What one participant takes comes from sources [begin, end), each of which
  // hears of some of the participants that give. Empty: it takes no byte.
  struct Sources {
    int begin = 0;
    int end = 0;
  };
  int num_sources() const { return num_sources_; }
  const Sources& OfTaker(int participant) const { return takes_[participant]; }
  // The source that a participant gives to; -1: it gives no byte.
  int SourceOf(int participant) const { return gives_[participant]; }

 private:
  void FindCommon(const OpView& node, const Collective& collective);
  void FindPermuted(const OpView& node, const Collective& collective);
  void FindOverlaps(const OpView& node, const Collective& collective);

  int num_sources_ = 1;
  std::vector<Sources> takes_;  // by participant
  std::vector<int> gives_;      // by participant
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_REACH_H_
