// The data of a page, as JSON.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_VIEWER_PAGE_JSON_H_
#define PARTITA_TOOLS_VIEWER_PAGE_JSON_H_

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/viewer/diff_view.h"
#include "tools/viewer/measured_trace.h"
#include "tools/viewer/plan_view.h"

namespace partita {

// The schema, which page/plan_data.js reads:
//   {"strings": [TEXT], "plans": [PLAN], "diff": DIFF or null}
// What a plan has many of is in columns, so that a page of 100,000 nodes stays
// small: "boxes": {"name": [..], "op": [..]} has box b at [b] of each list.
// Texts in columns are indices into "strings". A list of lists is flat, with
// its starts: "operandStart" has one more element than there are boxes. Times
// in columns are whole numbers of the entry's "tick", in seconds; they are
// exact to a billionth of the step.
//
// Several plans share one table of strings.
class PageData {
 public:
  PageData();
  ~PageData();
  PageData(const PageData&) = delete;
  PageData& operator=(const PageData&) = delete;

  void AddPlan(const PlanView& plan, const std::vector<MeasuredTrace>& traces);
  // Of the two plans that were added.
  void SetDiff(const DiffView& diff);

  // In plain ASCII without `<`, `>` and `&`: safe inside a script element for
  // any names. Bytes that are not UTF-8 become replacement characters.
  std::string Text() const;

 private:
  class Strings;
  std::unique_ptr<Strings> strings_;
  nlohmann::json plans_;
  nlohmann::json diff_;
};

}  // namespace partita

#endif  // PARTITA_TOOLS_VIEWER_PAGE_JSON_H_
