// What a file is, by its bytes.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_OPTIONS_RECOGNIZE_FILE_H_
#define PARTITA_PARTITA_OPTIONS_RECOGNIZE_FILE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "partita/options/file_kinds.h"

namespace partita {

// Some editors begin a text in UTF-8 with it.
inline constexpr absl::string_view kByteOrderMark = "\xef\xbb\xbf";

// By what a file begins with, whatever its name; a text is a plan's if a line
// in it begins with `plan @`. kUnknown for damaged files and empty ones.
FileKind KindOfBytes(absl::string_view bytes);

// The same for the file at `path`. A file of an unknown format is of the kind
// that its name ends in, .plan, .onnx, .graph, .npy or .pb: its reader reports
// the damage. kUnknown if it cannot be read.
FileKind KindOfFile(const std::string& path);

}  // namespace partita

#endif  // PARTITA_PARTITA_OPTIONS_RECOGNIZE_FILE_H_
