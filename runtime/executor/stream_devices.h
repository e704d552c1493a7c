// Which device's streams run the streams of a plan.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_STREAM_DEVICES_H_
#define PARTITA_RUNTIME_EXECUTOR_STREAM_DEVICES_H_

#include "absl/status/statusor.h"
#include "graph/id_vector.h"
#include "runtime/executor/session_memory.h"
#include "runtime/plan/plan.h"

namespace partita {

using StreamDevices = IdVector<StreamId, Device*>;

// By stream: its own device. But host code cannot copy from or to memory that
// the host cannot access: a stream of a device in host memory that does is run
// by the device that has that memory. Unimplemented if it runs kernels as well.
absl::StatusOr<StreamDevices> FindStreamDevices(const Entry& entry,
                                                const CommandList& commands,
                                                const Devices& devices);

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_STREAM_DEVICES_H_
