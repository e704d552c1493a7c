// Graphs with kernels, each with one fault.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_BINDING_BOUND_MUTANTS_H_
#define PARTITA_TESTS_BINDING_BOUND_MUTANTS_H_

#include <vector>

#include "graph/graph.h"

namespace partita {

// The places of a graph where one mutation is possible: counts them, and says
// which one to change.
class MutationSites {
 public:
  // Changes site number `chosen`; -1: none.
  explicit MutationSites(int chosen) : chosen_(chosen) {}
  // True at the chosen site. Call it once at each site.
  bool Here() { return count_++ == chosen_; }
  int count() const { return count_; }

 private:
  const int chosen_;
  int count_ = 0;
};

// A way to change what a graph computes.
struct BoundMutation {
  const char* name;
  void (*apply)(Graph& graph, MutationSites& sites);
};

std::vector<BoundMutation> BoundMutations();

}  // namespace partita

#endif  // PARTITA_TESTS_BINDING_BOUND_MUTANTS_H_
