// Reads an archive's members as arrays.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/tensor_file/npz.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "graph/status_macros.h"
#include "runtime/tensor_file/bad_file.h"
#include "runtime/tensor_file/npy.h"

namespace partita {
namespace {

constexpr absl::string_view kEnding = ".npy";

absl::string_view ArrayName(const ZipMember& member) {
  return absl::StripSuffix(member.name, kEnding);
}

}  // namespace

absl::StatusOr<NpzFile> NpzFile::Open(FileBytes archive) {
  NpzFile file;
  PARTITA_ASSIGN_OR_RETURN(std::vector<ZipMember> members, ListZip(archive));
  file.archive_ = std::move(archive);
  for (ZipMember& member : members) {
    if (!absl::EndsWith(member.name, kEnding)) continue;
    file.members_.push_back(std::move(member));
  }
  return file;
}

std::vector<std::string> NpzFile::names() const {
  std::vector<std::string> names;
  for (const ZipMember& member : members_) {
    names.emplace_back(ArrayName(member));
  }
  return names;
}

absl::StatusOr<FileTensor> NpzFile::Array(absl::string_view name) const {
  for (const ZipMember& member : members_) {
    if (ArrayName(member) != name) continue;
    PARTITA_ASSIGN_OR_RETURN(const FileBytes bytes,
                             UnpackMember(archive_, member));
    return OpenNpy(bytes);
  }
  return BadFile(archive_.source, absl::StrCat("no array ", name),
                 members_.empty()
                     ? "an archive with .npy members"
                     : absl::StrCat("one of ", absl::StrJoin(names(), ", ")));
}

}  // namespace partita
