// The order inside a collective: a participant is ordered after those whose
// bytes reach it.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_REACH_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_REACH_H_

#include <vector>

#include "graph/op_view.h"
#include "runtime/plan/checker/entry_view.h"

namespace partita {

// A participant that takes bytes waits for those that give it at least one
// byte, and for no others: an empty shard makes nobody wait.
class Reach {
 public:
  // For a collective node. Needs: a kind, and shardings that fit.
  Reach(const OpView& node, const Collective& collective);

  // What a participant takes comes from sources [begin, end); a source stands
  // for one or more participants that give. Empty: it takes no byte.
  struct Sources {
    int begin = 0;
    int end = 0;
  };
  int num_sources() const { return num_sources_; }
  const Sources& OfTaker(int participant) const { return takes_[participant]; }
  // The source of a participant that gives; -1: it gives no byte.
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
