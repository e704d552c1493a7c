// Compares files by device and inode, so that links count.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/same_file.h"

#include <sys/stat.h>

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

// A path, and what the caller knows it as.
struct InputFile {
  std::string role;
  std::string path;
};

// "FILE", or the file of "NAME=FILE".
std::string FileOf(const FlagDef& flag, const std::string& value) {
  if (flag.file != FileUse::kReadsBound) return value;
  return value.substr(value.rfind('=') + 1);
}

std::vector<InputFile> InputsOf(const Arguments& arguments,
                                absl::Span<const FlagDef> flags) {
  std::vector<InputFile> inputs;
  for (const std::string& path : arguments.positional()) {
    inputs.push_back({"the operand", path});
  }
  for (const FlagDef& flag : flags) {
    if (flag.file != FileUse::kReads && flag.file != FileUse::kReadsBound) {
      continue;
    }
    for (const std::string& value : arguments.GetAll(flag.name)) {
      inputs.push_back(
          {absl::StrCat("the file of --", flag.name), FileOf(flag, value)});
    }
  }
  return inputs;
}

// False if either is not there. Devices and pipes keep nothing to lose.
bool SameFile(const std::string& a, const std::string& b) {
  struct stat one, other;
  return stat(a.c_str(), &one) == 0 && stat(b.c_str(), &other) == 0 &&
         S_ISREG(one.st_mode) && one.st_dev == other.st_dev &&
         one.st_ino == other.st_ino;
}

}  // namespace

absl::Status KeepInputs(absl::string_view flag, const std::string& path,
                        const Arguments& arguments,
                        absl::Span<const FlagDef> flags) {
  for (const InputFile& input : InputsOf(arguments, flags)) {
    if (!SameFile(path, input.path)) continue;
    return CalledWrongly(
        absl::StrCat("--", flag, ": found ", path, ", which is ", input.role,
                     " and would be overwritten; expected another file"));
  }
  return absl::OkStatus();
}

absl::Status KeepInputs(const Arguments& arguments,
                        absl::Span<const FlagDef> flags) {
  for (const FlagDef& flag : flags) {
    if (flag.file != FileUse::kWrites) continue;
    for (const std::string& path : arguments.GetAll(flag.name)) {
      PARTITA_RETURN_IF_ERROR(KeepInputs(flag.name, path, arguments, flags));
    }
  }
  return absl::OkStatus();
}

}  // namespace partita
