// Reads graphs and the bodies of nodes.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_TEXT_GRAPH_READER_H_
#define PARTITA_GRAPH_TEXT_GRAPH_READER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "graph/graph.h"
#include "graph/op_set.h"
#include "graph/text/attribute_reader.h"
#include "graph/text/token_reader.h"

namespace partita {

// Reads one function or body. Faults are reported to the token reader's
// diagnostics; after one, reading goes on with the next line, and what depends
// on the faulty line is not reported again. The graph is then of no use.
class GraphReader {
 public:
  // Everything must outlive this. `depth` counts the bodies around this one.
  GraphReader(TokenReader& reader, const OpSet& ops, LiteralReader& literals,
              LiteralPool& pool, int depth = 0)
      : reader_(reader),
        ops_(ops),
        literals_(literals),
        pool_(pool),
        depth_(depth) {}

  // Behind `graph`: `@f(%x: f32[2]) -> f32[2] {`, body and `}`. Null if its
  // first line cannot be read.
  std::unique_ptr<Graph> ReadFunction();

 private:
  struct Result {
    Token token;
    std::string name;
  };

  // `@body(%x: f32[2]) {`, body and `}`; the name may be left out.
  std::unique_ptr<Graph> ReadRegion();
  bool ReadInputs();
  bool ReadInput();
  bool ReadBody();
  bool ReadStatement();
  bool ReadUpdate();
  bool ReadReturn();
  bool CheckOutputs();

  bool ReadNode();
  bool ReadNodeAfterResults(const std::vector<Result>& results);
  bool ReadOperands(NodeSpec& spec);
  bool ReadAttributesOf(NodeSpec& spec);
  bool ReadRegions(NodeSpec& spec);
  bool ReadTypes(std::vector<Token>& where, std::vector<TensorType>& types);
  bool ReadSuffixes(NodeSpec& spec, std::optional<KernelBinding>& kernel);
  bool AddNode(const Token& op, NodeSpec spec, const std::vector<Result>& names,
               std::optional<KernelBinding> kernel,
               const std::vector<Token>& where,
               const std::vector<TensorType>& types);
  bool CheckTypes(NodeId node, absl::string_view label,
                  const std::vector<Token>& where,
                  const std::vector<TensorType>& types);

  const OpDef* FindOp(const Token& name);
  bool Define(const Token& token, ValueId id);
  // False if nothing of this name was defined. A value whose definition was
  // faulty is found, and invalid.
  bool ReadValue(ValueId& id);

  TokenReader& reader_;
  const OpSet& ops_;
  LiteralReader& literals_;
  LiteralPool& pool_;
  const int depth_;
  std::unique_ptr<Graph> graph_;
  absl::flat_hash_map<std::string, ValueId> values_;  // by name as written
  std::vector<std::string> names_;                    // in order, with sigils
  std::vector<TensorType> output_types_;              // a function's
  bool is_function_ = false;
  bool returned_ = false;
};

}  // namespace partita

#endif  // PARTITA_GRAPH_TEXT_GRAPH_READER_H_
