// Reads, merges and writes.
// SPDX-License-Identifier: Apache-2.0

#include "partita/profile/profile_file.h"

#include <chrono>

#include "graph/file_lock.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

// To read, merge and write a profile takes milliseconds.
constexpr std::chrono::seconds kPatience(30);

}  // namespace

absl::StatusOr<Profile> KnownProfile(const Machine& machine,
                                     const ProfileHost& host,
                                     const std::string& path) {
  absl::StatusOr<Profile> known = ReadProfile(path);
  if (absl::IsNotFound(known.status())) return Profile{.host = host};
  PARTITA_RETURN_IF_ERROR(known.status());
  PARTITA_RETURN_IF_ERROR(CheckMeasuredHere(*known, host, path));
  PARTITA_RETURN_IF_ERROR(CheckProfileFits(*known, machine, path));
  return known;
}

absl::Status AddToProfileFile(const Profile& fresh, const Machine& machine,
                              const std::string& path) {
  PARTITA_ASSIGN_OR_RETURN(const FileLock lock, FileLock::Of(path, kPatience));
  PARTITA_ASSIGN_OR_RETURN(Profile profile,
                           KnownProfile(machine, fresh.host, path));
  MergeProfile(fresh, profile);
  return WriteProfile(profile, path);
}

}  // namespace partita
