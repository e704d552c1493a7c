// Memory figures of a session.
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/status_macros.h"
#include "partita/c_api.h"
#include "partita/c_api/session_handle.h"
#include "partita/c_api/versioned_struct.h"
#include "partita/port_lookup.h"
#include "runtime/executor/session_report.h"
#include "runtime/plan/plan.h"

namespace partita::c_api {
namespace {

size_t NumDevices(const partita_session& of) {
  return of.session->plan().devices.size();
}

partita_memory InC(const DeviceMemory& memory) {
  partita_memory figures = partita_memory_empty();
  figures.arena = memory.arena;
  figures.persistent = memory.persistent;
  figures.step = memory.step;
  figures.depth = memory.depth;
  figures.allocated = memory.allocated;
  figures.peak = memory.peak;
  figures.reserved = memory.reserved;
  figures.staging = memory.staging;
  figures.in_place = memory.in_place;
  figures.committed = memory.committed;
  figures.limit = memory.limit;
  figures.device_total = memory.total;
  figures.device_free = memory.free;
  figures.device_outside = memory.outside;
  return figures;
}

absl::Status FillMemory(const partita_session& of, size_t device,
                        partita_memory* memory) {
  PARTITA_RETURN_IF_ERROR(CheckIndex(device, NumDevices(of), "device"));
  PARTITA_ASSIGN_OR_RETURN(const std::vector<DeviceMemory> use,
                           of.session->MemoryUse());
  return WriteStruct(InC(use[device]), "partita_memory", memory);
}

absl::StatusOr<const char*> DeviceName(const partita_session& of,
                                       size_t device) {
  PARTITA_RETURN_IF_ERROR(CheckIndex(device, NumDevices(of), "device"));
  return of.session->plan().devices[device].traits.name.c_str();
}

}  // namespace
}  // namespace partita::c_api

using partita::c_api::FromSession;
using partita::c_api::OnSession;

partita_code partita_session_num_devices(partita_session* session,
                                         size_t* devices,
                                         partita_status* status) {
  return FromSession<size_t>(session, devices, "devices", status,
                             partita::c_api::NumDevices);
}

partita_code partita_session_device_name(partita_session* session,
                                         size_t device, const char** name,
                                         partita_status* status) {
  return FromSession<const char*>(
      session, name, "name", status, [device](partita_session& of) {
        return partita::c_api::DeviceName(of, device);
      });
}

partita_code partita_session_memory(partita_session* session, size_t device,
                                    partita_memory* memory,
                                    partita_status* status) {
  return OnSession(session, status, [&](partita_session& of) {
    return partita::c_api::FillMemory(of, device, memory);
  });
}
