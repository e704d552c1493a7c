// Compression by zlib.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/tensor_file/testing/deflate_text.h"

#include <zlib.h>

namespace partita {
namespace {

std::string Packed(const std::string& text, int window_bits) {
  constexpr size_t kGzipHead = 32;  // deflateBound may omit it
  z_stream stream = {};
  deflateInit2(&stream, 9, Z_DEFLATED, window_bits, 9, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, text.size()) + kGzipHead, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

}  // namespace

std::string GzipOf(const std::string& text) {
  return Packed(text, MAX_WBITS + 16);
}

std::string RawDeflateOf(const std::string& text) {
  return Packed(text, -MAX_WBITS);
}

}  // namespace partita
