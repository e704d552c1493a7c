// The files of the page, embedded by the build.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_VIEWER_PAGE_PARTS_H_
#define PARTITA_TOOLS_VIEWER_PAGE_PARTS_H_

namespace partita {

extern const char kPageHtml[];
extern const char kViewHtml[];
extern const char kDiffHtml[];
extern const char kPageCss[];
extern const char kPageJs[];

}  // namespace partita

#endif  // PARTITA_TOOLS_VIEWER_PAGE_PARTS_H_
