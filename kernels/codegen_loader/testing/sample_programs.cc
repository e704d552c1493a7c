// Programs from opcodes, ops, random bodies and strides.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen_loader/testing/sample_programs.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <memory>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "graph/graph.h"
#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "graph/ops/testing/op_samples.h"
#include "kernels/codegen/float_functions.h"
#include "kernels/codegen/gpu_kernel.h"
#include "kernels/codegen/interpret.h"
#include "kernels/codegen/narrow_types.h"
#include "kernels/codegen/read_program.h"
#include "kernels/codegen_loader/testing/generated_kernels.h"

namespace partita {
namespace {

using S = ScalarType;
using Registers = absl::Span<const Register>;
using Formula = std::function<std::vector<Register>(Registers)>;

// GPUs compute what processors with fma compute.
constexpr char kIsa[] = "avx2";

// Those that programs compute with, and those that they cast.
constexpr S kTypes[] = {S::kF32, S::kF64, S::kI32, S::kI64,
                        S::kU32, S::kU64, S::kBool};
constexpr S kNarrowTypes[] = {S::kBF16, S::kF16, S::kU8,
                              S::kI8,   S::kI16, S::kU16};

const char* NameOf(S type) {
  constexpr const char* kNames[] = {"f32",  "f64",  "i32", "i64", "u64",
                                    "bool", "bf16", "f16", "u8",  "i8",
                                    "i16",  "u16",  "u32"};
  return kNames[static_cast<int>(type)];
}

template <typename T>
std::vector<uint64_t> FloatSpecials() {
  using Limits = std::numeric_limits<T>;
  std::vector<uint64_t> all;
  for (T value : {Limits::quiet_NaN(),
                  -Limits::quiet_NaN(),
                  T{0},
                  -T{0},
                  Limits::infinity(),
                  -Limits::infinity(),
                  Limits::denorm_min(),
                  -Limits::denorm_min(),
                  Limits::min(),
                  Limits::min() / 3,
                  Limits::max(),
                  Limits::lowest(),
                  T{1},
                  T{-1},
                  T{0.5},
                  T{2.5},
                  T{-1.5},
                  T{88.5},
                  T{-103.5},
                  T{2147483648.0},
                  T{-2147483648.0},
                  T{9223372036854775808.0},
                  T{16777217.0},
                  T{65520.0}}) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    all.push_back(bits);
  }
  // A signalling NaN with a payload in its low bits only.
  all.push_back(sizeof(T) == 4 ? 0x7f800001u : 0x7ff0000000000001u);
  return all;
}

std::vector<uint64_t> Specials(S type) {
  switch (type) {
    case S::kF32:
      return FloatSpecials<float>();
    case S::kF64:
      return FloatSpecials<double>();
    case S::kI32:
    case S::kU32:
      return {0,           1,           2,           7,        0xffffffffu,
              0x7fffffffu, 0x80000000u, 0x80000001u, 16777217, 0xff00ff00u};
    case S::kI64:
    case S::kU64:
      return {0,
              1,
              5,
              ~uint64_t{0},
              0x7fffffffffffffffu,
              0x8000000000000000u,
              0x8000000000000001u,
              0x80000000u,
              0xffffffff7fffffffu,
              9007199254740993u};
    case S::kBF16:
      return {0x7fc0, 0xffc1, 0x7f81, 0,      0x8000, 0x7f80, 0xff80,
              1,      0x8001, 0x0080, 0x7f7f, 0x3f80, 0xbf80, 0x4049};
    case S::kF16:
      return {0x7e00, 0xfe01, 0x7c01, 0,      0x8000, 0x7c00, 0xfc00, 1,
              0x8001, 0x0400, 0x03ff, 0x7bff, 0x3c00, 0xbc00, 0x4248};
    case S::kI8:
    case S::kU8:
      return {0, 1, 2, 5, 7, 8, 0x7f, 0x80, 0x81, 0xff};
    case S::kI16:
    case S::kU16:
      return {0, 1, 2, 7, 16, 0xff, 0x7fff, 0x8000, 0x8001, 0xffff};
    case S::kBool:
      break;
  }
  return {0, 1};
}

// An ordinary value.
uint64_t Ordinary(S type, std::mt19937_64& random) {
  const double value = static_cast<double>(random() % 8001) / 1000 - 4;
  switch (type) {
    case S::kF32:
      return std::bit_cast<uint32_t>(static_cast<float>(value));
    case S::kF64:
      return std::bit_cast<uint64_t>(value);
    case S::kI32:
    case S::kU32:
      return static_cast<uint32_t>(static_cast<int32_t>(value * 100));
    case S::kI64:
    case S::kU64:
      return static_cast<uint64_t>(static_cast<int64_t>(value * 100));
    case S::kBF16:
      return std::bit_cast<uint32_t>(static_cast<float>(value)) >> 16;
    case S::kF16:
      return Half(value).bits;
    case S::kI8:
    case S::kU8:
    case S::kI16:
    case S::kU16:
      return static_cast<uint64_t>(static_cast<int64_t>(value * 30));
    case S::kBool:
      break;
  }
  return random() % 2;
}

uint64_t RandomBits(S type, std::mt19937_64& random) {
  return type == S::kBool ? random() % 2 : random();
}

// The elements of operand `number` among `operands`: first every tuple of
// special values (of two operands every pair), then mixed ones.
std::vector<std::byte> Elements(S type, int number, int64_t count) {
  std::mt19937_64 random(static_cast<uint64_t>(number) * 977 + 5);
  const std::vector<uint64_t> special = Specials(type);
  const int64_t n = static_cast<int64_t>(special.size());
  const size_t bytes = static_cast<size_t>(BytesOf(type));
  std::vector<std::byte> elements(static_cast<size_t>(count) * bytes);
  for (int64_t i = 0; i < count; ++i) {
    uint64_t bits = 0;
    if (i < n * n) {
      // The first changes fastest, the second slower, the third in between.
      bits = special[number == 0   ? i % n
                     : number == 1 ? i / n
                                   : (i * 7 + i / n) % n];
    } else if (random() % 3 == 0) {
      bits = RandomBits(type, random);
    } else if (random() % 4 == 0) {
      bits = special[random() % special.size()];
    } else {
      bits = Ordinary(type, random);
    }
    std::memcpy(&elements[static_cast<size_t>(i) * bytes], &bits, bytes);
  }
  return elements;
}

SampleProgram MakeSample(std::string what, ElementwiseProgram program) {
  SampleProgram sample{.what = std::move(what), .program = std::move(program)};
  sample.operands = SampleOperands(sample.program);
  return sample;
}

// One line of `count` elements of each type.
SampleProgram Line(std::string what, int64_t count, std::vector<S> types,
                   const Formula& formula) {
  std::vector<ProgramOperand> operands;
  for (S type : types) operands.push_back({type, {1}});
  return MakeSample(std::move(what), ProgramOf({count}, operands, formula));
}

// Not a multiple of a group: pairs of specials, and some.
constexpr int64_t kCount = 25 * 25 + 406;

struct OpcodeSample {
  const char* name;
  int operands;
  Register (*apply)(Registers);
};

const OpcodeSample kForNumbers[] = {
    {"add", 2, [](Registers x) { return x[0] + x[1]; }},
    {"sub", 2, [](Registers x) { return x[0] - x[1]; }},
    {"mul", 2, [](Registers x) { return x[0] * x[1]; }},
    {"neg", 1, [](Registers x) { return -x[0]; }},
    {"abs", 1, [](Registers x) { return Unary(Opcode::kAbs, x[0]); }},
    {"less", 2, [](Registers x) { return x[0] < x[1]; }},
    {"less_equal", 2, [](Registers x) { return x[0] <= x[1]; }},
};
const OpcodeSample kForFloats[] = {
    {"div", 2, [](Registers x) { return x[0] / x[1]; }},
    {"fma", 3, [](Registers x) { return Fma(x[0], x[1], x[2]); }},
    {"product_plus", 3, [](Registers x) { return x[0] * x[1] + x[2]; }},
    {"reciprocal", 1, [](Registers x) { return 1.0 / x[0]; }},
    {"sqrt", 1, [](Registers x) { return Unary(Opcode::kSqrt, x[0]); }},
    {"floor", 1, [](Registers x) { return Unary(Opcode::kFloor, x[0]); }},
    {"ceil", 1, [](Registers x) { return Unary(Opcode::kCeil, x[0]); }},
    {"rint", 1, [](Registers x) { return Unary(Opcode::kRint, x[0]); }},
};
const OpcodeSample kForBits[] = {
    {"and", 2, [](Registers x) { return x[0] & x[1]; }},
    {"or", 2, [](Registers x) { return x[0] | x[1]; }},
    {"xor", 2, [](Registers x) { return x[0] ^ x[1]; }},
};
const OpcodeSample kForIntegers[] = {
    {"shift_left", 1,
     [](Registers x) { return Shift(Opcode::kShiftLeft, x[0], 5); }},
    {"shift_right", 1,
     [](Registers x) { return Shift(Opcode::kShiftRight, x[0], 3); }},
    {"most_shifted", 1,
     [](Registers x) { return Shift(Opcode::kShiftRight, x[0], 31); }},
};
const OpcodeSample kForAll[] = {
    {"copy", 1, [](Registers x) { return x[0]; }},
};
const OpcodeSample kForComparable[] = {
    {"equal", 2, [](Registers x) { return Equal(x[0], x[1]); }},
    {"not_equal", 2, [](Registers x) { return NotEqual(x[0], x[1]); }},
};

void AddOpcodes(absl::Span<const OpcodeSample> opcodes, S type,
                std::vector<SampleProgram>& samples) {
  for (const OpcodeSample& opcode : opcodes) {
    samples.push_back(Line(absl::StrCat(opcode.name, " of ", NameOf(type)),
                           kCount, std::vector<S>(opcode.operands, type),
                           [&](Registers x) -> std::vector<Register> {
                             return {opcode.apply(x)};
                           }));
  }
}

void AddCast(S from, S to, std::vector<SampleProgram>& samples) {
  samples.push_back(Line(
      absl::StrCat("cast of ", NameOf(from), " to ", NameOf(to)), kCount,
      {from},
      [&](Registers x) -> std::vector<Register> { return {Cast(x[0], to)}; }));
}

void AddCasts(std::vector<SampleProgram>& samples) {
  for (S from : kTypes) {
    for (S to : kTypes) AddCast(from, to, samples);
  }
  AddCast(S::kF32, S::kF16, samples);
  AddCast(S::kF16, S::kF32, samples);
  // 16-bit floats are integers until they are upcast.
  for (S narrow : kNarrowTypes) {
    AddCast(narrow, S::kI32, samples);
    AddCast(S::kI32, narrow, samples);
  }
  samples.push_back(Line("bits of f32", kCount, {S::kF32},
                         [](Registers x) -> std::vector<Register> {
                           return {Bitcast(x[0], S::kI32)};
                         }));
  samples.push_back(Line("f32 of bits", kCount, {S::kI32},
                         [](Registers x) -> std::vector<Register> {
                           return {Bitcast(x[0], S::kF32)};
                         }));
}

// The node as a program; nothing if no code is generated for it.
void AddNode(std::string what, const OpView& node,
             std::vector<SampleProgram>& samples) {
  const absl::StatusOr<ElementwiseProgram> program = ReadProgram(node, kIsa);
  if (program.ok()) samples.push_back(MakeSample(std::move(what), *program));
}

void AddOp(const OpDef& op, DType dtype, Attributes attributes,
           std::vector<SampleProgram>& samples) {
  LiteralPool pool;
  Graph graph("op", &pool);
  NodeSpec spec{.op = &op, .operands = {}, .attributes = std::move(attributes)};
  for (int i = 0; i < MinOperands(op); ++i) {
    const bool is_condition = op.name == kWhere.name && i == 0;
    spec.operands.push_back(graph.AddInput(
        "", {is_condition ? DType::kBool : dtype, {kCount}, {}}));
  }
  const absl::StatusOr<NodeId> node = graph.AddNode(std::move(spec));
  if (!node.ok()) return;
  AddNode(absl::StrCat("the op ", op.name, " of ", DTypeName(dtype)),
          graph.view(*node), samples);
}

constexpr DType kDTypes[] = {
    DType::kF32,  DType::kF64, DType::kI32, DType::kI64, DType::kBool,
    DType::kBF16, DType::kF16, DType::kI8,  DType::kU8,  DType::kI16,
    DType::kU16,  DType::kU32, DType::kU64};

// A random op of earlier values, or of inputs.
ValueId RandomOp(Body& body, const std::vector<ValueId>& values,
                 std::mt19937_64& random) {
  const OpDef* const kUnary[] = {&kTanh, &kRelu, &kSigmoid, &kGelu,
                                 &kNeg,  &kAbs,  &kFloor,   &kSqrt,
                                 &kErf,  &kExp,  &kLog,     &kSoftplus};
  const OpDef* const kBinary[] = {&kAdd, &kSub, &kMul, &kDiv, &kMax, &kMin};
  const auto draw = [&] { return values[random() % values.size()]; };
  if (random() % 5 == 0) {
    const ValueId less = body.Add(kLess, {draw(), draw()});
    return body.Add(kWhere, {less, draw(), draw()});
  }
  if (random() % 3 == 0) {
    return body.Add(*kUnary[random() % std::size(kUnary)], {draw()});
  }
  return body.Add(*kBinary[random() % std::size(kBinary)], {draw(), draw()});
}

}  // namespace

