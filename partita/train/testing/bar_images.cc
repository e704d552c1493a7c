// Draws images and writes them as IDX.
// SPDX-License-Identifier: Apache-2.0

#include "partita/train/testing/bar_images.h"

#include <fstream>
#include <initializer_list>

#include "graph/builder/random_tensor.h"

namespace partita {
namespace {

constexpr int64_t kSide = 28;
constexpr int64_t kPixels = kSide * kSide;

// For u8 elements: the code, the rank, the extents as big-endian words.
std::string Header(std::initializer_list<int64_t> extents) {
  std::string text = {0, 0, 8, static_cast<char>(extents.size())};
  for (int64_t extent : extents) {
    for (int shift = 24; shift >= 0; shift -= 8) {
      text += static_cast<char>(extent >> shift);
    }
  }
  return text;
}

void Write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace

ImageFiles WriteBarImages(const std::string& prefix, int64_t samples,
                          uint64_t seed) {
  std::string images = Header({samples, kSide, kSide});
  std::string labels = Header({samples});
  for (int64_t n = 0; n < samples; ++n) {
    const int64_t label = static_cast<int64_t>(RandomWord(seed, n) % 10);
    labels += static_cast<char>(label);
    for (int64_t i = 0; i < kPixels; ++i) {
      const uint64_t noise = RandomWord(seed, samples + n * kPixels + i) % 80;
      const bool in_bar = i / (2 * kSide) == label + 2;  // two rows
      images += static_cast<char>(noise + (in_bar ? 170 : 0));
    }
  }
  const ImageFiles files = {prefix + "images.idx", prefix + "labels.idx"};
  Write(files.images, images);
  Write(files.labels, labels);
  return files;
}

}  // namespace partita
