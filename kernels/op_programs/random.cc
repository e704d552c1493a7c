// Philox4x32-10 (graph/ops/philox.h) in 64-bit integers: each holds a word of
// 32 bits, so that the upper half of a product is a shift.
// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cstdint>
#include <vector>

#include "graph/status_macros.h"
#include "kernels/op_programs/index_ops.h"

namespace partita {
namespace {

Register Word(Register x) {
  return x & x.builder->Integer(ScalarType::kI64, 0xffffffff);
}
Register UpperWord(Register x) {
  return Word(Shift(Opcode::kShiftRight, x, 32));
}
Register Times(Register word, int64_t factor) {
  return word * word.builder->Integer(ScalarType::kI64, factor);
}
Register Plus(Register word, int64_t term) {
  return Word(word + word.builder->Integer(ScalarType::kI64, term));
}

using Counter = std::array<Register, 4>;

Counter Philox(Counter counter, std::array<Register, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const Register a = Times(counter[0], 0xD2511F53);
    const Register b = Times(counter[2], 0xCD9E8D57);
    counter = {UpperWord(b) ^ counter[1] ^ key[0], Word(b),
               UpperWord(a) ^ counter[3] ^ key[1], Word(a)};
    key = {Plus(key[0], 0x9E3779B9), Plus(key[1], 0xBB67AE85)};
  }
  return counter;
}

// Word number `i` of a counter.
Register WordAt(const Counter& words, Register i) {
  Register word = words[3];
  for (int k = 2; k >= 0; --k) {
    word = Select(Equal(i, Like(i, k)), words[k], word);
  }
  return word;
}

// The index in the whole tensor; the result is a shard of it.
Register IndexInWhole(const OpView& op, const std::vector<Register>& point,
                      const IndexReader& read) {
  const std::vector<int64_t>& whole = op.attr_ints("whole");
  const std::vector<int64_t>& origin = op.attr_ints("origin");
  const Shape strides =
      RowMajorStrides(whole.empty() ? op.attr_ints("shape") : whole);
  Register index = read.Bits(ScalarType::kI64, 0);
  for (size_t d = 0; d < point.size(); ++d) {
    Register at = Cast(point[d], ScalarType::kI64);
    if (!origin.empty()) at = at + static_cast<double>(origin[d]);
    index = index + Times(at, strides[d]);
  }
  return index;
}

}  // namespace

absl::Status BuildRandomUniform(IndexNode& node) {
  const OpView& op = node.op();
  PARTITA_RETURN_IF_ERROR(node.SetOperands({OperandUse::kBits}));
  for (int i = 0; i < 2; ++i) {
    if (BitsOf(op.operand_type(i).dtype) == 64) continue;
    return node.NotGenerated("a seed or step of less than 64 bits");
  }
  const Shape& dims = op.result_type(0).dims;
  node.SetPoints(dims);
  node.Last([&](const IndexReader& read) -> std::vector<Register> {
    const Register seed = read.Element(0, read.Index(0));
    const Register step = read.Element(1, read.Index(0));
    const Register index = IndexInWhole(op, node.Point(read), read);
    const Register block = Quotient(index, 4);
    const Register id =
        read.Bits(ScalarType::kI64, static_cast<uint64_t>(op.attr_int("id")));
    const Counter words =
        Philox({Word(block), UpperWord(block), Word(step), id},
               {Word(seed), UpperWord(seed)});
    const Register word = WordAt(words, Remainder(index, 4));
    // 24 bits are exact in f32.
    return {Cast(Shift(Opcode::kShiftRight, word, 8), ScalarType::kF32) *
            0x1p-24};
  });
  return absl::OkStatus();
}

}  // namespace partita
