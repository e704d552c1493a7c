// A plan, or two plans side by side, as one self-contained HTML file.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_VIEWER_HTML_PAGE_H_
#define PARTITA_TOOLS_VIEWER_HTML_PAGE_H_

#include <string>
#include <vector>

#include "tools/viewer/diff_view.h"
#include "tools/viewer/measured_trace.h"
#include "tools/viewer/plan_view.h"

namespace partita {

// page/page.html with page/view.html as its body, the styles, the scripts and
// the data of PageData.
std::string ViewPage(const PlanView& plan,
                     const std::vector<MeasuredTrace>& traces);

// The same with page/diff.html.
std::string DiffPage(const PlanView& a, const PlanView& b,
                     const DiffView& diff);

}  // namespace partita

#endif  // PARTITA_TOOLS_VIEWER_HTML_PAGE_H_
