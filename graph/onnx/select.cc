// ONNX ops with data-dependent result shapes, for data that are known at
// compile time.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/onnx/composition.h"
#include "graph/onnx/node_import.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

using Ints = std::vector<int64_t>;

int64_t Count(const Ints& list) { return static_cast<int64_t>(list.size()); }

absl::Status Compress(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(const Ints condition, node.Ints(1, "the condition"));
  Composition c(node);
  Expr x = c.Input(0);
  int64_t axis = 0;
  if (node.has_attr("axis")) {
    PARTITA_ASSIGN_OR_RETURN(axis,
                             node.Axis(node.Int("axis", 0), node.rank(0)));
  } else {
    x = x.Reshaped({node.type(0).num_elements()});
  }
  Ints taken;
  for (int64_t i = 0; i < Count(condition); ++i) {
    if (condition[i] != 0) taken.push_back(i);
  }
  const int64_t extent = x.dim(static_cast<int>(axis));
  if (!taken.empty() && taken.back() >= extent) {
    return node.Invalid(
        absl::StrCat("a condition that takes element ", taken.back()),
        absl::StrCat("elements of 0..", extent - 1));
  }
  return c.Return(
      x.Gathered(c.Ints({Count(taken)}, taken), static_cast<int>(axis)));
}

// The indices of each dimension in a row.
absl::Status NonZero(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(const HostTensor* x,
                           node.Constant(0, "the elements"));
  const Shape& dims = x->type().dims;
  const Shape strides = RowMajorStrides(dims);
  Ints found;
  for (int64_t i = 0; i < x->type().num_elements(); ++i) {
    if (GetAsDouble(*x, i) != 0) found.push_back(i);
  }
  Ints indices;
  for (size_t d = 0; d < dims.size(); ++d) {
    for (int64_t at : found) indices.push_back(at / strides[d] % dims[d]);
  }
  Composition c(node);
  return c.Return(
      c.Ints({static_cast<int64_t>(dims.size()), Count(found)}, indices));
}

// --- unique ---

// Slices of a tensor along an axis, ordered by their elements; NaN is the
// largest, and all NaN are equal.
class Slices {
 public:
  Slices(const HostTensor& x, int64_t axis) : x_(x), extent_(1) {
    const Shape& dims = x.type().dims;
    if (axis < 0) {
      extent_ = x.type().num_elements();
      return;
    }
    extent_ = dims[axis];
    for (size_t d = 0; d < dims.size(); ++d) {
      (static_cast<int64_t>(d) < axis ? outer_ : inner_) *= dims[d];
    }
    inner_ /= std::max<int64_t>(extent_, 1);
  }

  int64_t count() const { return extent_; }

  bool Less(int64_t a, int64_t b) const {
    return VisitDType(x_.type().dtype, [&]<typename T>(TypeTag<T>) {
      const absl::Span<const T> x = x_.data<T>();
      for (int64_t o = 0; o < outer_; ++o) {
        for (int64_t i = 0; i < inner_; ++i) {
          const T left = x[(o * extent_ + a) * inner_ + i];
          const T right = x[(o * extent_ + b) * inner_ + i];
          if (Before(left, right)) return true;
          if (Before(right, left)) return false;
        }
      }
      return false;
    });
  }

 private:
  template <typename T>
  static bool Before(T a, T b) {
    if constexpr (kIsFloat<T>) {
      const double left = static_cast<double>(a);
      const double right = static_cast<double>(b);
      return left < right || (left == left && right != right);
    } else {
      return a < b;
    }
  }

  const HostTensor& x_;
  int64_t extent_;
  int64_t outer_ = 1;
  int64_t inner_ = 1;
};

struct Uniques {
  Ints first;    // the first position of each
  Ints inverse;  // the unique one of each slice
  Ints counts;
};

// In the order of values.
Uniques Sorted(const Slices& slices) {
  Ints order(slices.count());
  std::iota(order.begin(), order.end(), 0);
  absl::c_stable_sort(order,
                      [&](int64_t a, int64_t b) { return slices.Less(a, b); });
  Uniques found;
  found.inverse.resize(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || slices.Less(order[i - 1], order[i])) {
      found.first.push_back(order[i]);
      found.counts.push_back(0);
    }
    found.inverse[order[i]] = Count(found.first) - 1;
    ++found.counts.back();
  }
  return found;
}

// The same in the order of occurrence.
Uniques AsTheyCome(const Uniques& sorted) {
  Ints order(sorted.first.size());
  std::iota(order.begin(), order.end(), 0);
  absl::c_sort(order, [&](int64_t a, int64_t b) {
    return sorted.first[a] < sorted.first[b];
  });
  Uniques found;
  Ints place(order.size());
  for (int64_t one : order) {
    place[one] = Count(found.first);
    found.first.push_back(sorted.first[one]);
    found.counts.push_back(sorted.counts[one]);
  }
  for (int64_t one : sorted.inverse) found.inverse.push_back(place[one]);
  return found;
}

absl::Status Unique(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(const HostTensor* x,
                           node.Constant(0, "the elements"));
  Composition c(node);
  Expr values = c.Input(0);
  int64_t axis = -1;
  if (node.has_attr("axis")) {
    PARTITA_ASSIGN_OR_RETURN(axis,
                             node.Axis(node.Int("axis", 0), node.rank(0)));
  } else {
    values = values.Reshaped({x->type().num_elements()});
  }
  const Uniques sorted = Sorted(Slices(*x, axis));
  const Uniques found = node.Flag("sorted", true) ? sorted : AsTheyCome(sorted);
  const int64_t count = Count(found.first);
  const Expr first = c.Ints({count}, found.first);
  c.Set(1, first);
  c.Set(2, c.Ints({Count(found.inverse)}, found.inverse));
  c.Set(3, c.Ints({count}, found.counts));
  return c.Return(values.Gathered(first, std::max<int>(axis, 0)));
}

