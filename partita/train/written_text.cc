// Draws one token after another.
// SPDX-License-Identifier: Apache-2.0

#include "partita/train/written_text.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"
#include "graph/builder/random_tensor.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

int32_t Likeliest(absl::Span<const float> log_probabilities) {
  return static_cast<int32_t>(absl::c_max_element(log_probabilities) -
                              log_probabilities.begin());
}

// The token at which the cumulative weight exceeds `unit` of the total.
int32_t Drawn(absl::Span<const float> log_probabilities, double temperature,
              double unit) {
  const int32_t likeliest = Likeliest(log_probabilities);
  std::vector<double> sums;
  double sum = 0;
  for (float x : log_probabilities) {
    const double below = static_cast<double>(x) - log_probabilities[likeliest];
    sum += std::exp(below / temperature);
    sums.push_back(sum);
  }
  const auto passed = absl::c_upper_bound(sums, unit * sum);
  return passed == sums.end() ? likeliest
                              : static_cast<int32_t>(passed - sums.begin());
}

// The last tokens, at the start of the first window; the model does not see
// what follows them.
HostTensor Windows(absl::Span<const int32_t> tokens, const TensorType& type) {
  HostTensor window(type);
  const size_t seen =
      std::min(tokens.size(), static_cast<size_t>(type.dims[1]));
  absl::c_copy(tokens.subspan(tokens.size() - seen),
               window.data<int64_t>().begin());
  return window;
}

}  // namespace

absl::StatusOr<std::string> WriteText(Session& session,
                                      const Vocabulary& vocabulary,
                                      int32_t first,
                                      const WritingOptions& options) {
  PARTITA_RETURN_IF_ERROR(session.UseEntry("evaluate"));
  const int64_t context = session.input_type(0).dims[1];
  std::vector<int32_t> tokens = {first};
  for (int64_t i = 0; i < options.characters; ++i) {
    PARTITA_RETURN_IF_ERROR(
        session.SetInput(0, Windows(tokens, session.input_type(0))));
    PARTITA_RETURN_IF_ERROR(session.Run());
    PARTITA_ASSIGN_OR_RETURN(const HostTensor* found, session.GetOutput(0));
    const int64_t place =
        std::min(static_cast<int64_t>(tokens.size()), context) - 1;
    const absl::Span<const float> next = found->data<float>().subspan(
        place * vocabulary.size(), vocabulary.size());
    tokens.push_back(
        options.temperature == 0
            ? Likeliest(next)
            : Drawn(next, options.temperature, RandomUnit(options.seed, i)));
  }
  return vocabulary.Decode(absl::MakeConstSpan(tokens).subspan(1));
}

}  // namespace partita
