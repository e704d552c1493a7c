// ONNX's Fourier transforms, as products with tables.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <numbers>

#include "absl/strings/str_cat.h"
#include "graph/onnx/composition.h"
#include "graph/onnx/node_import.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;
// A longer transform needs a larger table.
constexpr int64_t kMaxLength = kMaxTable / 2;

// For lines [lines, length, parts]: the real part alone, or also the imaginary
// one.
struct Transform {
  int64_t length;  // of the transform
  bool inverse;    // the other sign
  double scale = 1;
};

// The matrix [length * parts, results * 2] that maps a line to its first
// `results` frequencies.
std::vector<double> Table(const Transform& t, int64_t parts, int64_t results) {
  std::vector<double> table;
  table.reserve(t.length * parts * results * 2);
  const double sign = t.inverse ? 1 : -1;
  for (int64_t j = 0; j < t.length; ++j) {
    for (int64_t part = 0; part < parts; ++part) {
      for (int64_t k = 0; k < results; ++k) {
        const double angle = kTurn * static_cast<double>(j * k % t.length) /
                             static_cast<double>(t.length);
        const double real = t.scale * std::cos(angle);
        const double imaginary = t.scale * sign * std::sin(angle);
        table.push_back(part == 0 ? real : -imaginary);
        table.push_back(part == 0 ? imaginary : real);
      }
    }
  }
  return table;
}

bool FitsTable(int64_t length, int64_t parts, int64_t results) {
  return length <= kMaxTable && results <= kMaxTable / 2 &&
         length * parts <= kMaxTable / std::max<int64_t>(2 * results, 1);
}

// By one product with the table.
Expr ByTable(Composition& c, const Expr& x, const Transform& t,
             int64_t results) {
  const int64_t lines = x.dim(0);
  const int64_t parts = x.dim(2);
  const Expr table = c.Numbers(x.dtype(), {t.length * parts, results * 2},
                               Table(t, parts, results));
  return Product(x.Reshaped({lines, t.length * parts}), table)
      .Reshaped({lines, results, 2});
}

// (a + bi)(c + di) for values whose last dimension has both parts.
Expr ComplexProduct(const Expr& x, const Expr& y) {
  const Expr a = x.Sliced(-1, 0, 1);
  const Expr b = x.Sliced(-1, 1, 1);
  const Expr c = y.Sliced(-1, 0, 1);
  const Expr d = y.Sliced(-1, 1, 1);
  return Concatenated({a * c - b * d, a * d + b * c}, /*axis=*/-1);
}

// The largest divisor for which a table of complex numbers is allowed; 1 if
// there is none.
int64_t TableDivisor(int64_t length) {
  constexpr int64_t kMost = 1024;
  for (int64_t d = std::min(kMost, length - 1); d > 1; --d) {
    if (length % d == 0) return d;
  }
  return 1;
}

// Before any table is built.
absl::Status CheckSteps(const NodeImport& node, int64_t length) {
  int64_t rest = length;
  while (rest <= kMaxLength && !FitsTable(rest, 2, rest)) {
    const int64_t divisor = TableDivisor(rest);
    if (divisor == 1) break;
    rest /= divisor;
  }
  if (length <= kMaxLength && FitsTable(rest, 2, rest)) {
    return absl::OkStatus();
  }
  return node.Unsupported(
      absl::StrCat("a transform of length ", length),
      absl::StrCat("one of up to 2048, or up to ", kMaxLength,
                   " with divisors of up to 1024"));
}

// Cooley and Tukey's step (1965), for complex lines: element j is j1 * n2 + j2,
// frequency k is k1 + n1 * k2. Transforms over j1, twiddle factors by j2 * k1,
// transforms over j2.
Expr BySteps(Composition& c, const Expr& x, const Transform& t) {
  if (FitsTable(t.length, 2, t.length)) return ByTable(c, x, t, t.length);
  const int64_t n1 = TableDivisor(t.length);
  const int64_t n2 = t.length / n1;
  const int64_t lines = x.dim(0);
  const Expr columns = x.Reshaped({lines, n1, n2, 2})
                           .Transposed({0, 2, 1, 3})
                           .Reshaped({lines * n2, n1, 2});
  const Expr inner = ByTable(c, columns, {n1, t.inverse, t.scale}, n1)
                         .Reshaped({lines, n2, n1, 2});
  std::vector<double> twiddles;
  for (int64_t j = 0; j < n2; ++j) {
    for (int64_t k = 0; k < n1; ++k) {
      const double angle =
          kTurn * static_cast<double>(j * k) / static_cast<double>(t.length);
      twiddles.push_back(std::cos(angle));
      twiddles.push_back((t.inverse ? 1 : -1) * std::sin(angle));
    }
  }
  const Expr turned =
      ComplexProduct(inner, c.Numbers(x.dtype(), {1, n2, n1, 2}, twiddles));
  const Expr rows =
      turned.Transposed({0, 2, 1, 3}).Reshaped({lines * n1, n2, 2});
  return BySteps(c, rows, {n2, t.inverse})
      .Reshaped({lines, n1, n2, 2})
      .Transposed({0, 2, 1, 3})
      .Reshaped({lines, t.length, 2});
}

