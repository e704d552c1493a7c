// Options of a compilation as KEY=VALUE.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_C_API_COMPILE_OPTIONS_H_
#define PARTITA_PARTITA_C_API_COMPILE_OPTIONS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/onnx/import_options.h"
#include "partita/compile.h"
#include "runtime/plan/plan_file.h"

namespace partita::c_api {

// What the options of one compilation say.
struct CompileSettings {
  std::string machine_file;  // empty: this host
  ImportOptions import;      // for ONNX models
  // The keys among the options that set `import`, in the order given.
  std::vector<std::string> import_keys;
  CompileOptions compile;
  bool has_strategy = false;
  PlanFileOptions file;
};

// The keys, which are the flags of `partita compile`: "machine", "dim", ...
struct CompileKey {
  std::string name;
  bool repeats = false;  // may be given several times
};
std::vector<CompileKey> CompileKeys();

// InvalidArgument for a text without "=", an unknown key, with the nearest one,
// a key that is repeated and may not be, and a value out of range. Messages
// begin with the key. What depends on model or machine is for the compiler to
// check.
absl::StatusOr<CompileSettings> ReadCompileOptions(
    absl::Span<const absl::string_view> options);

}  // namespace partita::c_api

#endif  // PARTITA_PARTITA_C_API_COMPILE_OPTIONS_H_
