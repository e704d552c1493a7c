// ONNX's RotaryEmbedding: pairs of a head's numbers, rotated by an angle that
// grows with the position.
// SPDX-License-Identifier: Apache-2.0

#include "absl/strings/str_cat.h"
#include "graph/onnx/attention_sizes.h"
#include "graph/onnx/composition.h"
#include "graph/onnx/node_import.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

enum Input { kX, kCosines, kSines, kPositions };

struct Sizes {
  HeadSizes x;
  int64_t rotated = 0;  // the first numbers of a head
  bool interleaved = false;

  int64_t pairs() const { return rotated / 2; }
};

absl::StatusOr<Sizes> ReadSizes(NodeImport& node) {
  if (node.rank(kX) != 3 && node.rank(kX) != 4) {
    return node.Invalid(node.type(kX).ToString(), "rank 3 or 4");
  }
  Sizes sizes;
  PARTITA_ASSIGN_OR_RETURN(sizes.x, ReadHeads(node, kX, "num_heads"));
  sizes.rotated = node.Int("rotary_embedding_dim", 0);
  if (sizes.rotated == 0) sizes.rotated = sizes.x.size;
  sizes.interleaved = node.Flag("interleaved", false);
  if (sizes.rotated >= 0 && sizes.rotated <= sizes.x.size &&
      sizes.rotated % 2 == 0) {
    return sizes;
  }
  return node.Invalid(
      absl::StrCat(sizes.rotated, " numbers of a head to rotate"),
      absl::StrCat("an even number, at most the head's ", sizes.x.size));
}

// [all positions, pairs], from which the position ids select, or [batch,
// positions, pairs]. PyTorch's exporter writes one table for the whole batch.
absl::Status CheckTable(const NodeImport& node, int input, const Sizes& sizes) {
  const Shape& dims = node.type(input).dims;
  const DType dtype = node.type(kX).dtype;
  if (!node.has_input(kPositions)) {
    const bool shared = dims.size() == 3 && dims[0] == 1;
    return ExpectInput(
        node, input, dtype,
        {shared ? 1 : sizes.x.batch, sizes.x.positions, sizes.pairs()},
        "as [batch or 1, positions, pairs], as no position ids are given");
  }
  const int64_t all = dims.size() == 2 ? dims[0] : 0;
  return ExpectInput(node, input, dtype, {all, sizes.pairs()},
                     "as [positions, pairs], which position ids choose from");
}

absl::Status CheckInputs(const NodeImport& node, const Sizes& sizes) {
  PARTITA_RETURN_IF_ERROR(CheckTable(node, kCosines, sizes));
  PARTITA_RETURN_IF_ERROR(CheckTable(node, kSines, sizes));
  if (!node.has_input(kPositions)) return absl::OkStatus();
  return ExpectInput(node, kPositions, DType::kI64,
                     {sizes.x.batch, sizes.x.positions},
                     "as [batch, positions]");
}

// Cosines or sines for every pair, with an extent of 1 for heads, which come
// before positions in operands of rank 4.
Expr Table(Composition& c, Input input) {
  Expr table = c.Input(input);
  if (c.node().has_input(kPositions)) {
    table =
        c.Add(kGather, {table, c.Input(kPositions)}, {{"axis", int64_t{0}}});
  }
  return table.Unsqueezed(c.node().rank(kX) == 4 ? 1 : 2);
}

// One of the two numbers of each pair.
Expr Half(Expr x, const Sizes& sizes, int64_t which) {
  if (!sizes.interleaved) {
    return x.Sliced(-1, which * sizes.pairs(), sizes.pairs());
  }
  return x.Reshaped({x.dim(0), x.dim(1), x.dim(2), sizes.pairs(), 2})
      .Sliced(-1, which, 1)
      .Squeezed(-1);
}

Expr Pairs(Expr first, Expr second, const Sizes& sizes) {
  if (!sizes.interleaved) return Concatenated({first, second}, -1);
  return Concatenated({first.Unsqueezed(-1), second.Unsqueezed(-1)}, -1)
      .Reshaped({first.dim(0), first.dim(1), first.dim(2), sizes.rotated});
}

absl::Status RotaryEmbedding(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(const Sizes sizes, ReadSizes(node));
  PARTITA_RETURN_IF_ERROR(CheckInputs(node, sizes));
  Composition c(node);
  const HeadSizes& s = sizes.x;
  const bool packed = node.rank(kX) == 3;
  const Expr x =
      packed ? c.Input(kX).Reshaped({s.batch, s.positions, s.heads, s.size})
             : c.Input(kX);
  const Expr rotated = x.Sliced(-1, 0, sizes.rotated);
  const Expr first = Half(rotated, sizes, 0), second = Half(rotated, sizes, 1);
  const Expr cosines = Table(c, kCosines), sines = Table(c, kSines);
  Expr result = Pairs(cosines * first - sines * second,
                      sines * first + cosines * second, sizes);
  if (sizes.rotated < s.size) {
    const Expr rest = x.Sliced(-1, sizes.rotated, s.size - sizes.rotated);
    result = Concatenated({result, rest}, -1);
  }
  return c.Return(packed ? result.Reshaped(node.type(kX).dims) : result);
}

constexpr ConverterRow kRows[] = {
    {"RotaryEmbedding", RotaryEmbedding, 3, 1,
     "interleaved num_heads rotary_embedding_dim"},
};

}  // namespace

extern constinit const ConverterFamily kRotaryConverters = {kRows};

}  // namespace partita