// From [lines, length, 1 or 2] to [lines, results, 2].
Expr Transformed(Composition& c, const Expr& x, const Transform& t,
                 int64_t results) {
  if (FitsTable(t.length, x.dim(2), results)) {
    return ByTable(c, x, t, results);
  }
  if (const absl::Status status = CheckSteps(c.node(), t.length);
      !status.ok()) {
    c.Fail(status);
    return x;
  }
  const Expr complex = x.dim(2) == 2 ? x : x.Padded(2, 0, 1);
  return BySteps(c, complex, t).Sliced(1, 0, results);
}

// Half a spectrum [lines, length / 2 + 1, 2] with its other half: mirrored,
// with the opposite imaginary sign.
Expr WholeSpectrum(Composition& c, const Expr& x, int64_t length) {
  std::vector<int64_t> mirrored;
  for (int64_t k = (length - 1) / 2; k > 0; --k) mirrored.push_back(k);
  const int64_t count = static_cast<int64_t>(mirrored.size());
  const Expr other = x.Gathered(c.Ints({count}, mirrored), 1) *
                     c.Numbers(x.dtype(), {2}, {1, -1});
  return Concatenated({x, other}, 1);
}

// The line truncated, or padded with zeros.
Expr OfLength(const Expr& x, int64_t length) {
  return x.Padded(1, 0, length - x.dim(1));
}

struct DftSpec {
  int64_t axis;
  int64_t length;
  bool inverse;
  bool onesided;
};

absl::StatusOr<DftSpec> ReadDft(NodeImport& node) {
  const TensorType& x = node.type(0);
  const int64_t parts = x.rank() > 1 ? x.dims.back() : 0;
  if (parts != 1 && parts != 2) {
    return node.Invalid(x.ToString(),
                        "a last dimension of 1, or of 2 for complex numbers");
  }
  DftSpec spec = {0, 0, node.Flag("inverse", false),
                  node.Flag("onesided", false)};
  int64_t axis = node.opset() < 20 ? node.Int("axis", 1) : -2;
  if (node.has_input(2)) {
    PARTITA_ASSIGN_OR_RETURN(axis,
                             node.IntInput(2, "axis", -x.rank(), x.rank() - 1));
  }
  PARTITA_ASSIGN_OR_RETURN(spec.axis, node.Axis(axis, x.rank()));
  if (spec.axis == x.rank() - 1) {
    return node.Invalid(absl::StrCat("axis ", axis),
                        "an axis before the last, which has the parts");
  }
  if (spec.onesided && (parts == 2) != spec.inverse) {
    return node.Invalid(absl::StrCat("onesided = 1 of ", x.ToString()),
                        spec.inverse ? "complex numbers" : "real numbers");
  }
  const int64_t extent = x.dims[spec.axis];
  spec.length = spec.onesided && spec.inverse
                    ? std::max<int64_t>(2 * (extent - 1), 0)
                    : extent;
  if (node.has_input(1)) {
    PARTITA_ASSIGN_OR_RETURN(
        spec.length, node.IntInput(1, "dft_length", 1, int64_t{1} << 30));
  }
  if (spec.length < 1) {
    return node.Invalid(x.ToString(), "elements to transform");
  }
  // Half of a longer spectrum would be mirrored first.
  if (spec.length > kMaxLength) return CheckSteps(node, spec.length);
  return spec;
}

