// Reads each operand alone, then compares it with the others.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/attention_sizes.h"

#include "absl/strings/str_cat.h"
#include "graph/extent_error.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

std::string Described(const NodeImport& node, int input) {
  return absl::StrCat("input ", input, " ", node.type(input).ToString());
}

absl::Status CheckRanks(const NodeImport& node) {
  const int rank = node.rank(0);
  if ((rank == 3 || rank == 4) && node.rank(1) == rank &&
      node.rank(2) == rank) {
    return absl::OkStatus();
  }
  return node.Invalid(
      absl::StrCat("ranks ", rank, ", ", node.rank(1), " and ", node.rank(2)),
      "queries, keys and values of rank 4, or of rank 3");
}

absl::Status CheckDTypes(const NodeImport& node) {
  for (int i = 0; i < 3; ++i) {
    if (IsFloat(node.type(i).dtype)) continue;
    return node.Invalid(Described(node, i), "floats");
  }
  if (node.type(1).dtype == node.type(0).dtype) return absl::OkStatus();
  return node.Invalid(Described(node, 1),
                      absl::StrCat("keys of the queries' type ",
                                   DTypeName(node.type(0).dtype)));
}

absl::Status CheckAgreement(const NodeImport& node, const AttentionSizes& s) {
  if (s.keys.batch != s.queries.batch || s.keys.size != s.queries.size) {
    return node.Invalid(
        absl::StrCat(Described(node, 1), " of ", s.keys.heads, " heads"),
        absl::StrCat("a batch of ", s.queries.batch, " and ", s.queries.size,
                     " numbers a head, as the queries have"));
  }
  if (s.values.batch != s.keys.batch || s.values.heads != s.keys.heads ||
      s.values.positions != s.keys.positions) {
    return node.Invalid(
        absl::StrCat(Described(node, 2), " of ", s.values.heads, " heads"),
        absl::StrCat("a batch of ", s.keys.batch, ", ", s.keys.heads,
                     " heads and ", s.keys.positions,
                     " positions, as the keys have"));
  }
  if (s.keys.heads > 0 && s.queries.heads % s.keys.heads == 0) {
    return absl::OkStatus();
  }
  return node.Invalid(absl::StrCat(s.queries.heads, " heads of queries and ",
                                   s.keys.heads, " of keys"),
                      "a multiple of the heads of keys");
}

}  // namespace

absl::StatusOr<HeadSizes> ReadHeads(NodeImport& node, int input,
                                    absl::string_view heads_attribute) {
  const Shape& dims = node.type(input).dims;
  const bool given = node.has_attr(heads_attribute);
  const int64_t heads = node.Int(heads_attribute, 0);
  if (dims.size() == 4) {
    if (!given || heads == dims[1]) {
      return HeadSizes{dims[0], dims[1], dims[2], dims[3]};
    }
    return node.Invalid(absl::StrCat(heads_attribute, " ", heads, " for ",
                                     Described(node, input)),
                        absl::StrCat(dims[1], ", its dimension 1, or none"));
  }
  if (heads > 0 && dims[2] % heads == 0) {
    return HeadSizes{dims[0], heads, dims[1], dims[2] / heads};
  }
  return node.Invalid(
      absl::StrCat(given ? absl::StrCat(heads_attribute, " ", heads)
                         : absl::StrCat("no ", heads_attribute),
                   " for ", Described(node, input)),
      absl::StrCat("a number of heads that divides ", dims[2]));
}

Expr InHeads(Expr x, const HeadSizes& s) {
  if (x.rank() != 3) return x;
  return x.Reshaped({s.batch, s.positions, s.heads, s.size})
      .Transposed({0, 2, 1, 3});
}

Expr Packed(Expr x) {
  return x.Transposed({0, 2, 1, 3})
      .Reshaped({x.dim(0), x.dim(2), x.dim(1) * x.dim(3)});
}

absl::StatusOr<AttentionSizes> ReadAttentionSizes(NodeImport& node) {
  PARTITA_RETURN_IF_ERROR(CheckRanks(node));
  PARTITA_RETURN_IF_ERROR(CheckDTypes(node));
  AttentionSizes sizes;
  PARTITA_ASSIGN_OR_RETURN(sizes.queries, ReadHeads(node, 0, "q_num_heads"));
  PARTITA_ASSIGN_OR_RETURN(sizes.keys, ReadHeads(node, 1, "kv_num_heads"));
  PARTITA_ASSIGN_OR_RETURN(sizes.values, ReadHeads(node, 2, "kv_num_heads"));
  PARTITA_RETURN_IF_ERROR(CheckAgreement(node, sizes));
  return sizes;
}

absl::Status ExpectInput(const NodeImport& node, int input, DType dtype,
                         const Shape& dims, absl::string_view what) {
  const TensorType expected{dtype, dims, {}};
  const TensorType& found = node.type(input);
  if (found.dtype == dtype && found.dims == dims) return absl::OkStatus();
  const absl::Status fault = node.Invalid(
      Described(node, input), absl::StrCat(expected.ToString(), ", ", what));
  return found.dtype == dtype ? OfExtents(fault) : fault;
}

}  // namespace partita
