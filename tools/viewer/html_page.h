// A plan as one self-contained HTML file.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_VIEWER_HTML_PAGE_H_
#define PARTITA_TOOLS_VIEWER_HTML_PAGE_H_

#include <string>
#include <vector>

#include "tools/viewer/measured_trace.h"
#include "tools/viewer/plan_view.h"

namespace partita {

// The view, its layouts and the measured traces as JSON in plain ASCII without
// `<`, `>` and `&`: safe inside a script element for any names. Bytes that are
// not UTF-8 become replacement characters.
std::string PageJson(const PlanView& plan,
                     const std::vector<MeasuredTrace>& traces);

// page/page.html with the styles, the scripts and the data.
std::string HtmlPage(const PlanView& plan,
                     const std::vector<MeasuredTrace>& traces);

}  // namespace partita

#endif  // PARTITA_TOOLS_VIEWER_HTML_PAGE_H_