std::vector<std::byte> OrdinaryElements(S type, uint64_t seed, int64_t count) {
  // Far between: a NaN makes all of a row's sum one.
  constexpr int kOneSpecialIn = 700;
  std::mt19937_64 random(seed * 977 + 5);
  const std::vector<uint64_t> special = Specials(type);
  const size_t bytes = static_cast<size_t>(BytesOf(type));
  std::vector<std::byte> elements(static_cast<size_t>(count) * bytes);
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t bits = random() % kOneSpecialIn == 0
                              ? special[random() % special.size()]
                              : Ordinary(type, random);
    std::memcpy(&elements[static_cast<size_t>(i) * bytes], &bits, bytes);
  }
  return elements;
}

std::vector<std::vector<std::byte>> SampleOperands(
    const ElementwiseProgram& program) {
  std::vector<std::vector<std::byte>> operands;
  for (const ProgramSignature::Buffer& operand :
       SignatureOf(program).operands) {
    operands.push_back(Elements(operand.type, static_cast<int>(operands.size()),
                                operand.elements));
  }
  return operands;
}

ElementwiseProgram ProgramOf(std::vector<int64_t> loops,
                             std::vector<ProgramOperand> operands,
                             const Formula& formula) {
  ElementwiseProgram program{.loops = std::move(loops),
                             .operands = std::move(operands)};
  ProgramBuilder builder(/*has_fma=*/true);
  std::vector<Register> loaded;
  for (size_t i = 0; i < program.operands.size(); ++i) {
    loaded.push_back(
        builder.Load(program.operands[i].type, static_cast<int>(i)));
  }
  builder.Finish(formula(loaded), program);
  return program;
}

