// Counts right answers.
// SPDX-License-Identifier: Apache-2.0

#include "partita/train/evaluation.h"

#include <memory>
#include <optional>

#include "absl/algorithm/container.h"
#include "graph/status_macros.h"
#include "partita/train/batch_inputs.h"
#include "runtime/dataset/loader.h"
#include "runtime/dataset/sampler.h"

namespace partita {
namespace {

// Sums in the order of the samples: the same for every number of workers.
void Count(const HostTensor& log_probabilities, const HostTensor& labels,
           int64_t samples, Evaluation& sum) {
  const int64_t classes = log_probabilities.type().dims.back();
  const absl::Span<const float> values = log_probabilities.data<float>();
  for (int64_t n = 0; n < samples; ++n) {
    const absl::Span<const float> row = values.subspan(n * classes, classes);
    const int64_t label = labels.data<int64_t>()[n];
    const int64_t answer = absl::c_max_element(row) - row.begin();
    sum.correct += answer == label ? 1 : 0;
    sum.loss -= row[label];
    ++sum.samples;
  }
}

}  // namespace

absl::StatusOr<Evaluation> Evaluate(Session& session, SharedDataset dataset,
                                    int64_t batch_size) {
  PARTITA_RETURN_IF_ERROR(session.UseEntry("evaluate"));
  PARTITA_RETURN_IF_ERROR(CheckBatchInputs(session, *dataset, batch_size));
  PARTITA_ASSIGN_OR_RETURN(const int labels, dataset->FieldIndex(kLabelField));
  PARTITA_ASSIGN_OR_RETURN(
      const Sampler sampler,
      Sampler::Create(dataset->num_samples(), {.batch_size = batch_size,
                                               .shuffle = false,
                                               .last = LastBatch::kPad}));
  PARTITA_ASSIGN_OR_RETURN(const std::unique_ptr<Loader> loader,
                           Loader::Create(dataset, sampler, {}));
  Evaluation sum;
  while (true) {
    PARTITA_ASSIGN_OR_RETURN(const std::optional<LoadedBatch> batch,
                             loader->Next());
    if (!batch.has_value()) break;
    PARTITA_RETURN_IF_ERROR(BindBatch(*dataset, *batch, session));
    PARTITA_RETURN_IF_ERROR(session.Run());
    PARTITA_ASSIGN_OR_RETURN(const HostTensor* found,
                             session.GetOutput("log_probabilities"));
    Count(*found, batch->field(labels), batch->share().num_counted, sum);
  }
  sum.loss /= static_cast<double>(sum.samples);
  return sum;
}

}  // namespace partita
