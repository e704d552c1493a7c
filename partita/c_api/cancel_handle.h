// What a partita_cancel refers to.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_C_API_CANCEL_HANDLE_H_
#define PARTITA_PARTITA_C_API_CANCEL_HANDLE_H_

#include <stop_token>

#include "partita/c_api.h"
#include "partita/c_api/handle_mark.h"

struct partita_cancel {  // NOLINT(readability-identifier-naming)
  static constexpr auto kKind = partita::c_api::HandleKind::kCancel;
  static constexpr char kName[] = "cancel";

  partita::c_api::HandleMark mark{kKind};
  std::stop_source source;  // steps share its state
};

#endif  // PARTITA_PARTITA_C_API_CANCEL_HANDLE_H_