ElementwiseProgram BiasGeluResidual(int64_t rows, int64_t columns) {
  return ProgramOf(
      {rows, columns},
      {{S::kF32, {columns, 1}}, {S::kF32, {0, 1}}, {S::kF32, {columns, 1}}},
      [](Registers x) -> std::vector<Register> {
        return {GeluByErf(x[0] + x[1]) + x[2]};
      });
}

std::vector<SampleProgram> SamplesOfOpcodes() {
  std::vector<SampleProgram> samples;
  for (S type : kNarrowTypes) AddOpcodes(kForAll, type, samples);
  for (S type : kTypes) {
    const bool is_integer = !IsFloatType(type) && type != S::kBool;
    AddOpcodes(kForAll, type, samples);
    AddOpcodes(kForComparable, type, samples);
    if (type != S::kBool) AddOpcodes(kForNumbers, type, samples);
    if (IsFloatType(type)) AddOpcodes(kForFloats, type, samples);
    if (!IsFloatType(type)) AddOpcodes(kForBits, type, samples);
    if (is_integer) AddOpcodes(kForIntegers, type, samples);
  }
  const auto add_select = [&](S type) {
    samples.push_back(Line(absl::StrCat("select of ", NameOf(type)), kCount,
                           {S::kBool, type, type},
                           [](Registers x) -> std::vector<Register> {
                             return {Select(x[0], x[1], x[2])};
                           }));
  };
  for (S type : kTypes) add_select(type);
  for (S type : kNarrowTypes) add_select(type);
  AddCasts(samples);
  return samples;
}

