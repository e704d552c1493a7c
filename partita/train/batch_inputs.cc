// Finds the field of each input by its name.
// SPDX-License-Identifier: Apache-2.0

#include "partita/train/batch_inputs.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "graph/text/number_text.h"
#include "runtime/tensor_file/bad_file.h"

namespace partita {
namespace {

// The first element that is not finite. A label may be unknown.
std::optional<int64_t> NotFiniteIn(const HostTensor& values, bool are_labels,
                                   int64_t elements) {
  if (!IsFloat(values.type().dtype)) return std::nullopt;
  for (int64_t i = 0; i < elements; ++i) {
    const double value = GetAsDouble(values, i);
    if (std::isinf(value) || (std::isnan(value) && !are_labels)) return i;
  }
  return std::nullopt;
}

bool IsUnknown(const HostTensor& labels, int64_t i) {
  if (IsFloat(labels.type().dtype)) return std::isnan(GetAsDouble(labels, i));
  return GetNumber(labels, i) == Number(kIgnoredLabel);
}

// Counts among the first `elements`.
int64_t CountKnown(const HostTensor& labels, int64_t elements) {
  int64_t known = 0;
  for (int64_t i = 0; i < elements; ++i) known += IsUnknown(labels, i) ? 0 : 1;
  return known;
}

std::string ValueText(const HostTensor& values, int64_t i) {
  if (!IsFloat(values.type().dtype)) return NumberText(GetNumber(values, i));
  return std::isnan(GetAsDouble(values, i)) ? "nan" : "infinity";
}

std::string FaultText(const DatasetField& field, int64_t sample,
                      const std::string& fault) {
  return absl::StrCat(field.source, field.source.empty() ? "" : ": ", "sample ",
                      sample, ": ", field.name, ": ", fault);
}

std::string NotFiniteText(const DatasetField& field, int64_t sample,
                          const HostTensor& values, int64_t i) {
  return FaultText(
      field, sample,
      absl::StrCat(ValueText(values, i), "; expected finite numbers"));
}

}  // namespace

std::string FindNotFinite(const Dataset& dataset, const LoadedBatch& batch) {
  const BatchShare& share = batch.share();
  for (size_t f = 0; f < dataset.fields().size(); ++f) {
    const DatasetField& field = dataset.fields()[f];
    const HostTensor& values = batch.field(static_cast<int>(f));
    const bool are_labels = field.name == kLabelField;
    const int64_t per_sample = field.type.num_elements();
    const int64_t elements = share.num_counted * per_sample;
    if (are_labels && elements > 0 && CountKnown(values, elements) == 0) {
      return FaultText(field, share.samples[0],
                       absl::StrCat(ValueText(values, 0),
                                    ", as all of the batch; expected a label "
                                    "that is known"));
    }
    const std::optional<int64_t> place =
        NotFiniteIn(values, are_labels, elements);
    if (!place.has_value()) continue;
    return NotFiniteText(field, share.samples[*place / per_sample], values,
                         *place);
  }
  return "";
}

absl::StatusOr<std::string> FindNotFiniteSample(const Dataset& dataset) {
  std::vector<HostTensor> values;
  std::vector<std::byte*> to;
  for (const DatasetField& field : dataset.fields()) {
    to.push_back(values.emplace_back(field.type).bytes());
  }
  for (int64_t sample = 0; sample < dataset.num_samples(); ++sample) {
    PARTITA_RETURN_IF_ERROR(dataset.CopySample(sample, to));
    for (size_t f = 0; f < values.size(); ++f) {
      const DatasetField& field = dataset.fields()[f];
      const std::optional<int64_t> place = NotFiniteIn(
          values[f], field.name == kLabelField, field.type.num_elements());
      if (!place.has_value()) continue;
      return NotFiniteText(field, sample, values[f], *place);
    }
  }
  return "";
}

absl::Status CheckBatchInputs(const Session& session, const Dataset& dataset,
                              int64_t batch_size) {
  for (int i = 0; i < session.num_inputs(); ++i) {
    PARTITA_ASSIGN_OR_RETURN(const int field,
                             dataset.FieldIndex(session.input_name(i)));
    TensorType found = dataset.fields()[field].type;
    found.dims.insert(found.dims.begin(), batch_size);
    if (found == session.input_type(i)) continue;
    const std::string& source = dataset.fields()[field].source;
    return BadFile(absl::StrCat(source.empty() ? "dataset" : source, ": field ",
                                session.input_name(i)),
                   absl::StrCat("batches ", found.ToString()),
                   session.input_type(i).ToString(),
                   "give the dataset that the model was made for");
  }
  return absl::OkStatus();
}

absl::Status BindBatch(const Dataset& dataset, const LoadedBatch& batch,
                       Session& session) {
  for (int i = 0; i < session.num_inputs(); ++i) {
    PARTITA_ASSIGN_OR_RETURN(const int field,
                             dataset.FieldIndex(session.input_name(i)));
    PARTITA_RETURN_IF_ERROR(session.BindInput(i, batch.field(field).bytes()));
  }
  return absl::OkStatus();
}

int64_t CountKnownLabels(const Dataset& dataset, const LoadedBatch& batch) {
  const int64_t samples = batch.share().num_counted;
  const absl::StatusOr<int> field = dataset.FieldIndex(kLabelField);
  if (!field.ok()) return samples;
  const int64_t per_sample = dataset.fields()[*field].type.num_elements();
  return CountKnown(batch.field(*field), samples * per_sample);
}

void IgnoreFilling(const Dataset& dataset, int64_t label, LoadedBatch& batch) {
  const absl::StatusOr<int> field = dataset.FieldIndex(kLabelField);
  if (!field.ok()) return;  // there are no labels
  HostTensor& labels = batch.field(*field);
  const Number ignored = IsFloat(labels.type().dtype)
                             ? Number(std::numeric_limits<double>::quiet_NaN())
                             : Number(label);
  const int64_t samples = static_cast<int64_t>(batch.share().samples.size());
  const int64_t per_sample = labels.type().num_elements() / samples;
  for (int64_t i = batch.share().num_counted * per_sample;
       i < samples * per_sample; ++i) {
    SetNumber(labels, i, ignored);
  }
}

}  // namespace partita
