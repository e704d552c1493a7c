// Reads or makes the inputs of a run.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/run_inputs.h"

#include <cstdint>
#include <filesystem>
#include <limits>
#include <random>
#include <string>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "tools/partita/tensor_file.h"

namespace partita {
namespace {

// Numbers like those of normalised data, the same for the same seed.
HostTensor RandomTensor(const TensorType& type, uint64_t seed) {
  HostTensor tensor(type);
  std::mt19937_64 bits(seed);
  for (int64_t i = 0; i < type.num_elements(); ++i) {
    const double unit = static_cast<double>(bits() >> 11) * 0x1p-53;
    SetFromDouble(tensor, i, IsFloat(type.dtype) ? 2 * unit - 1 : unit * 2);
  }
  return tensor;
}

// A file behind the last one would be left out.
absl::Status ExpectNoMore(const std::string& folder, const char* kind,
                          int count) {
  const std::string path = absl::StrCat(folder, "/", kind, "_", count, ".pb");
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": found a file behind the model's ", count, " ", kind,
                   count == 1 ? "" : "s",
                   "; expected none; take the folder of its test data"));
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

absl::Status SetNamedInputs(Session& session, const Arguments& arguments) {
  PARTITA_ASSIGN_OR_RETURN(const auto files, arguments.GetBindings("input"));
  for (const auto& [input, path] : files) {
    PARTITA_ASSIGN_OR_RETURN(const HostTensor tensor, ReadTensor(path));
    PARTITA_RETURN_IF_ERROR(session.SetInput(input, tensor));
  }
  return absl::OkStatus();
}

// FOLDER/input_0.pb and so on, as many as there are inputs.
absl::Status SetTestInputs(Session& session, const std::string& folder) {
  PARTITA_RETURN_IF_ERROR(ExpectNoMore(folder, "input", session.num_inputs()));
  PARTITA_RETURN_IF_ERROR(
      ExpectNoMore(folder, "output", session.num_outputs()));
  for (int i = 0; i < session.num_inputs(); ++i) {
    PARTITA_ASSIGN_OR_RETURN(
        const HostTensor tensor,
        ReadTensor(absl::StrCat(folder, "/input_", i, ".pb")));
    PARTITA_RETURN_IF_ERROR(session.SetInput(i, tensor));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status SetInputs(Session& session, const Arguments& arguments) {
  if (arguments.has("test-data")) {
    return SetTestInputs(session, arguments.Get("test-data", ""));
  }
  PARTITA_RETURN_IF_ERROR(SetRandomInputs(session, arguments));
  return SetNamedInputs(session, arguments);
}

}  // namespace partita