std::vector<SampleProgram> SamplesOfOps() {
  std::vector<SampleProgram> samples;
  for (int i = 0; i < kOpTableSize; ++i) {
    const OpDef& op = *kOpTable[i];
    if (!op.traits.elementwise) continue;
    for (DType dtype : kDTypes) AddOp(op, dtype, {}, samples);
  }
  for (DType from : kDTypes) {
    for (DType to : kDTypes) AddOp(kCast, from, {{"to", to}}, samples);
  }
  for (const OpSample& sample : OpSamples()) {
    LiteralPool pool;
    Graph graph("sample", &pool);
    const absl::StatusOr<NodeId> node = AddSample(sample, graph);
    if (node.ok()) AddNode(ToString(sample), graph.view(*node), samples);
  }
  return samples;
}

std::vector<SampleProgram> SamplesOfChains(int count) {
  std::vector<SampleProgram> samples;
  std::mt19937_64 random(11);
  for (int i = 0; i < count; ++i) {
    const DType dtype = i % 4 == 3   ? DType::kBF16
                        : i % 4 == 2 ? DType::kF16
                                     : DType::kF32;
    Body body(
        {{dtype, {4, 7, 12}, {}}, {dtype, {7, 1}, {}}, {dtype, {12}, {}}});
    // Of all extents.
    std::vector<ValueId> values = {body.Add(
        kAdd, {body.input(0), body.Add(kMul, {body.input(1), body.input(2)})})};
    const size_t ops = 2 + random() % 7;
    while (values.size() < ops) {
      values.push_back(RandomOp(body, values, random));
    }
    OneNode node = body.Fuse({values.back(), values.front()});
    AddNode(absl::StrCat("chain ", i), node.node(), samples);
  }
  return samples;
}

