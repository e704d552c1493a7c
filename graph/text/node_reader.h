// Reads one node of a graph.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_TEXT_NODE_READER_H_
#define PARTITA_GRAPH_TEXT_NODE_READER_H_

#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/ops/op_set.h"
#include "graph/text/attribute_reader.h"
#include "graph/text/token_reader.h"
#include "graph/text/value_scope.h"

namespace partita {

// The readers and pools shared by all graphs of one text.
struct GraphText {
  TokenReader& reader;
  const OpSet& ops;
  LiteralReader& literals;
  LiteralPool& pool;
};

// Reads one line: `%a, %b = op %x {attributes} bodies : types on d by k`.
class NodeReader {
 public:
  // All arguments must outlive this. `depth` counts the bodies around the
  // graph.
  NodeReader(const GraphText& text, int depth, ValueScope& values, Graph& graph)
      : text_(text),
        reader_(text.reader),
        depth_(depth),
        values_(values),
        graph_(graph) {}

  // Adds the node to the graph. False if the line could not be read to its end.
  // A line that was read may still have faults. In both cases the results are
  // defined.
  bool Read();

 private:
  struct Result {
    Token token;
    std::string name;
  };

  bool ReadResults();
  bool ReadAfterResults();
  bool ReadOp();
  bool ReadOperands();
  bool ReadAttributesOrLiteral();
  bool ReadRegions();
  bool ReadTypes();
  bool ReadSuffixes();

  bool Add();
  bool CheckResults();
  bool CheckTypes();
  void TakeLiteralsLayout();
  std::string LabelByOperand() const;

  const GraphText& text_;
  TokenReader& reader_;
  const int depth_;
  ValueScope& values_;
  Graph& graph_;

  // The fields read so far.
  std::vector<Result> results_;
  Token op_;
  NodeSpec spec_;
  std::optional<KernelBinding> kernel_;
  std::vector<Token> type_tokens_;
  std::vector<TensorType> types_;
  std::string label_;  // "matmul %y", set at the end
  NodeId node_;        // set when it is added
};

}  // namespace partita

#endif  // PARTITA_GRAPH_TEXT_NODE_READER_H_
