// Value numbering, operators, and fusion of products with sums.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/program_builder.h"

#include <bit>
#include <utility>

namespace partita {
namespace {

Register Binary(Opcode op, Register a, Register b) {
  return a.builder->Write({.op = op, .type = a.type, .a = a.id, .b = b.id});
}

Register Comparison(Opcode op, Register a, Register b) {
  return a.builder->Write(
      {.op = op, .type = ScalarType::kBool, .a = a.id, .b = b.id});
}

// How often each instruction is read by those that the results need, and as a
// result.
std::vector<int> CountReaders(const std::vector<Instruction>& all,
                              const std::vector<Register>& results) {
  std::vector<int> readers(all.size(), 0);
  for (const Register& result : results) ++readers[result.id];
  for (size_t id = all.size(); id-- > 0;) {
    if (readers[id] == 0) continue;
    for (int32_t from : {all[id].a, all[id].b, all[id].c}) {
      if (from >= 0) ++readers[from];
    }
  }
  return readers;
}

// a * b + c for a sum with a side that is a product without another reader;
// otherwise the sum itself.
Instruction Joined(const Instruction& sum, const std::vector<Instruction>& all,
                   const std::vector<int>& readers) {
  const auto product = [&](int32_t id) {
    return all[id].op == Opcode::kMul && readers[id] == 1;
  };
  if (!IsFloatType(sum.type)) return sum;
  Instruction fma = {.op = Opcode::kFma, .type = sum.type};
  if (sum.op == Opcode::kAdd && (product(sum.a) || product(sum.b))) {
    const bool left = product(sum.a);
    const Instruction& mul = all[left ? sum.a : sum.b];
    fma.a = mul.a;
    fma.b = mul.b;
    fma.c = left ? sum.b : sum.a;
    return fma;
  }
  return sum;
}

}  // namespace

Register ProgramBuilder::Constant(ScalarType type, double value) {
  uint64_t bits = 0;
  switch (type) {
    case ScalarType::kF32:
      bits = std::bit_cast<uint32_t>(static_cast<float>(value));
      break;
    case ScalarType::kF64:
      bits = std::bit_cast<uint64_t>(value);
      break;
    default:
      return Integer(type, static_cast<int64_t>(value));
  }
  return Write({.op = Opcode::kConstant, .type = type, .bits = bits});
}

Register ProgramBuilder::Integer(ScalarType type, int64_t value) {
  uint64_t bits = static_cast<uint64_t>(value);
  if (type == ScalarType::kI32 || type == ScalarType::kU32) {
    bits = static_cast<uint32_t>(value);
  }
  if (type == ScalarType::kBool) bits = value != 0;
  return Write({.op = Opcode::kConstant, .type = type, .bits = bits});
}

Register ProgramBuilder::Load(ScalarType type, int operand) {
  return Write({.op = Opcode::kLoad,
                .type = type,
                .bits = static_cast<uint64_t>(operand)});
}

Register ProgramBuilder::Write(Instruction i) {
  const Key key = {i.op, i.type, i.a, i.b, i.c, i.bits};
  const auto [it, is_new] =
      known_.try_emplace(key, static_cast<int32_t>(written_.size()));
  if (is_new) written_.push_back(i);
  return {this, it->second, i.type};
}

void ProgramBuilder::Finish(const std::vector<Register>& results,
                            ProgramBody& body) const {
  std::vector<Instruction> all = written_;
  const std::vector<int> readers = CountReaders(all, results);
  if (has_fma_) {
    for (Instruction& i : all) i = Joined(i, all, readers);
  }
  // Fused products have no reader any more.
  const std::vector<int> needed = CountReaders(all, results);
  std::vector<Instruction>& out = body.instructions;
  out.clear();
  std::vector<int32_t> place(all.size(), -1);
  for (size_t id = 0; id < all.size(); ++id) {
    if (needed[id] == 0) continue;
    Instruction i = all[id];
    for (int32_t* from : {&i.a, &i.b, &i.c}) {
      if (*from >= 0) *from = place[*from];
    }
    if (i.op == Opcode::kFma && !has_fma_) {
      out.push_back({.op = Opcode::kMul, .type = i.type, .a = i.a, .b = i.b});
      const int32_t product = static_cast<int32_t>(out.size()) - 1;
      i = {.op = Opcode::kAdd, .type = i.type, .a = product, .b = i.c};
    }
    place[id] = static_cast<int32_t>(out.size());
    out.push_back(i);
  }
  body.results.clear();
  for (const Register& result : results) {
    body.results.push_back(place[result.id]);
  }
}

Register Like(Register a, double value) {
  return a.builder->Constant(a.type, value);
}

Register operator+(Register a, Register b) {
  return Binary(Opcode::kAdd, a, b);
}
Register operator-(Register a, Register b) {
  return Binary(Opcode::kSub, a, b);
}
Register operator*(Register a, Register b) {
  return Binary(Opcode::kMul, a, b);
}
Register operator/(Register a, Register b) {
  return Binary(Opcode::kDiv, a, b);
}
Register operator-(Register a) { return Unary(Opcode::kNeg, a); }
Register operator+(Register a, double b) { return a + Like(a, b); }
Register operator-(Register a, double b) { return a - Like(a, b); }
Register operator*(Register a, double b) { return a * Like(a, b); }
Register operator-(double a, Register b) { return Like(b, a) - b; }
Register operator/(double a, Register b) { return Like(b, a) / b; }
Register operator<(Register a, Register b) {
  return Comparison(Opcode::kLess, a, b);
}
Register operator<=(Register a, Register b) {
  return Comparison(Opcode::kLessEqual, a, b);
}
Register operator<(Register a, double b) { return a < Like(a, b); }
Register operator&(Register a, Register b) {
  return Binary(Opcode::kAnd, a, b);
}
Register operator|(Register a, Register b) { return Binary(Opcode::kOr, a, b); }
Register operator^(Register a, Register b) {
  return Binary(Opcode::kXor, a, b);
}
Register Equal(Register a, Register b) {
  return Comparison(Opcode::kEqual, a, b);
}
Register NotEqual(Register a, Register b) {
  return Comparison(Opcode::kNotEqual, a, b);
}
Register Fma(Register a, Register b, Register c) {
  return a.builder->Write(
      {.op = Opcode::kFma, .type = a.type, .a = a.id, .b = b.id, .c = c.id});
}
Register Fma(Register a, double b, Register c) { return Fma(a, Like(a, b), c); }
Register Fma(Register a, Register b, double c) { return Fma(a, b, Like(a, c)); }
Register Unary(Opcode op, Register a) {
  return a.builder->Write({.op = op, .type = a.type, .a = a.id});
}
Register Select(Register condition, Register a, Register b) {
  return a.builder->Write({.op = Opcode::kSelect,
                           .type = a.type,
                           .a = condition.id,
                           .b = a.id,
                           .c = b.id});
}
Register Shift(Opcode op, Register a, int bits) {
  return a.builder->Write({.op = op,
                           .type = a.type,
                           .a = a.id,
                           .bits = static_cast<uint64_t>(bits)});
}
Register Shift(Opcode op, Register a, Register bits) {
  return Binary(op, a, bits);
}
Register Quotient(Register a, Register b) {
  return Binary(Opcode::kQuotient, a, b);
}
Register Remainder(Register a, Register b) {
  return Binary(Opcode::kRemainder, a, b);
}
Register Bitcast(Register a, ScalarType type) {
  return a.builder->Write({.op = Opcode::kBitcast, .type = type, .a = a.id});
}
Register Cast(Register a, ScalarType type) {
  if (a.type == type) return a;
  return a.builder->Write({.op = Opcode::kCast, .type = type, .a = a.id});
}
Register IsNan(Register a) { return NotEqual(a, a); }

}  // namespace partita
