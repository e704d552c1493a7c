// A table by op, and one by domain.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/replacements.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/onnx/opsets.h"

namespace partita {
namespace {

constexpr char kUnrolled[] =
    "export with a fixed number of steps, which unrolls it";
constexpr char kOutside[] =
    "remove it from the model and do it outside, before or after the step";
constexpr char kFloat[] = "the model of floats that it was quantised from";
constexpr char kTensors[] = "tensors in place of sequences and optional values";
constexpr char kRandom[] = "random numbers given as an input";

struct Row {
  absl::string_view op_type;
  absl::string_view instead;
};
constexpr Row kByOp[] = {
    {"Bernoulli", kRandom},
    {"Compress", kOutside},
    {"ConcatFromSequence", kTensors},
    {"ConvInteger", kFloat},
    {"DequantizeLinear", kFloat},
    {"DynamicQuantizeLinear", kFloat},
    {"ImageDecoder", kOutside},
    {"Loop", kUnrolled},
    {"MatMulInteger", kFloat},
    {"Multinomial", kRandom},
    {"NonMaxSuppression", kOutside},
    {"NonZero", kOutside},
    {"Optional", kTensors},
    {"OptionalGetElement", kTensors},
    {"OptionalHasElement", kTensors},
    {"QLinearConv", kFloat},
    {"QLinearMatMul", kFloat},
    {"QuantizeLinear", kFloat},
    {"RandomNormal", kRandom},
    {"RandomNormalLike", kRandom},
    {"RandomUniform", kRandom},
    {"RandomUniformLike", kRandom},
    {"RegexFullMatch", kOutside},
    {"Scan", kUnrolled},
    {"SequenceAt", kTensors},
    {"SequenceConstruct", kTensors},
    {"SequenceEmpty", kTensors},
    {"SequenceErase", kTensors},
    {"SequenceInsert", kTensors},
    {"SequenceLength", kTensors},
    {"SequenceMap", kTensors},
    {"SplitToSequence", kTensors},
    {"StringConcat", kOutside},
    {"StringNormalizer", kOutside},
    {"StringSplit", kOutside},
    {"TfIdfVectorizer", kOutside},
    {"Unique", kOutside},
};

}  // namespace

std::string ReplacementOf(absl::string_view domain, absl::string_view op_type) {
  if (absl::StartsWith(domain, "com.microsoft")) {
    return "the model as it was before ONNX Runtime optimised it";
  }
  if (domain == "ai.onnx.ml") return kOutside;
  if (absl::StartsWith(domain, "ai.onnx.preview.training")) {
    return "partita train, which makes the step of training by itself";
  }
  if (!IsStandardDomain(domain)) {
    return absl::StrCat("a model that brings ", domain, ".", op_type,
                        " along as a function");
  }
  for (const Row& row : kByOp) {
    if (row.op_type == op_type) return std::string(row.instead);
  }
  return "";
}

}  // namespace partita
