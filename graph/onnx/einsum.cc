// Einsum as transposes, matrix products and sums.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "graph/extent_error.h"
#include "graph/onnx/composition.h"
#include "graph/onnx/node_import.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

// One for each dimension: a letter, or 0, 1, ... for those of an ellipsis,
// counted from the last.
using Labels = std::vector<int>;

struct Equation {
  std::vector<Labels> operands;
  Labels result;
};

std::string Name(int label) {
  return label >= 'A' ? std::string(1, static_cast<char>(label))
                      : absl::StrCat("dimension ", -1 - label, " of \"...\"");
}

bool Has(const Labels& labels, int label) {
  return absl::c_linear_search(labels, label);
}

// `hidden`: the dimensions of the ellipsis.
absl::StatusOr<Labels> ParseTerm(const NodeImport& node, absl::string_view term,
                                 int hidden) {
  Labels labels;
  bool ellipsis = false;
  for (size_t i = 0; i < term.size(); ++i) {
    if (term.substr(i, 3) == "..." && !ellipsis) {
      ellipsis = true;
      i += 2;
      for (int d = hidden; d-- > 0;) labels.push_back(d);
    } else if (absl::ascii_isalpha(term[i])) {
      labels.push_back(term[i]);
    } else {
      return node.Invalid(absl::StrCat("equation term \"", term, "\""),
                          "letters and at most one \"...\"");
    }
  }
  return labels;
}

absl::StatusOr<Labels> ParseOperand(const NodeImport& node,
                                    absl::string_view term, int operand) {
  const int rank = node.rank(operand);
  const size_t dots = term.find("...");
  const bool ellipsis = dots != absl::string_view::npos;
  const int letters = static_cast<int>(term.size()) - (ellipsis ? 3 : 0);
  if (ellipsis ? letters > rank : letters != rank) {
    return node.Invalid(absl::StrCat("equation term \"", term, "\" for input ",
                                     operand, " of rank ", rank),
                        "a letter for each dimension");
  }
  return ParseTerm(node, term, rank - letters);
}

// Without "->": the dimensions of the ellipsis, then letters that occur once.
Labels Implied(const std::vector<Labels>& operands) {
  std::set<int> once;
  std::set<int> seen;
  for (const Labels& labels : operands) {
    for (int label : labels) {
      if (seen.insert(label).second || label < 'A') {
        once.insert(label);
      } else {
        once.erase(label);
      }
    }
  }
  Labels result(once.begin(), once.end());
  std::reverse(result.begin(), absl::c_lower_bound(result, 'A'));
  return result;
}

