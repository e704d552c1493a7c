// Reads or generates the inputs of a run.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/run_inputs.h"

#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/onnx/tested_model.h"
#include "graph/status_macros.h"
#include "tools/partita/tensor_file.h"

namespace partita {
namespace {

// Numbers like normalised data, the same for the same seed.
HostTensor RandomTensor(const TensorType& type, uint64_t seed) {
  HostTensor tensor(type);
  std::mt19937_64 bits(seed);
  for (int64_t i = 0; i < type.num_elements(); ++i) {
    const double unit = static_cast<double>(bits() >> 11) * 0x1p-53;
    SetFromDouble(tensor, i, IsFloat(type.dtype) ? 2 * unit - 1 : unit * 2);
  }
  return tensor;
}

absl::Status SetRandomInputs(Session& session, const Arguments& arguments) {
  PARTITA_ASSIGN_OR_RETURN(
      const int64_t seed,
      arguments.GetInt("seed", 0, 0, std::numeric_limits<int64_t>::max()));
  for (int i = 0; i < session.num_inputs(); ++i) {
    PARTITA_RETURN_IF_ERROR(session.SetInput(
        i,
        RandomTensor(session.input_type(i), static_cast<uint64_t>(seed + i))));
  }
  return absl::OkStatus();
}

// The session's refusal of what `given`, a flag with its value, says: a name
// that it does not have, or a tensor of another type.
absl::Status AsWrongCall(const absl::Status& status, absl::string_view given) {
  if (status.ok()) return status;
  return CalledWrongly(absl::StrCat(
      given, ": ", status.message(),
      absl::IsNotFound(status)
          ? ""
          : "; reshape or convert it, or compile the model for this shape"));
}

// Inputs of an ONNX model, whose files the import has compared with the types
// that it declares.
absl::Status SetReadInputs(Session& session, const std::string& folder,
                           const std::map<std::string, HostTensor>& inputs) {
  for (const auto& [name, tensor] : inputs) {
    PARTITA_RETURN_IF_ERROR(AsWrongCall(session.SetInput(name, tensor),
                                        absl::StrCat("--test-data ", folder)));
  }
  return absl::OkStatus();
}

absl::Status SetInputOfFlag(Session& session, const std::string& name,
                            const std::string& path, const HostTensor& tensor) {
  return AsWrongCall(session.SetInput(name, tensor),
                     absl::StrCat("--input ", name, "=", path));
}

// The inputs of --input. An ONNX model was read with them.
absl::Status SetNamedInputs(Session& session, const Arguments& arguments,
                            const TestInputs& inputs) {
  PARTITA_ASSIGN_OR_RETURN(const auto files,
                           arguments.GetBindings("input", BindingValue::kPath));
  for (const auto& [name, path] : files) {
    if (inputs.has_value()) {
      const auto read = inputs->find(name);
      if (read == inputs->end()) continue;  // a constant of the graph now
      PARTITA_RETURN_IF_ERROR(
          SetInputOfFlag(session, name, path, read->second));
      continue;
    }
    PARTITA_ASSIGN_OR_RETURN(const HostTensor tensor, ReadTensor(path));
    PARTITA_RETURN_IF_ERROR(SetInputOfFlag(session, name, path, tensor));
  }
  return absl::OkStatus();
}

// For a plan, or a model that is not ONNX: FOLDER/input_0.pb and so on, one for
// each input.
absl::Status SetOrderedInputs(Session& session, const std::string& folder) {
  PARTITA_RETURN_IF_ERROR(
      ExpectNoMoreTestData(folder, "input", session.num_inputs()));
  for (int i = 0; i < session.num_inputs(); ++i) {
    const std::string path = TestDataPath(folder, "input", i);
    PARTITA_ASSIGN_OR_RETURN(HostTensor tensor, ReadTensor(path));
    const absl::Status status = session.SetInput(
        i, AsDeclared(std::move(tensor), session.input_type(i)));
    PARTITA_RETURN_IF_ERROR(
        AsWrongCall(status, absl::StrCat("--test-data ", folder, ": ", path)));
  }
  return absl::OkStatus();
}

absl::Status SetTestInputs(Session& session, const std::string& folder,
                           const TestInputs& inputs) {
  PARTITA_RETURN_IF_ERROR(
      ExpectNoMoreTestData(folder, "output", session.num_outputs()));
  return inputs.has_value() ? SetReadInputs(session, folder, *inputs)
                            : SetOrderedInputs(session, folder);
}

}  // namespace

absl::Status SetInputs(Session& session, const Arguments& arguments,
                       const TestInputs& inputs) {
  if (arguments.has("test-data")) {
    return SetTestInputs(session, arguments.Get("test-data", ""), inputs);
  }
  PARTITA_RETURN_IF_ERROR(SetRandomInputs(session, arguments));
  return SetNamedInputs(session, arguments, inputs);
}

}  // namespace partita
