// Faults in a text, each shown with its line and a caret.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_TEXT_DIAGNOSTICS_H_
#define PARTITA_GRAPH_TEXT_DIAGNOSTICS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace partita {

// Collects up to 20 faults of one text:
//
//   mlp.graph:3:19: unknown value %w3
//       %a = matmul %x, %w3 : f32[32, 256]
//                       ^~~
//     known here: %x, %w1, %w2
class Diagnostics {
 public:
  // Both must outlive this. `source` is the name of the text, usually a file.
  Diagnostics(absl::string_view text, absl::string_view source)
      : text_(text), source_(source) {}

  // `where` is a part of the text. `hint`, if not empty, is the last line.
  void Report(absl::string_view where, absl::string_view message,
              absl::string_view hint = "");

  int num_faults() const { return faults_; }
  bool ok() const { return faults_ == 0; }
  // True if further faults will not be shown.
  bool full() const;
  // InvalidArgument with every message, or OK.
  absl::Status ToStatus() const;

 private:
  absl::string_view text_;
  absl::string_view source_;
  std::string messages_;
  int faults_ = 0;
};

}  // namespace partita

#endif  // PARTITA_GRAPH_TEXT_DIAGNOSTICS_H_
