// Shards every op along every factor of its dimension rule: the shards must
// make up the whole.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "graph/evaluate.h"
#include "graph/ops/testing/op_samples.h"
#include "gtest/gtest.h"

namespace partita {
namespace {

// The extents around one dimension: [outer, extent, inner bytes].
struct Rows {
  Rows(const TensorType& type, int dim) : extent(type.dims[dim]) {
    for (int d = 0; d < dim; ++d) outer *= type.dims[d];
    bytes = BitsOf(type.dtype) / 8;
    for (int d = dim + 1; d < type.rank(); ++d) bytes *= type.dims[d];
  }
  int64_t outer = 1;
  int64_t extent;
  int64_t bytes;
};

// Rows [begin, end) of dimension `dim`.
HostTensor TakeRows(const HostTensor& x, int dim, int64_t begin, int64_t end) {
  TensorType type = x.type();
  type.dims[dim] = end - begin;
  HostTensor shard(type);
  const Rows rows(x.type(), dim);
  const int64_t size = (end - begin) * rows.bytes;
  for (int64_t o = 0; o < rows.outer; ++o) {
    std::memcpy(shard.bytes() + o * size,
                x.bytes() + (o * rows.extent + begin) * rows.bytes, size);
  }
  return shard;
}

void PutRows(const HostTensor& shard, int dim, int64_t begin, HostTensor& y) {
  const Rows rows(y.type(), dim);
  const int64_t size = shard.type().dims[dim] * rows.bytes;
  for (int64_t o = 0; o < rows.outer; ++o) {
    std::memcpy(y.bytes() + (o * rows.extent + begin) * rows.bytes,
                shard.bytes() + o * size, size);
  }
}

double ReducePartials(Reduction reduction, double a, double b) {
  switch (reduction) {
    case Reduction::kSum:
      return a + b;
    case Reduction::kMax:
      return std::max(a, b);
    case Reduction::kMin:
      return std::min(a, b);
    case Reduction::kAnd:
      return a != 0 && b != 0;
    case Reduction::kOr:
      return a != 0 || b != 0;
  }
  return a;
}

// The allowed difference of two orders of evaluation, relative to 1 + |value|.
double Allowed(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return 1e-12;
    case DType::kF32:
      return 2e-6;
    case DType::kF16:
      return 1e-2;
    case DType::kBF16:
      return 6e-2;
    default:
      return 0;
  }
}

void ExpectEqual(const HostTensor& found, const HostTensor& expected,
                 bool exact) {
  ASSERT_EQ(found.type(), expected.type());
  const size_t bytes = expected.type().num_bytes();
  if (exact) {
    EXPECT_EQ(std::memcmp(found.bytes(), expected.bytes(), bytes), 0);
    return;
  }
  for (int64_t i = 0; i < expected.type().num_elements(); ++i) {
    const double a = GetAsDouble(found, i);
    const double b = GetAsDouble(expected, i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    EXPECT_LE(std::fabs(a - b),
              Allowed(expected.type().dtype) * (1 + std::fabs(b)))
        << "element " << i << ": " << a << " and " << b;
  }
}

// One sample, evaluated whole.
struct Whole {
  explicit Whole(const OpSample& sample) : graph("whole", &literals) {
    const auto id = AddSample(sample, graph);
    EXPECT_TRUE(id.ok()) << id.status();
    node = *id;
    for (const SampleOperand& operand : sample.operands) {
      operands.push_back(
          RandomTensor(operand, static_cast<uint32_t>(7 + operands.size())));
    }
    auto values = EvaluateNode(graph.view(node), operands);
    EXPECT_TRUE(values.ok()) << values.status();
    results = std::move(*values);
  }
  OpView view() const { return graph.view(node); }

  LiteralPool literals;
  Graph graph;
  NodeId node;
  std::vector<HostTensor> operands;
  std::vector<HostTensor> results;
};

class Split {
 public:
  Split(const OpSample& sample, const Whole& whole, const DimensionRule& rule,
        int factor)
      : sample_(sample), whole_(whole), rule_(rule), factor_(factor) {
    for (const HostTensor& result : whole.results) {
      assembled_.emplace_back(result.type());
    }
  }

  // Splits at `cuts`, which starts with 0 and ends with the factor's size.
  void Run(const std::vector<int64_t>& cuts) {
    for (size_t i = 0; i + 1 < cuts.size(); ++i) {
      SCOPED_TRACE(absl::StrCat("shard ", cuts[i], "..", cuts[i + 1]));
      Shard(cuts[i], cuts[i + 1], i == 0);
    }
    const bool partial = factor().kind == Factor::Kind::kReduced;
    for (size_t r = 0; r < assembled_.size(); ++r) {
      ExpectEqual(assembled_[r], whole_.results[r],
                  sample_.op->tolerance == Tolerance::kExact && !partial);
    }
  }

 private:
  const Factor& factor() const { return rule_.factors[factor_]; }

  // The part of operand `i` that the shard [begin, end) reads.
  HostTensor OperandShard(int i, int64_t begin, int64_t end) const {
    const HostTensor& x = whole_.operands[i];
    const int dim = DimensionOf(rule_.operands[i], factor_);
    if (dim < 0) return x.Clone();
    const int64_t extent = x.type().dims[dim];
    if (factor().kind != Factor::Kind::kHalo) {
      const int64_t inner = extent / factor().size;
      return TakeRows(x, dim, begin * inner, end * inner);
    }
    const int64_t first = std::clamp<int64_t>(
        begin * factor().stride - factor().before, 0, extent);
    const int64_t last = std::clamp<int64_t>(
        (end - 1) * factor().stride + factor().after + 1, first, extent);
    return TakeRows(x, dim, first, last);
  }

  void Shard(int64_t begin, int64_t end, bool is_first) {
    OpSample sample = sample_;
    std::vector<HostTensor> operands;
    for (size_t i = 0; i < whole_.operands.size(); ++i) {
      operands.push_back(OperandShard(static_cast<int>(i), begin, end));
      sample.operands[i].dims = operands.back().type().dims;
    }
    if (sample.op->shard_attributes != nullptr) {
      sample.op->shard_attributes(whole_.view(), factor_, begin, end,
                                  sample.attributes);
    }
    LiteralPool literals;
    Graph graph("shard", &literals);
    const auto node = AddSample(sample, graph);
    ASSERT_TRUE(node.ok()) << node.status();
    const auto results = EvaluateNode(graph.view(*node), operands);
    ASSERT_TRUE(results.ok()) << results.status();
    ASSERT_EQ(results->size(), assembled_.size());
    for (size_t r = 0; r < assembled_.size(); ++r) {
      Assemble((*results)[r], static_cast<int>(r), begin, end, is_first);
    }
  }

  void Assemble(const HostTensor& shard, int r, int64_t begin, int64_t end,
                bool is_first) {
    HostTensor& y = assembled_[r];
    const int dim = DimensionOf(rule_.results[r], factor_);
    if (factor().kind != Factor::Kind::kReduced) {
      ASSERT_GE(dim, 0) << "a kept factor cuts every result";
      const int64_t inner = y.type().dims[dim] / factor().size;
      TensorType expected = y.type();
      expected.dims[dim] = (end - begin) * inner;
      ASSERT_EQ(shard.type(), expected);
      PutRows(shard, dim, begin * inner, y);
      return;
    }
    ASSERT_LT(dim, 0) << "a reduced factor is in no result";
    ASSERT_EQ(shard.type(), y.type());
    for (int64_t i = 0; i < y.type().num_elements(); ++i) {
      const double value = GetAsDouble(shard, i);
      SetFromDouble(y, i,
                    is_first ? value
                             : ReducePartials(factor().reduction,
                                              GetAsDouble(y, i), value));
    }
  }

  const OpSample& sample_;
  const Whole& whole_;
  const DimensionRule& rule_;
  int factor_;
  std::vector<HostTensor> assembled_;
};

// Even and uneven splits of a factor.
std::vector<std::vector<int64_t>> CutsOf(int64_t size) {
  std::vector<std::vector<int64_t>> cuts = {{0, size}, {0, size / 2, size}};
  cuts.push_back({0, 1, size});
  cuts.push_back({0, size - 1, size});
  if (size >= 4) cuts.push_back({0, 1, 3, size});
  std::vector<int64_t> singles;
  for (int64_t i = 0; i <= size; ++i) singles.push_back(i);
  cuts.push_back(singles);
  return cuts;
}

// Every extent is the product of its factors, except that a halo counts result
// rows.
void CheckExtents(const TensorType& type, const DimensionRule::Dims& dims,
                  const DimensionRule& rule, bool is_result) {
  ASSERT_EQ(dims.size(), type.dims.size());
  for (size_t d = 0; d < dims.size(); ++d) {
    int64_t product = 1;
    bool halo = false;
    for (int factor : dims[d]) {
      product *= rule.factors[factor].size;
      halo |= rule.factors[factor].kind == Factor::Kind::kHalo;
    }
    if (halo && !is_result) continue;
    EXPECT_EQ(product, type.dims[d]) << "dimension " << d;
  }
}

TEST(SplitTest, ExtentsAreProductsOfFactors) {
  for (const OpSample& sample : OpSamples()) {
    SCOPED_TRACE(ToString(sample));
    const Whole whole(sample);
    const DimensionRule rule = sample.op->dimension_rule(whole.view());
    ASSERT_EQ(rule.operands.size(), sample.operands.size());
    ASSERT_EQ(rule.results.size(), whole.results.size());
    for (size_t i = 0; i < rule.operands.size(); ++i) {
      CheckExtents(whole.operands[i].type(), rule.operands[i], rule, false);
    }
    for (size_t i = 0; i < rule.results.size(); ++i) {
      CheckExtents(whole.results[i].type(), rule.results[i], rule, true);
    }
  }
}

TEST(SplitTest, ShardsMakeUpTheWhole) {
  int cut = 0;
  for (const OpSample& sample : OpSamples()) {
    SCOPED_TRACE(ToString(sample));
    const Whole whole(sample);
    const DimensionRule rule = sample.op->dimension_rule(whole.view());
    for (size_t f = 0; f < rule.factors.size(); ++f) {
      const Factor& factor = rule.factors[f];
      if (factor.kind == Factor::Kind::kWhole || factor.size < 2) continue;
      SCOPED_TRACE(absl::StrCat("factor ", factor.name));
      for (const std::vector<int64_t>& cuts : CutsOf(factor.size)) {
        Split(sample, whole, rule, static_cast<int>(f)).Run(cuts);
        if (::testing::Test::HasFailure()) return;
      }
      ++cut;
    }
  }
  // The tests above would also pass if all factors were whole.
  EXPECT_GT(cut, 300);
}

}  // namespace
}  // namespace partita
