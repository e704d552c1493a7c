// Compares packed constants with row-major ones, and hashes the others.
// SPDX-License-Identifier: Apache-2.0

#include "binding/constant_numbers.h"

#include "binding/literal_elements.h"
#include "graph/host_tensor.h"

namespace partita {

std::optional<int> ConstantNumbers::Of(const LiteralPool& literals,
                                       LiteralId literal) {
  const Key key = {&literals, literal};
  if (const auto known = known_.find(key); known != known_.end()) {
    return known->second;
  }
  return known_[key] = Number(literals, literal);
}

std::optional<int> ConstantNumbers::Number(const LiteralPool& literals,
                                           LiteralId literal) {
  const TensorType& type = literals.type(literal);
  const bool has_bytes = literals.has_bytes(literal);
  if (has_bytes && !type.layout.is_row_major()) {
    return NumberPacked(literals.tensor(literal));
  }
  const std::string text = type.ToString();
  const auto [number, is_new] = NumberOf(text, literals.hash(literal));
  if (is_new && has_bytes) {
    row_major_[text].push_back({{&literals, literal}, number});
  }
  return number;
}

std::optional<int> ConstantNumbers::NumberPacked(const HostTensor& packed) {
  const std::string type = packed.type().RowMajor().ToString();
  for (const RowMajor& candidate : row_major_[type]) {
    const auto& [literals, literal] = candidate.literal;
    if (HasElements(packed, literals->tensor(literal))) return candidate.number;
  }
  const std::optional<HostTensor> elements = UnpackedElements(packed);
  if (!elements.has_value()) return std::nullopt;
  return NumberOf(type, HashBytes(elements->byte_span())).first;
}

std::pair<int, bool> ConstantNumbers::NumberOf(const std::string& type,
                                               const ContentHash& hash) {
  const auto [found, is_new] = by_content_.try_emplace(
      {type, hash}, static_cast<int>(by_content_.size()));
  return {found->second, is_new};
}

}  // namespace partita
