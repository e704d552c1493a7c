// Numbers constants by their elements.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_BINDING_CONSTANT_NUMBERS_H_
#define PARTITA_BINDING_CONSTANT_NUMBERS_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "graph/ids.h"
#include "graph/literal_pool.h"

namespace partita {

// Ask about row-major constants before packed ones: a packed constant is
// compared with those of its type, element by element, and only if it equals
// none of them it is unpacked and hashed.
class ConstantNumbers {
 public:
  // Equal for literals with the same dtype, extents and elements, in any
  // layout; different for others, as far as hashes tell (ContentHash). Nothing
  // if the padding is not zero. Reads only literals that are not row-major and
  // those that they are compared with, and hashes those without a known hash;
  // a literal without bytes equals only those of its own layout. The pool must
  // outlive this.
  std::optional<int> Of(const LiteralPool& literals, LiteralId literal);

 private:
  using Key = std::pair<const LiteralPool*, LiteralId>;
  struct RowMajor {
    Key literal;
    int number;
  };

  std::optional<int> Number(const LiteralPool& literals, LiteralId literal);
  std::optional<int> NumberPacked(const HostTensor& packed);
  // Of all constants whose bytes have this type and hash. True: it is new.
  std::pair<int, bool> NumberOf(const std::string& type,
                                const ContentHash& hash);

  absl::flat_hash_map<Key, std::optional<int>> known_;
  absl::flat_hash_map<std::pair<std::string, ContentHash>, int> by_content_;
  absl::flat_hash_map<std::string, std::vector<RowMajor>>
      row_major_;  // by type
};

}  // namespace partita

#endif  // PARTITA_BINDING_CONSTANT_NUMBERS_H_
