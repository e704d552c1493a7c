// The flags that bind what an ONNX model leaves open.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_OPTIONS_IMPORT_FLAGS_H_
#define PARTITA_PARTITA_OPTIONS_IMPORT_FLAGS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/onnx/import_options.h"
#include "partita/options/arguments.h"

namespace partita {

// The flags of ReadImportOptions.
inline constexpr FlagDef kModelFlags[] = {
    {"dim", "NAME=N", "the extent of a symbolic dimension; repeatable", nullptr,
     FileUse::kNone, true},
    {"shape", "INPUT=N,N,..",
     "the shape of an input, or INPUT=scalar; repeatable", nullptr,
     FileUse::kNone, true},
    {"bind", "INPUT=V,V,..",
     "the value of an input that decides a shape; repeatable", nullptr,
     FileUse::kNone, true},
    {"strict-types", nullptr,
     "refuse a model that declares other shapes of its outputs and values than "
     "its nodes compute; default: a warning. Another element type is always "
     "refused"},
};

// CalledWrongly for a value that is wrong whatever the model.
absl::StatusOr<ImportOptions> ReadImportOptions(const Arguments& arguments);

// CalledWrongly if one is given: the model at `path` has fixed shapes.
absl::Status RefuseImportFlags(const std::string& path,
                               const Arguments& arguments);

// The importer's error with the flag that caused it, or the one that helps.
absl::Status WithFlagHint(const Arguments& arguments,
                          const absl::Status& status);

}  // namespace partita

#endif  // PARTITA_PARTITA_OPTIONS_IMPORT_FLAGS_H_