Expr Transformed(Composition& c, const Expr& x, const DftSpec& spec) {
  const double scale = spec.inverse ? 1 / static_cast<double>(spec.length) : 1;
  const Transform t = {spec.length, spec.inverse, scale};
  if (!spec.onesided) {
    return Transformed(c, OfLength(x, spec.length), t, spec.length);
  }
  const int64_t half = spec.length / 2 + 1;
  if (!spec.inverse) {
    return Transformed(c, OfLength(x, spec.length), t, half);
  }
  const Expr whole = WholeSpectrum(c, OfLength(x, half), spec.length);
  return Transformed(c, whole, t, spec.length).Sliced(2, 0, 1);
}

absl::Status Dft(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(const DftSpec spec, ReadDft(node));
  Composition c(node);
  const Shape dims = node.type(0).dims;
  // The axis last, before the parts.
  std::vector<int64_t> perm;
  std::vector<int64_t> outer;
  for (int64_t d = 0; d + 1 < node.rank(0); ++d) {
    if (d == spec.axis) continue;
    perm.push_back(d);
    outer.push_back(dims[d]);
  }
  perm.push_back(spec.axis);
  perm.push_back(node.rank(0) - 1);
  const Expr lines = c.Input(0).Transposed(perm).Reshaped(
      {Product(outer), dims[spec.axis], dims.back()});
  const Expr spectra = Transformed(c, lines, spec);
  std::vector<int64_t> shape = outer;
  shape.push_back(spectra.dim(1));
  shape.push_back(spectra.dim(2));
  std::vector<int64_t> back(perm.size());
  for (size_t d = 0; d < perm.size(); ++d) {
    back[perm[d]] = static_cast<int64_t>(d);
  }
  return c.Return(spectra.Reshaped(shape).Transposed(back));
}

struct StftSpec {
  int64_t step;
  int64_t length;
  int64_t frames;
  bool onesided;
};

absl::StatusOr<StftSpec> ReadStft(NodeImport& node) {
  const TensorType& x = node.type(0);
  const bool complex = x.rank() == 3 && x.dims[2] == 2;
  if (x.rank() != 3 || (x.dims[2] != 1 && !complex)) {
    return node.Invalid(x.ToString(), "a signal [n, length, 1 or 2]");
  }
  StftSpec spec = {0, x.dims[1], 0, node.Flag("onesided", true)};
  constexpr int64_t kMost = int64_t{1} << 30;
  PARTITA_ASSIGN_OR_RETURN(spec.step, node.IntInput(1, "frame_step", 1, kMost));
  if (node.has_input(3)) {
    PARTITA_ASSIGN_OR_RETURN(spec.length,
                             node.IntInput(3, "frame_length", 1, kMost));
  } else if (node.has_input(2)) {
    spec.length = node.type(2).num_elements();
  }
  if (node.has_input(2) && node.type(2).dims != Shape{spec.length}) {
    return node.Invalid(absl::StrCat("a window ", node.type(2).ToString()),
                        absl::StrCat(spec.length, " elements, as a frame"));
  }
  if (spec.length < 1 || spec.length > x.dims[1]) {
    return node.Invalid(
        absl::StrCat("frames of ", spec.length),
        absl::StrCat("1..", x.dims[1], ", the length of the signal"));
  }
  if (complex && spec.onesided) {
    return node.Invalid("onesided = 1 of a complex signal", "onesided = 0");
  }
  spec.frames = (x.dims[1] - spec.length) / spec.step + 1;
  return spec;
}

absl::Status Stft(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(const StftSpec spec, ReadStft(node));
  Composition c(node);
  const int64_t signals = node.type(0).dims[0];
  const int64_t parts = node.type(0).dims[2];
  const Expr starts = c.Iota(0, spec.frames) * static_cast<double>(spec.step);
  const Expr indices =
      starts.Reshaped({spec.frames, 1}) + c.Iota(0, spec.length);
  Expr frames = c.Input(0).Gathered(indices, 1);
  if (node.has_input(2)) {
    frames = frames * c.Input(2).Reshaped({spec.length, 1});
  }
  const Expr lines =
      frames.Reshaped({signals * spec.frames, spec.length, parts});
  const int64_t results = spec.onesided ? spec.length / 2 + 1 : spec.length;
  return c.Return(
      Transformed(c, lines, {spec.length, /*inverse=*/false}, results)
          .Reshaped({signals, spec.frames, results, 2}));
}

constexpr ConverterRow kRows[] = {
    {"DFT", Dft, 1, 1, "axis inverse onesided"},
    {"STFT", Stft, 2, 1, "onesided"},
};

}  // namespace

extern constinit const ConverterFamily kFourierConverters = {kRows};

}  // namespace partita
