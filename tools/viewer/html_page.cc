// Assembles the files of page/ and the data.
// SPDX-License-Identifier: Apache-2.0

#include "tools/viewer/html_page.h"

#include "absl/strings/str_replace.h"
#include "tools/viewer/page_json.h"
#include "tools/viewer/page_parts.h"

namespace partita {
namespace {

// The data come last: they may hold the texts that are replaced.
std::string Assembled(const char* body, const PageData& data) {
  const std::string page =
      absl::StrReplaceAll(kPageHtml, {{"<!--PAGE_BODY-->", body},
                                      {"/*PAGE_CSS*/", kPageCss},
                                      {"/*PAGE_JS*/", kPageJs}});
  return absl::StrReplaceAll(page, {{"/*PAGE_DATA*/", data.Text()}});
}

}  // namespace

std::string ViewPage(const PlanView& plan,
                     const std::vector<MeasuredTrace>& traces) {
  PageData data;
  data.AddPlan(plan, traces);
  return Assembled(kViewHtml, data);
}

std::string DiffPage(const PlanView& a, const PlanView& b,
                     const DiffView& diff) {
  PageData data;
  data.AddPlan(a, {});
  data.AddPlan(b, {});
  data.SetDiff(diff);
  return Assembled(kDiffHtml, data);
}

}  // namespace partita
