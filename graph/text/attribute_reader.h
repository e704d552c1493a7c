// Reads attributes and constants.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_TEXT_ATTRIBUTE_READER_H_
#define PARTITA_GRAPH_TEXT_ATTRIBUTE_READER_H_

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "graph/literal_pool.h"
#include "graph/op_def.h"
#include "graph/text/token_reader.h"

namespace partita {

// Adds constants to a pool. A constant written in full becomes a new literal. A
// constant given by its hash is the pool's literal of that type and hash or,
// without one, a literal with only type and hash.
class LiteralReader {
 public:
  explicit LiteralReader(LiteralPool* pool);

  // `f32[2] [1, 2]`, `f32[] 1`, `f32[64] #0123...`.
  std::optional<LiteralId> Read(TokenReader& reader);

 private:
  std::optional<LiteralId> ReadHash(TokenReader& reader, TensorType type);
  std::optional<LiteralId> ReadElements(TokenReader& reader, TensorType type);

  LiteralPool* pool_;
  absl::flat_hash_map<std::pair<ContentHash, std::string>, LiteralId> known_;
};

// `{axis = 1, perm = [1, 0]}`, for an op with these attributes.
bool ReadAttributes(TokenReader& reader, const OpDef& op,
                    LiteralReader& literals, Attributes& attributes);

}  // namespace partita

#endif  // PARTITA_GRAPH_TEXT_ATTRIBUTE_READER_H_
