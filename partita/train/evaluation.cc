// Counts correct answers, or sums squares.
// SPDX-License-Identifier: Apache-2.0

#include "partita/train/evaluation.h"

#include <cmath>
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
void AddAnswers(const HostTensor& log_probabilities, const HostTensor& labels,
                int64_t count, Evaluation& sum) {
  const int64_t classes = log_probabilities.type().dims.back();
  const absl::Span<const float> values = log_probabilities.data<float>();
  for (int64_t n = 0; n < count; ++n) {
    const int64_t label = labels.data<int64_t>()[n];
    if (label == kIgnoredLabel) continue;
    const absl::Span<const float> row = values.subspan(n * classes, classes);
    const int64_t answer = absl::c_max_element(row) - row.begin();
    *sum.correct += answer == label ? 1 : 0;
    sum.loss -= row[label];
    ++sum.labels;
  }
}

void AddSquares(const HostTensor& predictions, const HostTensor& labels,
                int64_t count, Evaluation& sum) {
  for (int64_t n = 0; n < count; ++n) {
    const double label = GetAsDouble(labels, n);  // f32 or f64
    if (std::isnan(label)) continue;
    const double difference = predictions.data<float>()[n] - label;
    sum.loss += difference * difference;
    ++sum.labels;
  }
}

// The counted part of a batch.
absl::Status AddBatch(const Session& session, const HostTensor& labels,
                      const BatchShare& share, Evaluation& sum) {
  PARTITA_ASSIGN_OR_RETURN(const HostTensor* found, session.GetOutput(0));
  const int64_t per_sample =
      labels.type().num_elements() / static_cast<int64_t>(share.samples.size());
  const int64_t count = share.num_counted * per_sample;
  if (sum.correct.has_value()) {
    AddAnswers(*found, labels, count, sum);
  } else {
    AddSquares(*found, labels, count, sum);
  }
  sum.samples += share.num_counted;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Evaluation> Evaluate(Session& session, SharedDataset dataset,
                                    int64_t batch_size,
                                    absl::FunctionRef<bool()> wants_stop,
                                    int workers) {
  PARTITA_RETURN_IF_ERROR(session.UseEntry("evaluate"));
  PARTITA_RETURN_IF_ERROR(CheckBatchInputs(session, *dataset, batch_size));
  PARTITA_ASSIGN_OR_RETURN(const int labels, dataset->FieldIndex(kLabelField));
  PARTITA_ASSIGN_OR_RETURN(
      const Sampler sampler,
      Sampler::Create(dataset->num_samples(), {.batch_size = batch_size,
                                               .shuffle = false,
                                               .last = LastBatch::kPad}));
  PARTITA_ASSIGN_OR_RETURN(
      const std::unique_ptr<Loader> loader,
      Loader::Create(dataset, sampler,
                     {.workers = workers, .buffers = workers + 2}));
  Evaluation sum;
  if (session.output_name(0) == kLogProbabilities) sum.correct = 0;
  while (true) {
    if (wants_stop()) return absl::CancelledError("evaluation was stopped");
    PARTITA_ASSIGN_OR_RETURN(const std::optional<LoadedBatch> batch,
                             loader->Next());
    if (!batch.has_value()) break;
    PARTITA_RETURN_IF_ERROR(BindBatch(*dataset, *batch, session));
    PARTITA_RETURN_IF_ERROR(session.Run());
    PARTITA_RETURN_IF_ERROR(
        AddBatch(session, batch->field(labels), batch->share(), sum));
  }
  sum.loss /= static_cast<double>(sum.labels);
  return sum;
}

}  // namespace partita
