// Compares files by device and inode, so links are recognized.
// SPDX-License-Identifier: Apache-2.0

#include "partita/options/input_files.h"

#include <sys/stat.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

// False if either does not exist. Devices and pipes have nothing to lose.
bool SameFile(const std::string& a, const std::string& b) {
  struct stat one, other;
  return stat(a.c_str(), &one) == 0 && stat(b.c_str(), &other) == 0 &&
         S_ISREG(one.st_mode) && one.st_dev == other.st_dev &&
         one.st_ino == other.st_ino;
}

// For files that do not exist yet; links in the path count.
bool SamePath(const std::string& a, const std::string& b) {
  struct stat found;
  if (stat(a.c_str(), &found) == 0 || stat(b.c_str(), &found) == 0) {
    return false;
  }
  namespace files = std::filesystem;
  std::error_code error;
  const auto one = files::weakly_canonical(files::absolute(a), error);
  return !error && one == files::weakly_canonical(files::absolute(b), error);
}

// Empty for a folder that cannot be read: its reader reports that.
std::vector<std::string> FilesIn(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error), end;
  for (; !error && entry != end; entry.increment(error)) {
    files.push_back(entry->path().string());
  }
  return files;
}

// The other text that goes there.
absl::Status KeepStreams(absl::string_view named, const std::string& path) {
  for (const auto& [stream, name] :
       {std::pair("/dev/stdout", "standard output"),
        std::pair("/dev/stderr", "standard error")}) {
    if (!SameFile(path, stream)) continue;
    return CalledWrongly(absl::StrCat(named, ": found ", path, ", where ", name,
                                      " is written to; expected another file"));
  }
  return absl::OkStatus();
}

}  // namespace

InputFiles::InputFiles(const Arguments& arguments,
                       absl::Span<const FlagDef> flags)
    : spelling_(arguments.spelling()) {
  for (const std::string& path : arguments.positional()) {
    inputs_.push_back({OperandName(spelling_), path});
  }
  for (const FlagDef& flag : flags) {
    for (const std::string& value : arguments.GetAll(flag.name)) {
      AddFlag(flag, value);
    }
  }
}

void InputFiles::AddFlag(const FlagDef& flag, const std::string& value) {
  const std::string role =
      absl::StrCat("the file of ", Spelled(spelling_, flag.name));
  switch (flag.file) {
    case FileUse::kNone:
      return;
    case FileUse::kReads:
      inputs_.push_back({role, value});
      return;
    case FileUse::kReadsBound:
      inputs_.push_back({role, BoundPath(value)});
      return;
    case FileUse::kReadsFolder:
      for (const std::string& path : FilesIn(value)) {
        inputs_.push_back(
            {absl::StrCat("in the folder of ", Spelled(spelling_, flag.name)),
             path});
      }
      return;
    case FileUse::kWritesModel:
      outputs_.push_back({flag.name, value});
      outputs_.push_back({flag.name, absl::StrCat(value, ".data")});
      return;
    case FileUse::kWrites:
      outputs_.push_back({flag.name, value});
      return;
  }
}

void InputFiles::AddWeights(const LiteralPool& literals) {
  absl::flat_hash_set<const MappedFile*> seen;
  for (int i = 0; i < literals.size(); ++i) {
    const auto range = literals.file_range(LiteralId(i));
    if (!range.has_value() || !seen.insert(range->file).second) continue;
    inputs_.push_back(
        {absl::StrCat("a file of ", OperandName(spelling_), "'s weights"),
         range->file->path()});
  }
}

absl::Status InputFiles::KeepInputs(absl::string_view flag,
                                    const std::string& path) const {
  for (const InputFile& input : inputs_) {
    if (!SameFile(path, input.path)) continue;
    return CalledWrongly(absl::StrCat(
        Spelled(spelling_, flag), ": found ", path, ", which is ", input.role,
        " and would be overwritten; expected another file"));
  }
  return absl::OkStatus();
}

absl::Status InputFiles::KeepOutputs(absl::string_view flag,
                                     const std::string& path) const {
  for (const OutputFile& other : outputs_) {
    if (other.flag == flag ||
        !(SameFile(path, other.path) || SamePath(path, other.path))) {
      continue;
    }
    return CalledWrongly(absl::StrCat(
        Spelled(spelling_, flag), ": found ", path, ", which ",
        Spelled(spelling_, other.flag), " writes too; expected another file"));
  }
  return absl::OkStatus();
}

absl::Status InputFiles::Keep(absl::string_view flag,
                              const std::string& path) const {
  PARTITA_RETURN_IF_ERROR(KeepInputs(flag, path));
  PARTITA_RETURN_IF_ERROR(KeepStreams(Spelled(spelling_, flag), path));
  return KeepOutputs(flag, path);
}

absl::Status InputFiles::Keep() const {
  for (const OutputFile& output : outputs_) {
    PARTITA_RETURN_IF_ERROR(Keep(output.flag, output.path));
  }
  return absl::OkStatus();
}

}  // namespace partita
