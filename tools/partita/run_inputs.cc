// Reads or makes the inputs of a run.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/run_inputs.h"

#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

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

using Bindings = std::vector<std::pair<std::string, std::string>>;

// Input and file of each --input.
absl::StatusOr<Bindings> ReadBindings(const Arguments& arguments) {
  Bindings bindings;
  std::set<std::string> given;
  for (const std::string& text : arguments.GetAll("input")) {
    PARTITA_ASSIGN_OR_RETURN(auto binding, SplitBinding("input", text));
    if (!given.insert(binding.first).second) {
      return CalledWrongly(absl::StrCat("--input: found ", binding.first,
                                        " twice; expected one file for it"));
    }
    bindings.push_back(std::move(binding));
  }
  return bindings;
}

}  // namespace

absl::Status SetInputs(Session& session, const Arguments& arguments) {
  PARTITA_ASSIGN_OR_RETURN(
      const int64_t seed,
      arguments.GetInt("seed", 0, 0, std::numeric_limits<int64_t>::max()));
  for (int i = 0; i < session.num_inputs(); ++i) {
    PARTITA_RETURN_IF_ERROR(session.SetInput(
        i,
        RandomTensor(session.input_type(i), static_cast<uint64_t>(seed + i))));
  }
  PARTITA_ASSIGN_OR_RETURN(const Bindings bindings, ReadBindings(arguments));
  for (const auto& binding : bindings) {
    PARTITA_ASSIGN_OR_RETURN(const HostTensor tensor,
                             ReadTensor(binding.second));
    PARTITA_RETURN_IF_ERROR(session.SetInput(binding.first, tensor));
  }
  const std::string folder = arguments.Get("test-data", "");
  for (int i = 0; !folder.empty() && i < session.num_inputs(); ++i) {
    PARTITA_ASSIGN_OR_RETURN(
        const HostTensor tensor,
        ReadTensor(absl::StrCat(folder, "/input_", i, ".pb")));
    PARTITA_RETURN_IF_ERROR(session.SetInput(i, tensor));
  }
  return absl::OkStatus();
}

}  // namespace partita
