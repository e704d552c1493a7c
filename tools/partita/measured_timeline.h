// A session's last traced step as a timeline.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_MEASURED_TIMELINE_H_
#define PARTITA_TOOLS_PARTITA_MEASURED_TIMELINE_H_

#include "partita/session.h"
#include "runtime/plan/chrome_trace.h"

namespace partita {

Timeline MeasuredTimeline(const Session& session);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_MEASURED_TIMELINE_H_