std::vector<SampleProgram> SamplesOfStrides() {
  struct Case {
    std::vector<int64_t> loops;
    std::vector<std::vector<int64_t>> strides;
  };
  const std::vector<Case> cases = {
      {{}, {{}, {}}},                        // one element
      {{0}, {{1}, {1}}},                     // none
      {{37}, {{1}, {0}}},                    // a scalar
      {{37}, {{3}, {2}}},                    // strides
      {{9, 16}, {{16, 1}, {0, 1}}},          // a row
      {{9, 16}, {{16, 1}, {1, 0}}},          // a column
      {{9, 16}, {{16, 1}, {1, 9}}},          // transposed
      {{9, 16}, {{17, 1}, {16, 1}}},         // lines of 17
      {{9, 6}, {{6, 1}, {0, 1}}},            // groups of two
      {{9, 7}, {{7, 1}, {0, 1}}},            // no groups
      {{3, 5, 8}, {{40, 8, 1}, {8, 0, 1}}},  // rows of planes
      {{3, 5, 8}, {{40, 8, 1}, {0, 1, 0}}},  // channels
      {{2, 3, 4, 5}, {{60, 20, 5, 1}, {0, 5, 0, 1}}},
      {{2, 3, 4, 8}, {{96, 32, 8, 1}, {1, 2, 6, 24}}},
  };
  std::vector<SampleProgram> samples;
  for (const Case& one : cases) {
    for (S type : {S::kF32, S::kI64, S::kBool, S::kF16}) {
      samples.push_back(MakeSample(
          absl::StrCat(NameOf(type), " [", absl::StrJoin(one.loops, ", "),
                       "] beside strides ",
                       absl::StrJoin(one.strides[1], ", ")),
          ProgramOf(one.loops, {{type, one.strides[0]}, {type, one.strides[1]}},
                    [](Registers x) -> std::vector<Register> {
                      return {
                          Select(Equal(Loaded(x[0]), Loaded(x[1])), x[0], x[1]),
                          x[1]};
                    })));
    }
  }
  return samples;
}

std::vector<SampleProgram> SamplesOfSizes(int most) {
  std::vector<SampleProgram> samples;
  for (int size = 1; size <= most; ++size) {
    for (S type : {S::kF32, S::kF64, S::kBool, S::kBF16}) {
      samples.push_back(Line(
          absl::StrCat(size, " of ", NameOf(type)), size, {type, S::kBool},
          [](Registers x) -> std::vector<Register> {
            return {Select(x[1], x[0], x[0].builder->Integer(x[0].type, 1))};
          }));
    }
  }
  return samples;
}

std::vector<SampleProgram> SamplePrograms() {
  std::vector<SampleProgram> all;
  for (std::vector<SampleProgram> samples :
       {SamplesOfOpcodes(), SamplesOfOps(), SamplesOfChains(60),
        SamplesOfStrides(), SamplesOfSizes(67)}) {
    for (SampleProgram& sample : samples) {
      sample.program.name = absl::StrCat("sample_", all.size());
      all.push_back(std::move(sample));
    }
  }
  SampleProgram gelu = MakeSample("bias, gelu and residual",
                                  BiasGeluResidual(/*rows=*/9, /*columns=*/64));
  gelu.program.name = "bias_gelu_residual";
  all.push_back(std::move(gelu));
  return all;
}

std::vector<std::vector<std::byte>> InterpretedResults(
    const SampleProgram& sample) {
  const ElementwiseProgram& program = sample.program;
  const int64_t count = NumElements(program);
  std::vector<void*> operands;
  for (const auto& operand : sample.operands) {
    operands.push_back(const_cast<std::byte*>(operand.data()));
  }
  std::vector<std::vector<std::byte>> results;
  std::vector<void*> to;
  for (int32_t result : program.results) {
    results.emplace_back(static_cast<size_t>(
        count * BytesOf(program.instructions[result].type)));
  }
  for (auto& result : results) to.push_back(result.data());
  std::vector<uint64_t> registers;
  Interpret(program, operands.data(), to.data(), 0, count, registers);
  return results;
}

absl::Status CheckResults(const SampleProgram& sample,
                          const std::vector<std::vector<std::byte>>& expected,
                          const std::vector<std::vector<std::byte>>& found) {
  return CheckResults(SignatureOf(sample.program), sample.what, expected,
                      found);
}

}  // namespace partita
