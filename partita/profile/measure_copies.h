// Measures copies between the memories of two devices of this host.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_PROFILE_MEASURE_COPIES_H_
#define PARTITA_PARTITA_PROFILE_MEASURE_COPIES_H_

#include "absl/status/statusor.h"
#include "placement/machine/machine.h"
#include "placement/machine/profile.h"
#include "runtime/device/device.h"

namespace partita {

// Copies 4 KiB, 256 KiB and 16 MiB between arenas of the devices, in both
// directions, as plans do: in a stream of the device that the bytes are on, or,
// if the host accesses its memory, of the other one. The times are those of
// the stream, the median of eight copies; the slower direction counts. `link`
// has the devices' names. Errors of the devices, and those of FitLink
// (measure_links.h). Runs no kernel.
absl::StatusOr<MeasuredLink> MeasureCopies(Device& from, Device& to,
                                           const Link& link);

}  // namespace partita

#endif  // PARTITA_PARTITA_PROFILE_MEASURE_COPIES_H_
