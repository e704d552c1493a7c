// Versions, codes and statuses of the C API.
// SPDX-License-Identifier: Apache-2.0

#include <new>

#include "partita/c_api.h"
#include "partita/c_api/border.h"
#include "runtime/plan/plan_format.h"

using partita::c_api::IsLive;

int32_t partita_api_version(void) { return PARTITA_API_VERSION; }

int32_t partita_plan_format_version(void) {
  return static_cast<int32_t>(partita::kPlanFormatVersion);
}

const char* partita_code_name(partita_code code) {
  switch (code) {
    case PARTITA_OK:
      return "OK";
    case PARTITA_CANCELLED:
      return "CANCELLED";
    case PARTITA_INVALID_ARGUMENT:
      return "INVALID_ARGUMENT";
    case PARTITA_DEADLINE_EXCEEDED:
      return "DEADLINE_EXCEEDED";
    case PARTITA_NOT_FOUND:
      return "NOT_FOUND";
    case PARTITA_ALREADY_EXISTS:
      return "ALREADY_EXISTS";
    case PARTITA_PERMISSION_DENIED:
      return "PERMISSION_DENIED";
    case PARTITA_RESOURCE_EXHAUSTED:
      return "RESOURCE_EXHAUSTED";
    case PARTITA_FAILED_PRECONDITION:
      return "FAILED_PRECONDITION";
    case PARTITA_ABORTED:
      return "ABORTED";
    case PARTITA_OUT_OF_RANGE:
      return "OUT_OF_RANGE";
    case PARTITA_UNIMPLEMENTED:
      return "UNIMPLEMENTED";
    case PARTITA_INTERNAL:
      return "INTERNAL";
    case PARTITA_UNAVAILABLE:
      return "UNAVAILABLE";
    case PARTITA_DATA_LOSS:
      return "DATA_LOSS";
    case PARTITA_INVALID_HANDLE:
      return "INVALID_HANDLE";
    default:
      return "UNKNOWN";
  }
}

partita_status* partita_status_new(void) {
  return new (std::nothrow) partita_status;
}

partita_code partita_status_code(const partita_status* status) {
  return IsLive(status) ? status->code : PARTITA_INVALID_HANDLE;
}

const char* partita_status_message(const partita_status* status) {
  if (IsLive(status)) return status->message;
  return "status: found NULL, or a handle that was freed or is of another "
         "kind; expected one of partita_status_new";
}

partita_code partita_status_free(partita_status* status) {
  return partita::c_api::FreeHandle(status);
}
