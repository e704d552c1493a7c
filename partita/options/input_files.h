// Prevents a call from overwriting the files that it reads, and its outputs
// from overwriting each other.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_OPTIONS_INPUT_FILES_H_
#define PARTITA_PARTITA_OPTIONS_INPUT_FILES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/literal_pool.h"
#include "partita/options/arguments.h"
#include "partita/options/spelling.h"

namespace partita {

// The files that one call reads, by its arguments, and those that its flags
// write.
class InputFiles {
 public:
  // The operand and the files of flags; for a folder, all files in it. `flags`
  // are the call's.
  InputFiles(const Arguments& arguments, absl::Span<const FlagDef> flags);

  // The files with constants, once the operand is read: its own, and others
  // that a model or a plan refers to.
  void AddWeights(const LiteralPool& literals);

  // CalledWrongly if `path`, which --`flag` writes, is also read, or written by
  // another flag, by any name or link.
  absl::Status Keep(absl::string_view flag, const std::string& path) const;
  // The same for every flag that names one file to write.
  absl::Status Keep() const;

 private:
  struct InputFile {
    std::string role;
    std::string path;
  };
  struct OutputFile {
    std::string flag;
    std::string path;
  };
  void AddFlag(const FlagDef& flag, const std::string& value);
  absl::Status KeepInputs(absl::string_view flag,
                          const std::string& path) const;
  absl::Status KeepOutputs(absl::string_view flag,
                           const std::string& path) const;

  Spelling spelling_;
  std::vector<InputFile> inputs_;
  std::vector<OutputFile> outputs_;
};

}  // namespace partita

#endif  // PARTITA_PARTITA_OPTIONS_INPUT_FILES_H_
