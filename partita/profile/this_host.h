// The host that this process measures.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_PROFILE_THIS_HOST_H_
#define PARTITA_PARTITA_PROFILE_THIS_HOST_H_

#include <cstdint>

#include "placement/machine/profile.h"

namespace partita {

ProfileHost ThisProfileHost();

// Bytes of the largest cache that a core of this host's processor reads; 32 MiB
// if the system does not say.
int64_t LargestCacheBytes();

}  // namespace partita

#endif  // PARTITA_PARTITA_PROFILE_THIS_HOST_H_