// --- boxes ---

struct Box {
  double top, left, bottom, right;
  double area() const { return (bottom - top) * (right - left); }
};

Box BoxOf(const float* at, bool by_centre) {
  if (by_centre) {
    return {at[1] - at[3] / 2.0, at[0] - at[2] / 2.0, at[1] + at[3] / 2.0,
            at[0] + at[2] / 2.0};
  }
  return {std::min(at[0], at[2]), std::min(at[1], at[3]),
          std::max(at[0], at[2]), std::max(at[1], at[3])};
}

double Overlap(const Box& a, const Box& b) {
  const double height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  const double width = std::min(a.right, b.right) - std::max(a.left, b.left);
  if (height <= 0 || width <= 0) return 0;
  const double both = height * width;
  return both / (a.area() + b.area() - both);
}

struct Suppression {
  int64_t most;
  double overlap;
  double score;  // none below
};

// The boxes of one class by falling score, without those that overlap a
// previous one.
Ints Select(const std::vector<Box>& boxes, absl::Span<const float> scores,
            const Suppression& limits) {
  Ints order;
  for (int64_t i = 0; i < static_cast<int64_t>(boxes.size()); ++i) {
    if (scores[i] > limits.score) order.push_back(i);
  }
  absl::c_stable_sort(
      order, [&](int64_t a, int64_t b) { return scores[a] > scores[b]; });
  Ints selected;
  for (int64_t i : order) {
    if (Count(selected) >= limits.most) break;
    const bool suppressed = absl::c_any_of(selected, [&](int64_t before) {
      return static_cast<float>(Overlap(boxes[before], boxes[i])) >
             static_cast<float>(limits.overlap);
    });
    if (!suppressed) selected.push_back(i);
  }
  return selected;
}

absl::StatusOr<double> Limit(NodeImport& node, int i, absl::string_view what,
                             double otherwise) {
  if (!node.has_input(i)) return otherwise;
  PARTITA_ASSIGN_OR_RETURN(const HostTensor* value, node.Constant(i, what));
  if (value->type().num_elements() == 1) return GetAsDouble(*value, 0);
  return node.Invalid(value->type().ToString(),
                      absl::StrCat("one element for ", what));
}

absl::StatusOr<Suppression> ReadLimits(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(const double most,
                           Limit(node, 2, "max_output_boxes_per_class", 0));
  PARTITA_ASSIGN_OR_RETURN(const double overlap,
                           Limit(node, 3, "iou_threshold", 0));
  PARTITA_ASSIGN_OR_RETURN(const double score,
                           Limit(node, 4, "score_threshold",
                                 -std::numeric_limits<double>::infinity()));
  constexpr double kMost = 1 << 30;
  return Suppression{static_cast<int64_t>(std::clamp(most, 0.0, kMost)),
                     overlap, score};
}

absl::Status NonMaxSuppression(NodeImport& node) {
  const Shape& dims = node.type(0).dims;
  const Shape& of_scores = node.type(1).dims;
  const bool fits = dims.size() == 3 && dims[2] == 4 && of_scores.size() == 3 &&
                    of_scores[0] == dims[0] && of_scores[2] == dims[1] &&
                    node.type(0).dtype == DType::kF32 &&
                    node.type(1).dtype == DType::kF32;
  if (!fits) {
    return node.Invalid(absl::StrCat("boxes ", node.type(0).ToString(),
                                     " and scores ", node.type(1).ToString()),
                        "f32[n, boxes, 4] and f32[n, classes, boxes]");
  }
  PARTITA_ASSIGN_OR_RETURN(const HostTensor* boxes,
                           node.Constant(0, "the boxes"));
  PARTITA_ASSIGN_OR_RETURN(const HostTensor* scores,
                           node.Constant(1, "the scores"));
  PARTITA_ASSIGN_OR_RETURN(const Suppression limits, ReadLimits(node));
  const bool by_centre = node.Flag("center_point_box", false);
  Ints selected;
  // Without boxes or classes there may be any number of images.
  const int64_t images = scores->type().num_elements() == 0 ? 0 : dims[0];
  for (int64_t n = 0; n < images; ++n) {
    std::vector<Box> of_image;
    for (int64_t i = n * dims[1]; i < (n + 1) * dims[1]; ++i) {
      of_image.push_back(BoxOf(boxes->data<float>().data() + 4 * i, by_centre));
    }
    for (int64_t k = 0; k < of_scores[1]; ++k) {
      const auto line = scores->data<float>().subspan(
          (n * of_scores[1] + k) * dims[1], dims[1]);
      for (int64_t box : Select(of_image, line, limits)) {
        for (int64_t index : {n, k, box}) selected.push_back(index);
      }
    }
  }
  Composition c(node);
  return c.Return(c.Ints({Count(selected) / 3, 3}, selected));
}

constexpr ConverterRow kRows[] = {
    {"Compress", Compress, 2, 1, "axis"},
    {"NonMaxSuppression", NonMaxSuppression, 2, 1, "center_point_box"},
    {"NonZero", NonZero, 1},
    {"Unique", Unique, 1, 4, "axis sorted"},
};

}  // namespace

extern constinit const ConverterFamily kSelectConverters = {kRows};

}  // namespace partita
