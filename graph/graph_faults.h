// The faults of a graph or module, as one error.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_GRAPH_FAULTS_H_
#define PARTITA_GRAPH_GRAPH_FAULTS_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "graph/graph.h"

namespace partita {

// Faults, each "<where>: found <found>; expected <expected>; <fix>".
class GraphFaults {
 public:
  void Add(std::string fault) { faults_.push_back(std::move(fault)); }
  void Add(absl::string_view where, absl::string_view found,
           absl::string_view expected, absl::string_view fix);
  size_t size() const { return faults_.size(); }
  // InvalidArgument with the first 20 faults, one a line; OK if there are none.
  absl::Status ToStatus() const;

 private:
  std::vector<std::string> faults_;
};

// Adds every fault of a function. `where` names it: "@f".
void AddFaultsOf(const Graph& function, absl::string_view where,
                 GraphFaults& faults);

}  // namespace partita

#endif  // PARTITA_GRAPH_GRAPH_FAULTS_H_
