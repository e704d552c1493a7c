// Requests that end steps.
// SPDX-License-Identifier: Apache-2.0

#include <memory>

#include "absl/status/statusor.h"
#include "graph/status_macros.h"
#include "partita/c_api.h"
#include "partita/c_api/border.h"
#include "partita/c_api/cancel_handle.h"

using partita::c_api::AtBorder;

partita_code partita_cancel_new(partita_cancel** cancel,
                                partita_status* status) {
  return AtBorder(status, [&] {
    return partita::c_api::Return(
        cancel, "cancel", []() -> absl::StatusOr<partita_cancel*> {
          return std::make_unique<partita_cancel>().release();
        });
  });
}

partita_code partita_cancel_request(partita_cancel* cancel,
                                    partita_status* status) {
  return AtBorder(status, [&]() -> absl::Status {
    PARTITA_RETURN_IF_ERROR(partita::c_api::CheckHandle(cancel));
    cancel->source.request_stop();
    return absl::OkStatus();
  });
}

partita_code partita_cancel_free(partita_cancel* cancel) {
  return partita::c_api::FreeHandle(cancel);
}