absl::Status CheckResult(const NodeImport& node, const Equation& equation,
                         absl::string_view text) {
  std::set<int> seen;
  for (int label : equation.result) {
    const bool known = absl::c_any_of(
        equation.operands,
        [&](const Labels& labels) { return Has(labels, label); });
    if (known && seen.insert(label).second) continue;
    return node.Invalid(absl::StrCat("equation result \"", text, "\""),
                        "letters of the operands, each at most once");
  }
  for (const Labels& labels : equation.operands) {
    for (int label : labels) {
      if (label >= 'A' || seen.contains(label)) continue;
      return node.Invalid(absl::StrCat("equation result \"", text, "\""),
                          "the \"...\" of the operands, too");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Equation> Parse(NodeImport& node) {
  const std::string text =
      absl::StrReplaceAll(node.String("equation", ""), {{" ", ""}});
  const std::vector<std::string> sides = absl::StrSplit(text, "->");
  const std::vector<std::string> terms = absl::StrSplit(sides[0], ',');
  if (sides.size() > 2 || static_cast<int>(terms.size()) != node.num_inputs()) {
    return node.Invalid(absl::StrCat("equation \"", text, "\""),
                        absl::StrCat("a term for each of ", node.num_inputs(),
                                     " inputs and at most one result"));
  }
  Equation equation;
  int hidden = 0;
  for (size_t i = 0; i < terms.size(); ++i) {
    PARTITA_ASSIGN_OR_RETURN(const Labels labels,
                             ParseOperand(node, terms[i], static_cast<int>(i)));
    for (int label : labels) {
      if (label < 'A') hidden = std::max(hidden, label + 1);
    }
    equation.operands.push_back(labels);
  }
  if (sides.size() == 1) {
    equation.result = Implied(equation.operands);
    return equation;
  }
  PARTITA_ASSIGN_OR_RETURN(equation.result, ParseTerm(node, sides[1], hidden));
  PARTITA_RETURN_IF_ERROR(CheckResult(node, equation, sides[1]));
  return equation;
}

// A label must have one extent, or 1 if it is broadcast.
absl::Status CheckExtents(const NodeImport& node, const Equation& equation) {
  std::vector<int64_t> extents(128, 1);
  for (size_t i = 0; i < equation.operands.size(); ++i) {
    const Shape& dims = node.type(static_cast<int>(i)).dims;
    const Labels& labels = equation.operands[i];
    for (size_t d = 0; d < labels.size(); ++d) {
      int64_t& extent = extents[labels[d]];
      const size_t first = absl::c_find(labels, labels[d]) - labels.begin();
      if (extent == 1 && first == d) extent = dims[d];
      const int64_t wanted = first < d ? dims[first] : extent;
      if (dims[d] == wanted || (dims[d] == 1 && first == d)) continue;
      return OfExtents(
          node.Invalid(absl::StrCat("extent ", dims[d], " for ",
                                    Name(labels[d]), " in input ", i),
                       absl::StrCat(wanted, ", as elsewhere")));
    }
  }
  return absl::OkStatus();
}

// A value and its dimensions' labels.
struct Named {
  Expr value;
  Labels labels;

  // With its dimensions in this order.
  Named Ordered(const Labels& order) const {
    std::vector<int64_t> perm;
    for (int label : order) {
      perm.push_back(absl::c_find(labels, label) - labels.begin());
    }
    return {absl::c_is_sorted(perm) ? value : value.Transposed(perm), order};
  }
};

Labels Without(const Labels& labels, const Labels& others) {
  Labels rest;
  for (int label : labels) {
    if (!Has(others, label)) rest.push_back(label);
  }
  return rest;
}

Labels Together(Labels a, const Labels& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// The diagonal for a letter that occurs twice: with both at the end, every
// (extent + 1)-th element.
Named Diagonal(Named x, size_t first, size_t second) {
  std::vector<int64_t> perm;
  for (size_t d = 0; d < x.labels.size(); ++d) {
    if (d != first && d != second) perm.push_back(static_cast<int64_t>(d));
  }
  Labels labels;
  for (int64_t d : perm) labels.push_back(x.labels[d]);
  labels.push_back(x.labels[first]);
  perm.push_back(static_cast<int64_t>(first));
  perm.push_back(static_cast<int64_t>(second));
  const Expr last = x.value.Transposed(perm);
  const int64_t extent = last.dim(-1);
  std::vector<int64_t> dims(last.dims().begin(), last.dims().end());
  if (dims.size() < 2) return x;  // after an error
  dims.pop_back();
  dims.back() = extent * extent;
  std::vector<int64_t> sizes = dims;
  sizes.back() = extent;
  std::vector<int64_t> steps(dims.size(), 1);
  if (extent > 1) steps.back() = extent + 1;
  return {last.Reshaped(dims).Apply(
              kSlice, {{"starts", std::vector<int64_t>(dims.size(), 0)},
                       {"sizes", std::move(sizes)},
                       {"steps", std::move(steps)}}),
          labels};
}

Named OneOfEach(Named x) {
  for (size_t i = 0; i < x.labels.size(); ++i) {
    for (size_t j = i + 1; j < x.labels.size(); ++j) {
      if (x.labels[i] == x.labels[j]) return OneOfEach(Diagonal(x, i, j));
    }
  }
  return x;
}

// Sums over dimensions that no other term needs.
Named Summed(const Named& x, const Labels& needed) {
  std::vector<int64_t> axes;
  Labels kept;
  for (size_t d = 0; d < x.labels.size(); ++d) {
    if (Has(needed, x.labels[d])) {
      kept.push_back(x.labels[d]);
    } else {
      axes.push_back(static_cast<int64_t>(d));
    }
  }
  if (axes.empty()) return x;
  return {x.value.Sum(axes, /*keep_dims=*/false), kept};
}

std::vector<int64_t> Extents(const Expr& value, size_t begin, size_t count) {
  std::vector<int64_t> dims;
  for (size_t d = begin; d < begin + count; ++d) {
    dims.push_back(value.dim(static_cast<int>(d)));
  }
  return dims;
}

// [batch..., rows..., columns...] as matrices.
Expr Matrices(const Expr& value, size_t batch, size_t rows, size_t columns) {
  std::vector<int64_t> dims = Extents(value, 0, batch);
  dims.push_back(Product(Extents(value, batch, rows)));
  dims.push_back(Product(Extents(value, batch + rows, columns)));
  return value.Reshaped(dims);
}

// Repeats a summed dimension that is broadcast.
Named Repeated(const Named& x, const Named& other, const Labels& summed) {
  std::vector<int64_t> dims(x.value.dims().begin(), x.value.dims().end());
  for (size_t d = 0; d < std::min(dims.size(), x.labels.size()); ++d) {
    if (!Has(summed, x.labels[d])) continue;
    const int64_t at =
        absl::c_find(other.labels, x.labels[d]) - other.labels.begin();
    if (dims[d] == 1) dims[d] = other.value.dim(static_cast<int>(at));
  }
  return {x.value.Expanded(dims), x.labels};
}

// Nothing is summed: [batch rows 1] * [batch 1 columns].
Expr Outer(const Expr& a, const Expr& b, size_t batch, size_t rows,
           size_t columns) {
  std::vector<int64_t> left = Extents(a, 0, batch + rows);
  left.insert(left.end(), columns, 1);
  std::vector<int64_t> right = Extents(b, 0, batch);
  right.insert(right.end(), rows, 1);
  for (int64_t extent : Extents(b, batch, columns)) right.push_back(extent);
  return a.Reshaped(left) * b.Reshaped(right);
}

Expr Inner(const Expr& a, const Expr& b, size_t batch, size_t rows,
           size_t summed, size_t columns) {
  const Expr product = Product(Matrices(a, batch, rows, summed),
                               Matrices(b, batch, summed, columns));
  std::vector<int64_t> dims = Extents(product, 0, batch);
  for (int64_t extent : Extents(a, batch, rows)) dims.push_back(extent);
  for (int64_t extent : Extents(b, batch + summed, columns)) {
    dims.push_back(extent);
  }
  return product.Reshaped(dims);
}

// The product of two operands, summed over the shared dimensions that no other
// term needs.
Named Contracted(const Named& x, const Named& y, const Labels& needed) {
  const Labels shared = Without(x.labels, Without(x.labels, y.labels));
  const Labels summed = Without(shared, needed);
  const Labels batch = Without(shared, summed);
  const Labels rows = Without(x.labels, shared);
  const Labels columns = Without(y.labels, shared);
  const Expr a = Repeated(x, y, summed)
                     .Ordered(Together(Together(batch, rows), summed))
                     .value;
  const Expr b = Repeated(y, x, summed)
                     .Ordered(Together(Together(batch, summed), columns))
                     .value;
  return {summed.empty()
              ? Outer(a, b, batch.size(), rows.size(), columns.size())
              : Inner(a, b, batch.size(), rows.size(), summed.size(),
                      columns.size()),
          Together(Together(batch, rows), columns)};
}

// From left to right.
absl::Status Einsum(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(const Equation equation, Parse(node));
  PARTITA_RETURN_IF_ERROR(CheckExtents(node, equation));
  Composition c(node);
  Named value = OneOfEach({c.Input(0), equation.operands[0]});
  for (size_t i = 0; i < equation.operands.size(); ++i) {
    Labels needed = equation.result;
    for (size_t later = i + 1; later < equation.operands.size(); ++later) {
      needed = Together(needed, equation.operands[later]);
    }
    if (i > 0) {
      const Named next = Summed(
          OneOfEach({c.Input(static_cast<int>(i)), equation.operands[i]}),
          Together(needed, value.labels));
      value = Contracted(value, next, needed);
    }
    value = Summed(value, needed);
  }
  return c.Return(value.Ordered(equation.result).value);
}

constexpr ConverterRow kRows[] = {
    {"Einsum", Einsum, kEvery, 1, "equation"},
};

}  // namespace

extern constinit const ConverterFamily kEinsumConverters = {kRows};

}  // namespace partita
