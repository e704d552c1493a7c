// What a caller says about a model's open dimensions, shapes and values.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ONNX_IMPORT_OPTIONS_H_
#define PARTITA_GRAPH_ONNX_IMPORT_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "graph/number.h"

namespace partita {

struct ImportOptions {
  // Extents of symbolic dimensions, by the name that the model gives them; one
  // without a name (declared_type.h) is INPUT.POSITION, as in "x.0".
  std::map<std::string, int64_t> dims;
  // Whole shapes of inputs, by input name; they win over `dims`.
  std::map<std::string, std::vector<int64_t>> shapes;
  // Dimension 0 of every input where the model leaves it open: wins over both.
  std::optional<int64_t> batch;
  // Values of inputs that decide shapes or branches, by input name. Such an
  // input becomes a constant and is no input of the function any more.
  std::map<std::string, std::vector<Number>> values;
  std::string function = "main";  // its name
  // Float initializers of one dimension or more become variables, for training.
  // All are trainable but means and variances of batch norms.
  bool weights_as_variables = false;
  // Types of outputs and of values between the nodes that the model declares
  // otherwise than its nodes compute them: an error, or else a warning.
  bool strict_types = false;
  // Gets each warning; null: nobody is warned.
  std::function<void(absl::string_view)> warn = nullptr;
};

// What of ImportOptions an error is about: a field, or extents that `dims` or
// `shapes` gave and some node cannot compute with.
enum class ImportOption {
  kDims,
  kShapes,
  kValues,
  kGivenExtents,
  kStrictTypes
};

// The option that would mend an error of the importer, if one would: a program
// adds how its user gives it.
std::optional<ImportOption> MendingOption(const absl::Status& status);

// The same error, mended by `option`.
absl::Status MendedBy(ImportOption option, absl::Status status);

// The error of what the caller gave, which OptionOf (graph/option_error.h)
// knows as that of the field.
absl::Status GivenWrongly(ImportOption option, absl::string_view message);

// The error of a node that asks for the elements of a value: kValues would mend
// it, for these inputs, which decide that value.
absl::Status DecidedBy(const std::vector<std::string>& inputs,
                       absl::Status status);
std::vector<std::string> DecidingInputs(const absl::Status& status);
// "a, b and c", or what stands for inputs of no name.
std::string JoinedInputs(const std::vector<std::string>& inputs);

// The same error in other words: code and mending option stay.
absl::Status Reworded(const absl::Status& status, std::string message);

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_IMPORT_OPTIONS_H_
