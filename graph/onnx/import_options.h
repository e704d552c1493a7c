// The caller's open dimensions, shapes and values of a model.
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
  // Extents of symbolic dimensions, by their names in the model; one without a
  // name (declared_type.h) is INPUT.POSITION, as in "x.0".
  std::map<std::string, int64_t> dims;
  // Whole shapes of inputs, by input name; they take precedence over `dims`.
  std::map<std::string, std::vector<int64_t>> shapes;
  // Dimension 0 of every input that leaves it open; takes precedence over both.
  std::optional<int64_t> batch;
  // Values of inputs that decide shapes or branches, by input name. Such an
  // input becomes a constant and is no longer an input of the function.
  std::map<std::string, std::vector<Number>> values;
  std::string function = "main";  // its name
  // Float initializers of one dimension or more become variables, for training.
  // All are trainable except means and variances of batch norms.
  bool weights_as_variables = false;
  // Declared types of outputs and of values between nodes that differ from what
  // the nodes compute: an error if true, otherwise a warning.
  bool strict_types = false;
  // Receives each warning; null: none.
  std::function<void(absl::string_view)> warn = nullptr;
};

// The part of ImportOptions that an error is about: a field, or extents from
// `dims` or `shapes` with which some node cannot compute. Or the inputs that
// are given beside the options (tested_model.h).
enum class ImportOption {
  kDims,
  kShapes,
  kValues,
  kGivenExtents,
  kStrictTypes,
  kInputs
};

// The option that would fix an error of the importer, if one would; a program
// adds the name of its flag.
std::optional<ImportOption> RemedyOption(const absl::Status& status);

// The same error, fixable by `option`.
absl::Status WithRemedyOption(ImportOption option, absl::Status status);

// The error of what `option` gives for `name`, a dimension or an input.
// OptionOf (graph/option_error.h) maps it to the field.
absl::Status GivenWrongly(ImportOption option, absl::string_view name,
                          absl::string_view message);

struct GivenOption {
  ImportOption option;
  std::string name;
};
// What GivenWrongly was called with; nothing for other errors.
std::optional<GivenOption> GivenOptionOf(const absl::Status& status);

// The error of a node that needs the elements of a value: kValues would fix it,
// for these inputs, which decide that value.
absl::Status DecidedBy(const std::vector<std::string>& inputs,
                       absl::Status status);
std::vector<std::string> DecidingInputs(const absl::Status& status);
// "input a", "inputs a, b".
std::string JoinedInputs(const std::vector<std::string>& inputs);

// The same error with another message: code and option stay.
absl::Status ReplaceMessage(const absl::Status& status, std::string message);

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_IMPORT_OPTIONS_H_
