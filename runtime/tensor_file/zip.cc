// Reads the central directory of an archive, then members.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/tensor_file/zip.h"

#include <zlib.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "runtime/tensor_file/bad_file.h"
#include "runtime/tensor_file/inflate.h"

namespace partita {
namespace {

using Bytes = absl::Span<const std::byte>;

constexpr absl::string_view kFetchAgain = "fetch the file again";

// Signatures and fixed sizes of the three kinds of record.
constexpr uint32_t kEndMark = 0x06054b50;
constexpr size_t kEndSize = 22;
constexpr uint32_t kCentralMark = 0x02014b50;
constexpr size_t kCentralSize = 46;
constexpr uint32_t kLocalMark = 0x04034b50;
constexpr size_t kLocalSize = 30;

constexpr size_t kMaxComment = 0xffff;
constexpr uint16_t kEncrypted = 1;  // a flag
constexpr uint16_t kStored = 0;     // methods
constexpr uint16_t kDeflated = 8;

// A little-endian number within `bytes`.
uint16_t U16(Bytes bytes, size_t at) {
  return static_cast<uint16_t>(std::to_integer<unsigned>(bytes[at]) |
                               std::to_integer<unsigned>(bytes[at + 1]) << 8);
}
uint32_t U32(Bytes bytes, size_t at) {
  return U16(bytes, at) | static_cast<uint32_t>(U16(bytes, at + 2)) << 16;
}

absl::string_view Text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Removes `size` bytes from the front of `bytes`; empty if there are too few.
std::optional<Bytes> Take(Bytes& bytes, size_t size) {
  if (size > bytes.size()) return std::nullopt;
  const Bytes taken = bytes.first(size);
  bytes.remove_prefix(size);
  return taken;
}

// The position of the last record, which ends with a comment of any bytes.
std::optional<size_t> FindEnd(Bytes archive) {
  if (archive.size() < kEndSize) return std::nullopt;
  const size_t last = archive.size() - kEndSize;
  for (size_t comment = 0; comment <= std::min(last, kMaxComment); ++comment) {
    const size_t at = last - comment;
    if (U32(archive, at) == kEndMark && U16(archive, at + 20) == comment) {
      return at;
    }
  }
  return std::nullopt;
}

struct Directory {
  Bytes records;
  int entries = 0;
  size_t begin = 0;  // in the archive; members are before it
};

absl::StatusOr<Directory> FindDirectory(const FileBytes& archive) {
  const std::optional<size_t> end = FindEnd(archive.bytes);
  if (!end.has_value()) {
    return BadFile(
        archive.source, "no end of a zip archive", "one",
        "the file was cut short or has another format; fetch it again");
  }
  const Bytes record = archive.bytes.subspan(*end, kEndSize);
  const size_t size = U32(record, 12);
  const size_t begin = U32(record, 16);
  const int entries = U16(record, 10);
  if (entries == 0xffff || size == 0xffffffff || begin == 0xffffffff) {
    return BadFile(archive.source, "a zip64 archive",
                   "less than 4 GiB and 65535 members",
                   "save each array as a .npy file");
  }
  if (U32(record, 4) != 0 || U16(record, 8) != entries) {
    return BadFile(archive.source, "a part of an archive", "a whole archive",
                   "join the parts");
  }
  if (begin > *end || size != *end - begin) {
    return BadFile(
        archive.source,
        absl::StrCat("its directory at bytes ", begin, "..", begin + size),
        absl::StrCat("it to end at ", *end), kFetchAgain);
  }
  return Directory{archive.bytes.subspan(begin, size), entries, begin};
}

// A member with the position of its local header.
struct LocatedMember {
  ZipMember member;
  size_t begin = 0;
  size_t end = 0;
};

// Reads the local header, which repeats the name and gives the position of the
// bytes.
absl::Status FindPacked(const FileBytes& archive, const std::string& where,
                        size_t packed_size, size_t limit,
                        LocatedMember& located) {
  const absl::Status lost =
      BadFile(where, absl::StrCat("no local header at byte ", located.begin),
              "one of this name", kFetchAgain);
  if (located.begin > limit) return lost;
  Bytes rest = archive.bytes.first(limit).subspan(located.begin);
  const std::optional<Bytes> header = Take(rest, kLocalSize);
  if (!header.has_value() || U32(*header, 0) != kLocalMark) return lost;
  const std::optional<Bytes> name = Take(rest, U16(*header, 26));
  if (!name.has_value() || Text(*name) != located.member.name) return lost;
  if (!Take(rest, U16(*header, 28)).has_value()) return lost;
  const std::optional<Bytes> packed = Take(rest, packed_size);
  if (!packed.has_value()) {
    return BadFile(where, absl::StrCat(rest.size(), " bytes of it"),
                   absl::StrCat(packed_size), kFetchAgain);
  }
  located.member.packed = *packed;
  located.end = limit - rest.size();
  return absl::OkStatus();
}

absl::Status CheckMethod(const std::string& where, uint16_t method,
                         uint16_t flags) {
  if ((flags & kEncrypted) != 0) {
    return BadFile(where, "an encrypted member", "a plain one",
                   "pack it without a password");
  }
  if (method == kStored || method == kDeflated) return absl::OkStatus();
  return BadFile(where, absl::StrCat("packing method ", method),
                 "0 (stored) or 8 (deflate)",
                 "save it with numpy.savez or numpy.savez_compressed");
}

absl::Status CheckSize(const std::string& where, const ZipMember& member) {
  const int64_t packed = static_cast<int64_t>(member.packed.size());
  const int64_t most =
      member.deflated ? MostUnpackedBytes(member.packed.size()) : packed;
  const int64_t least = member.deflated ? 0 : packed;
  if (member.size >= least && member.size <= most) return absl::OkStatus();
  return BadFile(
      where, absl::StrCat(member.size, " bytes unpacked from ", packed),
      absl::StrCat(member.deflated ? "at most " : "", most), kFetchAgain);
}

// Removes one record from the directory.
absl::StatusOr<LocatedMember> TakeMember(const FileBytes& archive,
                                         const Directory& directory,
                                         Bytes& records) {
  const absl::Status cut = BadFile(archive.source, "a directory cut short",
                                   "one record for each member", kFetchAgain);
  const std::optional<Bytes> record = Take(records, kCentralSize);
  if (!record.has_value() || U32(*record, 0) != kCentralMark) return cut;
  const std::optional<Bytes> name = Take(records, U16(*record, 28));
  if (!name.has_value()) return cut;
  const size_t extra = size_t{U16(*record, 30)} + U16(*record, 32);
  if (!Take(records, extra).has_value()) return cut;
  LocatedMember located;
  ZipMember& member = located.member;
  member.name = std::string(Text(*name));
  member.deflated = U16(*record, 10) == kDeflated;
  member.checksum = U32(*record, 16);
  member.size = U32(*record, 24);
  located.begin = U32(*record, 42);
  const std::string where = absl::StrCat(archive.source, ": ", member.name);
  PARTITA_RETURN_IF_ERROR(
      CheckMethod(where, U16(*record, 10), U16(*record, 8)));
  PARTITA_RETURN_IF_ERROR(
      FindPacked(archive, where, U32(*record, 20), directory.begin, located));
  PARTITA_RETURN_IF_ERROR(CheckSize(where, member));
  return located;
}

absl::Status CheckApart(const FileBytes& archive,
                        const std::vector<LocatedMember>& members) {
  absl::flat_hash_set<absl::string_view> names;
  std::vector<const LocatedMember*> sorted;
  for (const LocatedMember& located : members) {
    if (!names.insert(located.member.name).second) {
      return BadFile(archive.source,
                     absl::StrCat("member ", located.member.name, " twice"),
                     "every name once", "pack the archive again");
    }
    sorted.push_back(&located);
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const LocatedMember* a, const LocatedMember* b) {
              return a->begin < b->begin;
            });
  for (size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i - 1]->end <= sorted[i]->begin) continue;
    return BadFile(archive.source,
                   absl::StrCat("members ", sorted[i - 1]->member.name, " and ",
                                sorted[i]->member.name, " in the same bytes"),
                   "disjoint members", "pack the archive again");
  }
  return absl::OkStatus();
}

