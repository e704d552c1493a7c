// A plan's graph in Graphviz's language.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_VIEWER_DOT_TEXT_H_
#define PARTITA_TOOLS_VIEWER_DOT_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tools/viewer/plan_view.h"

namespace partita {

// One digraph with a cluster for each entry and each scope, boxes filled with
// their device's colour, cut edges heavy and labelled with their bytes. The
// same view gives the same text.
std::string DotText(const PlanView& plan);

// What `dot -Tsvg` makes of it. NotFound, saying what to install, if there is
// no such program; Internal with its exit status if it fails.
absl::StatusOr<std::string> SvgOf(const std::string& dot_text);

// The colours of a device, as Graphviz and CSS write them: "#dce6f5".
struct DeviceColors {
  const char* fill;
  const char* line;
};
DeviceColors ColorsOf(int device);

}  // namespace partita

#endif  // PARTITA_TOOLS_VIEWER_DOT_TEXT_H_
