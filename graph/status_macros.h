// Two macros that return an error to the caller.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_STATUS_MACROS_H_
#define PARTITA_GRAPH_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define PARTITA_RETURN_IF_ERROR(expr)                                 \
  do {                                                                \
    if (absl::Status partita_status = (expr); !partita_status.ok()) { \
      return partita_status;                                          \
    }                                                                 \
  } while (false)

#define PARTITA_CONCAT_INNER(a, b) a##b
#define PARTITA_CONCAT(a, b) PARTITA_CONCAT_INNER(a, b)

// PARTITA_ASSIGN_OR_RETURN(Plan plan, ReadPlan(path));
#define PARTITA_ASSIGN_OR_RETURN(lhs, expr)                              \
  auto PARTITA_CONCAT(partita_value_, __LINE__) = (expr);                \
  if (!PARTITA_CONCAT(partita_value_, __LINE__).ok()) {                  \
    return std::move(PARTITA_CONCAT(partita_value_, __LINE__)).status(); \
  }                                                                      \
  lhs = *std::move(PARTITA_CONCAT(partita_value_, __LINE__))

#endif  // PARTITA_GRAPH_STATUS_MACROS_H_
