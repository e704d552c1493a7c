// Fused: several ops, in a body, computed by one kernel.
// SPDX-License-Identifier: Apache-2.0

#include <cstring>
#include <numeric>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/evaluate.h"
#include "graph/op_def.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

// Union-find over the dimensions of a body's values.
class DimensionClasses {
 public:
  explicit DimensionClasses(const Graph& body) : body_(body) {
    int next = 0;
    for (int i = 0; i < body.value_id_bound(); ++i) {
      first_.push_back(next);
      next += body.type(ValueId(i)).rank();
    }
    parent_.resize(next);
    std::iota(parent_.begin(), parent_.end(), 0);
    whole_.resize(next, false);
    for (OpView op : body.ops()) Merge(op);
    for (int i = 0; i < body.value_id_bound(); ++i) KeepApart(ValueId(i));
  }

  int Find(ValueId value, int dim) { return Root(first_[value.index] + dim); }
  bool IsWhole(int root) const { return whole_[root]; }

 private:
  int Root(int i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }

  void Union(int a, int b) {
    a = Root(a);
    b = Root(b);
    whole_[b] = whole_[a] || whole_[b];
    parent_[a] = b;
  }

  // Makes a class that occurs twice in one value whole, as in matmul %x, %x: no
  // single dimension could be split.
  void KeepApart(ValueId value) {
    for (int d = 0; d < body_.type(value).rank(); ++d) {
      for (int e = 0; e < d; ++e) {
        if (Find(value, d) == Find(value, e)) whole_[Find(value, d)] = true;
      }
    }
  }

  void Merge(const OpView& op) {
    const DimensionRule rule = op.op().dimension_rule(op);
    for (size_t f = 0; f < rule.factors.size(); ++f) {
      MergeFactor(op, rule, static_cast<int>(f));
    }
  }

  // Joins the values' dimensions that have `factor`. They stay whole if one of
  // them has another factor too.
  void MergeFactor(const OpView& op, const DimensionRule& rule, int factor) {
    std::vector<int> joined;
    bool alone = true;
    int results_with = 0;
    const auto visit = [&](ValueId value, const DimensionRule::Dims& dims) {
      bool found = false;
      for (size_t d = 0; d < dims.size(); ++d) {
        for (int f : dims[d]) {
          if (f != factor) continue;
          found = true;
          alone &= dims[d].size() == 1;
          joined.push_back(first_[value.index] + static_cast<int>(d));
        }
      }
      return found;
    };
    for (int i = 0; i < op.num_operands(); ++i) {
      visit(op.operand(i).id(), rule.operands[i]);
    }
    for (int i = 0; i < op.num_results(); ++i) {
      results_with += visit(op.result(i).id(), rule.results[i]);
    }
    for (int dim : joined) Union(dim, joined[0]);
    const bool splits_cleanly =
        rule.factors[factor].kind == Factor::Kind::kKept && alone &&
        results_with == op.num_results();
    if (!splits_cleanly && !joined.empty()) whole_[Root(joined[0])] = true;
  }

  const Graph& body_;
  std::vector<int> first_;  // by value: index of its first dimension
  std::vector<int> parent_;
  std::vector<bool> whole_;  // by root
};

// Dimensions of the body's values that share a factor of some op become one
// factor of the body. It is kept only if every op that has it keeps it, if it
// is a whole dimension everywhere, and if each such op carries it to all its
// results. Otherwise it is whole.
DimensionRule FusedRule(const OpView& op) {
  const Graph& body = op.region(0);
  DimensionClasses classes(body);
  DimensionRule rule;
  std::vector<int> factor_of(body.value_id_bound() * kMaxRank, -1);
  const auto dims_of = [&](ValueId value) {
    DimensionRule::Dims dims;
    const TensorType& type = body.type(value);
    for (int d = 0; d < type.rank(); ++d) {
      const int root = classes.Find(value, d);
      int& factor = factor_of[root];
      if (factor < 0) {
        factor = static_cast<int>(rule.factors.size());
        rule.factors.push_back({.name = absl::StrCat("d", factor),
                                .size = type.dims[d],
                                .kind = classes.IsWhole(root)
                                            ? Factor::Kind::kWhole
                                            : Factor::Kind::kKept});
      }
      dims.push_back({factor});
    }
    return dims;
  };
  for (ValueId input : body.inputs()) rule.operands.push_back(dims_of(input));
  for (ValueId output : body.outputs()) rule.results.push_back(dims_of(output));
  return rule;
}

absl::Status Infer(const OpView& op, Types& results) {
  const Graph& body = op.region(0);
  if (static_cast<int>(body.inputs().size()) != op.num_operands()) {
    return BadOp(op, absl::StrCat(op.num_operands(), " operands"),
                 absl::StrCat(body.inputs().size(), ", one per body input"),
                 "pass each input of the body");
  }
  for (int i = 0; i < op.num_operands(); ++i) {
    const TensorType inner = body.type(body.inputs()[i]).RowMajor();
    const TensorType outer = op.operand_type(i).RowMajor();
    if (inner == outer) continue;
    return BadOp(op, absl::StrCat("operand ", i, ": ", outer.ToString()),
                 inner.ToString(), "make the body's input the same type");
  }
  for (size_t i = 0; i < body.outputs().size(); ++i) {
    PARTITA_RETURN_IF_ERROR(results.Set(
        static_cast<int>(i), body.type(body.outputs()[i]).RowMajor()));
  }
  return absl::OkStatus();
}

absl::Status Evaluate(const OpView& op, absl::Span<const HostTensor> operands,
                      absl::Span<HostTensor> results) {
  PARTITA_ASSIGN_OR_RETURN(std::vector<HostTensor> values,
                           partita::Evaluate(op.region(0), operands));
  for (size_t i = 0; i < values.size(); ++i) {
    ConvertLayout(values[i], results[i]);
  }
  return absl::OkStatus();
}

// The flops of the body, but only the bytes of the node's operands and results.
Cost EstimateCost(const OpView& op) {
  Cost total;
  for (OpView inner : op.region(0).ops()) {
    total.flops += inner.op().cost(inner).flops;
  }
  for (int i = 0; i < op.num_operands(); ++i) {
    total.bytes += op.operand_type(i).num_bytes();
  }
  for (int i = 0; i < op.num_results(); ++i) {
    total.bytes += op.result_type(i).num_bytes();
  }
  return total;
}

}  // namespace

extern constinit const OpDef kFused = {
    .name = "fused",
    .doc = "The outputs of its body, computed as one kernel.",
    .operands = {{{"inputs", kVariadic}}},
    .num_results = kAnyNumber,
    .num_regions = 1,
    .tolerance = Tolerance::kApproximate,
    .infer = Infer,
    .eval = Evaluate,
    .no_gradient = "inserted by passes, after gradients are built",
    .cost = EstimateCost,
    .dimension_rule = FusedRule,
};

}  // namespace partita
