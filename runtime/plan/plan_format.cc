// Encodes and checks plan file headers.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/plan_format.h"

#include <bit>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "graph/round_up.h"
#include "graph/status_macros.h"
#include "runtime/plan/plan_file.h"

namespace partita {
namespace {

constexpr char kMagic[] = "PARTITA\n";
constexpr size_t kMagicBytes = sizeof(kMagic) - 1;
constexpr int64_t kPage = 4096;

// FlatBuffers uses 32-bit offsets.
constexpr int64_t kMaxMetadataBytes = (int64_t{1} << 31) - 64;

static_assert(std::endian::native == std::endian::little,
              "the numbers of the header are copied as they are");

template <typename T>
void Put(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof(value));
}

template <typename T>
T Get(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

}  // namespace

bool LooksLikePlanFile(absl::Span<const std::byte> bytes) {
  return bytes.size() >= kMagicBytes &&
         std::memcmp(bytes.data(), kMagic, kMagicBytes) == 0;
}

std::array<std::byte, kPlanHeaderBytes> EncodeHeader(const PlanHeader& header) {
  std::array<std::byte, kPlanHeaderBytes> bytes = {};
  std::memcpy(bytes.data(), kMagic, kMagicBytes);
  Put(bytes.data() + 8, kPlanFormatVersion);
  Put(bytes.data() + 16, header.metadata_offset);
  Put(bytes.data() + 24, header.metadata_size);
  Put(bytes.data() + 32, header.file_size);
  Put(bytes.data() + 40, header.metadata_hash.high);
  Put(bytes.data() + 48, header.metadata_hash.low);
  return bytes;
}

namespace {

// The first bytes are those of a plan of a version that this program reads.
absl::Status CheckVersion(absl::Span<const std::byte> file) {
  if (!LooksLikePlanFile(file)) {
    return absl::InvalidArgumentError(
        "found no plan; expected a file that `partita compile` wrote");
  }
  if (file.size() < static_cast<size_t>(kPlanHeaderBytes)) {
    return absl::InvalidArgumentError(
        absl::StrCat("found ", file.size(), " bytes; expected a header of ",
                     kPlanHeaderBytes,
                     "; the file was cut short: copy or compile it again"));
  }
  const uint32_t version = Get<uint32_t>(file.data() + 8);
  if (version == 0) {
    return absl::InvalidArgumentError(
        "found plan format version 0; expected at least 1; the file is "
        "damaged: copy or compile it again");
  }
  if (version > kPlanFormatVersion) {
    return absl::InvalidArgumentError(
        absl::StrCat("found plan format version ", version,
                     "; expected at most ", kPlanFormatVersion,
                     "; compile the model again or use a newer partita"));
  }
  if (Get<uint32_t>(file.data() + 12) != 0 ||
      Get<uint64_t>(file.data() + 56) != 0) {
    return absl::InvalidArgumentError(
        "found bytes 12..15 or 56..63 of the header that are not zero; the "
        "file is damaged: copy or compile it again");
  }
  return absl::OkStatus();
}

// The metadata and the file are as long as the header says.
absl::Status CheckSizes(const PlanHeader& header, int64_t size) {
  if (header.file_size != size) {
    return absl::InvalidArgumentError(absl::StrCat(
        "found ", size, " bytes; expected ", header.file_size,
        " as the header says; the file was cut short or changed: copy or "
        "compile it again"));
  }
  if (absl::Status fits =
          CheckFileRange(header.metadata_offset, header.metadata_size, size);
      !fits.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("metadata: ", fits.message()));
  }
  if (header.metadata_size > kMaxMetadataBytes ||
      header.metadata_offset % 64 != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("metadata: found ", header.metadata_size, " bytes at ",
                     header.metadata_offset, "; expected at most ",
                     kMaxMetadataBytes, " at a multiple of 64"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<PlanHeader> DecodeHeader(absl::Span<const std::byte> file) {
  PARTITA_RETURN_IF_ERROR(CheckVersion(file));
  PlanHeader header;
  header.metadata_offset = Get<int64_t>(file.data() + 16);
  header.metadata_size = Get<int64_t>(file.data() + 24);
  header.file_size = Get<int64_t>(file.data() + 32);
  header.metadata_hash.high = Get<uint64_t>(file.data() + 40);
  header.metadata_hash.low = Get<uint64_t>(file.data() + 48);
  PARTITA_RETURN_IF_ERROR(
      CheckSizes(header, static_cast<int64_t>(file.size())));
  return header;
}

int64_t AlignedOffset(int64_t end, int64_t size) {
  const int64_t alignment = size >= kPage ? kPage : 64;
  return RoundUp(end, alignment);
}

absl::Status CheckFileRange(int64_t offset, int64_t size, int64_t file_size) {
  if (offset >= 0 && size >= 0 && offset <= file_size &&
      size <= file_size - offset) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("found ", size, " bytes at ", offset,
                   "; expected a part of the file's ", file_size, " bytes"));
}

}  // namespace partita