absl::StatusOr<FileBytes> Inflated(const ZipMember& member,
                                   const std::string& where) {
  // A tensor aligns the bytes.
  const TensorType type = {DType::kU8, {member.size}, {}};
  auto unpacked = std::make_shared<HostTensor>(type);
  Inflater inflater(Inflater::Format::kRaw, member.packed, where);
  PARTITA_RETURN_IF_ERROR(inflater.Read(
      absl::MakeSpan(unpacked->bytes(), static_cast<size_t>(member.size))));
  PARTITA_RETURN_IF_ERROR(inflater.ExpectEnd());
  const Bytes bytes = unpacked->byte_span();
  return FileBytes{where, bytes, std::move(unpacked)};
}

}  // namespace

absl::StatusOr<std::vector<ZipMember>> ListZip(const FileBytes& archive) {
  PARTITA_ASSIGN_OR_RETURN(const Directory directory, FindDirectory(archive));
  Bytes records = directory.records;
  std::vector<LocatedMember> located;
  for (int i = 0; i < directory.entries; ++i) {
    PARTITA_ASSIGN_OR_RETURN(LocatedMember next,
                             TakeMember(archive, directory, records));
    located.push_back(std::move(next));
  }
  PARTITA_RETURN_IF_ERROR(CheckApart(archive, located));
  std::vector<ZipMember> members;
  for (LocatedMember& each : located) members.push_back(std::move(each.member));
  return members;
}

absl::StatusOr<FileBytes> UnpackMember(const FileBytes& archive,
                                       const ZipMember& member) {
  const std::string where = absl::StrCat(archive.source, ": ", member.name);
  FileBytes unpacked{where, member.packed, archive.owner};
  if (member.deflated) {
    PARTITA_ASSIGN_OR_RETURN(unpacked, Inflated(member, where));
  }
  const uLong checksum =
      crc32_z(0, reinterpret_cast<const Bytef*>(unpacked.bytes.data()),
              unpacked.bytes.size());
  if (checksum == member.checksum) return unpacked;
  return BadFile(
      where, absl::StrCat("checksum ", absl::Hex(checksum, absl::kZeroPad8)),
      absl::StrCat(absl::Hex(member.checksum, absl::kZeroPad8)), kFetchAgain);
}

}  // namespace partita
