// Reads graphs and the bodies of nodes.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_TEXT_GRAPH_READER_H_
#define PARTITA_GRAPH_TEXT_GRAPH_READER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "graph/graph.h"
#include "graph/text/node_reader.h"
#include "graph/text/token_reader.h"
#include "graph/text/value_scope.h"

namespace partita {

// Reads one function or body. Reports faults to the token reader's diagnostics.
// After a fault it continues with the next line, and reports no faults that
// follow from the faulty line. The graph is then invalid.
class GraphReader {
 public:
  // `text` must outlive this. `depth` counts the bodies around this one.
  explicit GraphReader(const GraphText& text, int depth = 0)
      : text_(text),
        reader_(text.reader),
        depth_(depth),
        values_(text.reader) {}

  // After `graph`: `@f(%x: f32[2]) -> f32[2] {`, body and `}`. Null if its
  // first line cannot be read.
  std::unique_ptr<Graph> ReadFunction();
  // `@body(%x: f32[2]) {`, body and `}`; the name is optional.
  std::unique_ptr<Graph> ReadRegion();

 private:
  bool ReadInputs();
  bool ReadInput();
  bool ReadOutputTypes();
  bool ReadBody();
  bool ReadStatement();
  bool ReadUpdate();
  bool ReadReturn();
  bool CheckOutputs();

  const GraphText& text_;
  TokenReader& reader_;
  const int depth_;
  ValueScope values_;
  std::unique_ptr<Graph> graph_;
  absl::flat_hash_set<std::string> updated_;  // variables
  std::vector<TensorType> output_types_;      // a function's
  bool is_function_ = false;
  bool returned_ = false;
};

}  // namespace partita

#endif  // PARTITA_GRAPH_TEXT_GRAPH_READER_H_
