// The file of a profile, for those that measure: it is added to.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_PROFILE_PROFILE_FILE_H_
#define PARTITA_PARTITA_PROFILE_PROFILE_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "placement/machine/machine.h"
#include "placement/machine/profile.h"

namespace partita {

// The file's profile, or one of `host` without measurements if there is no
// file. FailedPrecondition if it has measurements of another host or machine;
// errors of ReadProfile.
absl::StatusOr<Profile> KnownProfile(const Machine& machine,
                                     const ProfileHost& host,
                                     const std::string& path);

// Adds `fresh`, of devices of `machine`, to the profile in the file, or makes
// the file. The file changes whole or not at all. Of several processes that add
// to one file, each waits for the others (FileLock), and all are added. Errors
// of KnownProfile, WriteProfile and FileLock.
absl::Status AddToProfileFile(const Profile& fresh, const Machine& machine,
                              const std::string& path);

}  // namespace partita

#endif  // PARTITA_PARTITA_PROFILE_PROFILE_FILE_H_
