// Compresses text, for tests of decompression.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_TENSOR_FILE_TESTING_DEFLATE_TEXT_H_
#define PARTITA_RUNTIME_TENSOR_FILE_TESTING_DEFLATE_TEXT_H_

#include <string>

namespace partita {

// A gzip file, and a raw deflate stream.
std::string GzipOf(const std::string& text);
std::string RawDeflateOf(const std::string& text);

}  // namespace partita

#endif  // PARTITA_RUNTIME_TENSOR_FILE_TESTING_DEFLATE_TEXT_H_
