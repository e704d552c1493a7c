// ONNX's windows and mel scale.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <numbers>
#include <optional>

#include "absl/strings/str_cat.h"
#include "graph/onnx/composition.h"
#include "graph/onnx/node_import.h"
#include "graph/onnx/tensor_proto.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;

absl::StatusOr<DType> OutputType(NodeImport& node) {
  const std::optional<DType> dtype =
      DTypeOfOnnx(node.Int("output_datatype", 1));
  if (dtype.has_value()) return *dtype;
  return node.Unsupported("attribute output_datatype", "a type of numbers");
}

// --- windows ---

// The sum of coefficients[k] cos(k t) over one period; periodic windows omit
// its end.
absl::Status Window(NodeImport& node, absl::Span<const double> coefficients) {
  PARTITA_ASSIGN_OR_RETURN(const int64_t size,
                           node.IntInput(0, "size", 0, kMaxTable));
  PARTITA_ASSIGN_OR_RETURN(const DType dtype, OutputType(node));
  const int64_t steps = size - (node.Flag("periodic", true) ? 0 : 1);
  std::vector<double> values;
  for (int64_t i = 0; i < size; ++i) {
    // A window of one element is its middle.
    const double at =
        steps == 0 ? 0.5 : static_cast<double>(i) / static_cast<double>(steps);
    double sum = 0;
    for (size_t k = 0; k < coefficients.size(); ++k) {
      sum += coefficients[k] * std::cos(kTurn * static_cast<double>(k) * at);
    }
    values.push_back(sum);
  }
  Composition c(node);
  return c.Return(c.Numbers(dtype, {size}, values));
}

absl::Status Blackman(NodeImport& node) {
  return Window(node, {0.42, -0.5, 0.08});
}
absl::Status Hamming(NodeImport& node) {
  return Window(node, {25.0 / 46, -21.0 / 46});
}
absl::Status Hann(NodeImport& node) { return Window(node, {0.5, -0.5}); }

// --- mel scale ---

absl::StatusOr<double> Hertz(NodeImport& node, int i, absl::string_view what) {
  PARTITA_ASSIGN_OR_RETURN(const HostTensor* value, node.Constant(i, what));
  const double hertz =
      value->type().num_elements() == 1 ? GetAsDouble(*value, 0) : -1;
  if (hertz >= 0 && std::isfinite(hertz)) return hertz;
  return node.Invalid(absl::StrCat(what, " of ", hertz, " Hz"),
                      "one frequency of 0 or more");
}

// The starts, peaks and ends of the triangles, as bins of the spectrum.
std::vector<int64_t> MelEdges(int64_t bands, int64_t length, int64_t rate,
                              double low, double high) {
  const auto mel = [](double f) { return 2595 * std::log10(1 + f / 700); };
  const double step = (mel(high) - mel(low)) / static_cast<double>(bands + 2);
  std::vector<int64_t> edges;
  for (int64_t i = 0; i < bands + 2; ++i) {
    const double at = static_cast<double>(i) * step + mel(low);
    const double hertz = 700 * (std::pow(10, at / 2595) - 1);
    edges.push_back(static_cast<int64_t>(std::floor(
        static_cast<double>(length + 1) * hertz / static_cast<double>(rate))));
  }
  return edges;
}

// Sets the column of one band, of `bands`.
void SetTriangle(const int64_t* edges, int64_t band, int64_t bands,
                 std::vector<double>& table) {
  const int64_t rise = edges[1] - edges[0];
  const int64_t fall = edges[2] - edges[1];
  if (rise == 0) table[edges[1] * bands + band] = 1;
  for (int64_t j = edges[0]; rise > 0 && j <= edges[1]; ++j) {
    table[j * bands + band] =
        static_cast<double>(j - edges[0]) / static_cast<double>(rise);
  }
  for (int64_t j = edges[1]; fall > 0 && j < edges[2]; ++j) {
    table[j * bands + band] =
        static_cast<double>(edges[2] - j) / static_cast<double>(fall);
  }
}

absl::Status MelWeightMatrix(NodeImport& node) {
  constexpr int64_t kMost = int64_t{1} << 26;
  PARTITA_ASSIGN_OR_RETURN(const int64_t bands,
                           node.IntInput(0, "num_mel_bins", 1, kMost));
  PARTITA_ASSIGN_OR_RETURN(const int64_t length,
                           node.IntInput(1, "dft_length", 1, kMost));
  PARTITA_ASSIGN_OR_RETURN(const int64_t rate,
                           node.IntInput(2, "sample_rate", 1, kMost));
  PARTITA_ASSIGN_OR_RETURN(const double low,
                           Hertz(node, 3, "lower_edge_hertz"));
  PARTITA_ASSIGN_OR_RETURN(const double high,
                           Hertz(node, 4, "upper_edge_hertz"));
  PARTITA_ASSIGN_OR_RETURN(const DType dtype, OutputType(node));
  const int64_t bins = length / 2 + 1;
  if (low > high || high > static_cast<double>(rate) / 2) {
    return node.Invalid(
        absl::StrCat("frequencies from ", low, " to ", high, " Hz"),
        absl::StrCat("some of 0 to ", static_cast<double>(rate) / 2,
                     " Hz, half the sample rate"));
  }
  if (bins * bands > kMaxTable) {
    return node.Unsupported(absl::StrCat(bins, " bins and ", bands, " bands"),
                            absl::StrCat("a table of at most ", kMaxTable));
  }
  const std::vector<int64_t> edges = MelEdges(bands, length, rate, low, high);
  std::vector<double> table(bins * bands, 0);
  for (int64_t band = 0; band < bands; ++band) {
    SetTriangle(edges.data() + band, band, bands, table);
  }
  Composition c(node);
  return c.Return(c.Numbers(dtype, {bins, bands}, table));
}

constexpr ConverterRow kRows[] = {
    {"BlackmanWindow", Blackman, 1, 1, "output_datatype periodic"},
    {"HammingWindow", Hamming, 1, 1, "output_datatype periodic"},
    {"HannWindow", Hann, 1, 1, "output_datatype periodic"},
    {"MelWeightMatrix", MelWeightMatrix, 5, 1, "output_datatype"},
};

}  // namespace

extern constinit const ConverterFamily kSignalConverters = {kRows};

}  // namespace partita
