// Converts elements of any type to f32 or f64, scaled and shifted.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "runtime/dataset/transform.h"
#include "runtime/tensor_file/bad_file.h"

namespace partita {
namespace {

template <typename T>
T Normalized(T x, T divisor, T mean, T stddev) {
  return (x / divisor - mean) / stddev;
}

// One channel's results for all bytes.
using ByteTable = std::array<float, 256>;

// Parameters of the normalization, channel by channel.
struct Channels {
  Channels(const Normalization& normalization, const TensorType& type)
      : divisor(normalization.divisor),
        mean(normalization.mean),
        stddev(normalization.stddev) {
    count = std::max(mean.size(), stddev.size());
    mean.resize(count, mean[0]);
    stddev.resize(count, stddev[0]);
    elements = type.num_elements() / static_cast<int64_t>(count);
  }
  template <typename T>
  T Of(size_t channel, T x) const {
    return Normalized<T>(x, divisor, mean[channel], stddev[channel]);
  }

  float divisor;
  std::vector<float> mean;
  std::vector<float> stddev;
  size_t count;
  int64_t elements;  // of a channel
};

FieldFunction OfBytes(const Channels& channels) {
  std::vector<ByteTable> tables(channels.count);
  for (size_t c = 0; c < tables.size(); ++c) {
    for (int x = 0; x < 256; ++x) {
      tables[c][x] = channels.Of(c, static_cast<float>(x));
    }
  }
  return [tables = std::move(tables), elements = channels.elements](
             int64_t, const std::byte* from, std::byte* to) {
    float* y = reinterpret_cast<float*>(to);
    for (const ByteTable& table : tables) {
      for (int64_t i = 0; i < elements; ++i) {
        *y++ = table[std::to_integer<size_t>(*from++)];
      }
    }
    return absl::OkStatus();
  };
}

template <typename From, typename To>
FieldFunction OfNumbers(Channels channels) {
  return [channels = std::move(channels)](int64_t, const std::byte* from,
                                          std::byte* to) {
    const From* x = reinterpret_cast<const From*>(from);
    To* y = reinterpret_cast<To*>(to);
    for (size_t c = 0; c < channels.count; ++c) {
      for (int64_t i = 0; i < channels.elements; ++i) {
        *y++ = channels.Of(c, static_cast<To>(*x++));
      }
    }
    return absl::OkStatus();
  };
}

FieldFunction FunctionOf(const Channels& channels, DType from, DType to) {
  if (from == DType::kU8 && to == DType::kF32) return OfBytes(channels);
  return VisitDType(from, [&]<typename From>(TypeTag<From>) {
    return to == DType::kF32 ? OfNumbers<From, float>(channels)
                             : OfNumbers<From, double>(channels);
  });
}

absl::Status CheckNumbers(const Normalization& normalization,
                          absl::string_view field, const TensorType& type) {
  const int64_t channels = type.rank() == 0 ? 1 : type.dims[0];
  for (const std::vector<float>* each :
       {&normalization.mean, &normalization.stddev}) {
    const int64_t count = static_cast<int64_t>(each->size());
    if (count == 1 || count == channels) continue;
    return BadFile(
        field,
        absl::StrCat(count, each == &normalization.mean
                                ? " means"
                                : " standard deviations"),
        absl::StrCat("1", channels == 1 ? "" : absl::StrCat(", or ", channels),
                     " for ", type.ToString()),
        channels == 1 ? "give one" : "give one for all, or one a channel");
  }
  bool zero = normalization.divisor == 0;
  for (float stddev : normalization.stddev) zero = zero || stddev == 0;
  if (!zero) return absl::OkStatus();
  return BadFile(field, "0 to divide by",
                 "a divisor and standard deviations other than 0");
}

// Only bytes have a known range.
template <typename T>
absl::Status CheckBytesStayFinite(const Channels& channels,
                                  absl::string_view field) {
  for (size_t c = 0; c < channels.count; ++c) {
    for (const T byte : {0, 255}) {
      const T normal = channels.Of<T>(c, byte);
      if (std::isfinite(normal)) continue;
      return BadFile(
          field,
          absl::StrCat("a mean of ", channels.mean[c],
                       " and a standard deviation of ", channels.stddev[c],
                       ", which make ", normal, " of the byte ", byte),
          "numbers that normalize bytes to finite ones");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SharedDataset> Normalize(SharedDataset dataset,
                                        absl::string_view field,
                                        const Normalization& normalization) {
  PARTITA_ASSIGN_OR_RETURN(const int index, dataset->FieldIndex(field));
  const TensorType from = dataset->fields()[index].type;
  const TensorType to = {
      normalization.dtype,
      normalization.dims.empty() ? from.dims : normalization.dims,
      {}};
  if (absl::Status status = CheckType(to); !status.ok()) {
    return AtPlace(field, status);
  }
  if (to.dtype != DType::kF32 && to.dtype != DType::kF64) {
    return BadFile(field, to.ToString(), "f32 or f64 to normalize to");
  }
  if (to.num_elements() != from.num_elements()) {
    return BadFile(field, from.ToString(),
                   absl::StrCat("as many elements as ", to.ToString()),
                   "give a file of such samples");
  }
  PARTITA_RETURN_IF_ERROR(CheckNumbers(normalization, field, to));
  const Channels channels(normalization, to);
  if (from.dtype == DType::kU8) {
    PARTITA_RETURN_IF_ERROR(
        to.dtype == DType::kF32
            ? CheckBytesStayFinite<float>(channels, field)
            : CheckBytesStayFinite<double>(channels, field));
  }
  return TransformField(std::move(dataset), field, to,
                        FunctionOf(channels, from.dtype, to.dtype));
}

}  // namespace partita
