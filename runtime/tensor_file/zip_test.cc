// Tests which zip archives are refused.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/tensor_file/zip.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

#include "absl/strings/string_view.h"
#include "runtime/tensor_file/npz.h"

namespace partita {
namespace {

std::string Little(uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) {
    text.push_back(static_cast<char>(value & 0xff));
    value >>= 8;
  }
  return text;
}

struct Sketch {
  std::string name = "a";
  std::string packed = "text";
  uint16_t method = 0;
  uint16_t flags = 0;
  int64_t size = 4;
  int64_t begin =
      -1;  // of the local header in the directory; -1: the right one
  uint32_t checksum = static_cast<uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>("text"), 4));
};

std::string Sizes(const Sketch& s) {
  return Little(s.checksum, 4) + Little(s.packed.size(), 4) + Little(s.size, 4);
}

// An archive made from the sketches, each with its local header and record.
std::string Archive(const std::vector<Sketch>& sketches) {
  std::string text;
  std::string records;
  for (const Sketch& s : sketches) {
    const uint64_t begin = s.begin < 0 ? text.size() : s.begin;
    const std::string common = Little(20, 2) + Little(s.flags, 2) +
                               Little(s.method, 2) + Little(0, 4) + Sizes(s) +
                               Little(s.name.size(), 2) + Little(0, 2);
    text += "PK\3\4" + common + s.name + s.packed;
    records += "PK\1\2" + Little(20, 2) + common + Little(0, 10) +
               Little(begin, 4) + s.name;
  }
  const std::string count = Little(sketches.size(), 2);
  return text + records + "PK\5\6" + Little(0, 4) + count + count +
         Little(records.size(), 4) + Little(text.size(), 4) + Little(0, 2);
}

// The content of the first member, or the error.
std::string First(const std::string& archive) {
  const FileBytes bytes = BorrowedBytes(archive, "z.npz");
  const auto members = ListZip(bytes);
  if (!members.ok()) return std::string(members.status().message());
  const auto content = UnpackMember(bytes, members->at(0));
  if (!content.ok()) return std::string(content.status().message());
  return std::string(reinterpret_cast<const char*>(content->bytes.data()),
                     content->bytes.size());
}

TEST(Zip, AStoredMemberIsReadInPlace) {
  const std::string archive = Archive({Sketch{}, Sketch{.name = "b"}});
  EXPECT_EQ(First(archive), "text");
  const FileBytes bytes = BorrowedBytes(archive, "z.npz");
  const auto members = ListZip(bytes);
  ASSERT_EQ(members->size(), 2);
  EXPECT_EQ(members->at(1).name, "b");
  EXPECT_EQ(UnpackMember(bytes, members->at(0))->bytes.data(),
            members->at(0).packed.data());
}

TEST(Zip, ACommentOfAnyBytesMayFollow) {
  std::string archive = Archive({Sketch{}});
  archive.resize(archive.size() - 2);
  EXPECT_EQ(First(archive + Little(6, 2) + "PK\5\6xy"), "text");
}

TEST(Zip, AFileThatIsNotAnArchiveIsRefused) {
  const std::string archive = Archive({Sketch{}});
  EXPECT_EQ(First("no archive"),
            "z.npz: found no end of a zip archive; expected one; the file was "
            "cut short or has another format; fetch it again");
  for (size_t size = 0; size < archive.size(); ++size) {
    EXPECT_NE(First(archive.substr(0, size)), "text") << size;
  }
}

TEST(Zip, UnsupportedFeaturesAreRefusedByName) {
  EXPECT_EQ(First(Archive({Sketch{.flags = 1}})),
            "z.npz: a: found an encrypted member; expected a plain one; pack "
            "it without a password");
  EXPECT_EQ(First(Archive({Sketch{.method = 12}})),
            "z.npz: a: found packing method 12; expected 0 (stored) or 8 "
            "(deflate); save it with numpy.savez or numpy.savez_compressed");
  std::string large = Archive({Sketch{}});
  large.replace(large.size() - 6, 4, "\xff\xff\xff\xff");
  EXPECT_EQ(First(large),
            "z.npz: found a zip64 archive; expected less than 4 GiB and 65535 "
            "members; save each array as a .npy file");
  std::string parts = Archive({Sketch{}});
  parts[parts.size() - 18] = 1;
  EXPECT_EQ(First(parts),
            "z.npz: found a part of an archive; expected a whole archive; join "
            "the parts");
}

TEST(Zip, NothingIsAllocatedForASizeThatCannotBe) {
  EXPECT_EQ(First(Archive({Sketch{.method = 8, .size = 4 * 1032 + 1}})),
            "z.npz: a: found 4129 bytes unpacked from 4; expected at most "
            "4128; fetch the file again");
  EXPECT_EQ(First(Archive({Sketch{.size = 5}})),
            "z.npz: a: found 5 bytes unpacked from 4; expected 4; fetch the "
            "file again");
}

TEST(Zip, MembersMayNotShareBytesOrNames) {
  EXPECT_EQ(First(Archive({Sketch{}, Sketch{}})),
            "z.npz: found member a twice; expected every name once; pack the "
            "archive again");
  // The content of the first member contains the whole second member.
  const std::string inner = Archive({Sketch{.name = "b"}});
  const std::string outer_content = inner.substr(0, 30 + 1 + 4);
  Sketch outer;
  outer.packed = outer_content;
  outer.size = static_cast<int64_t>(outer_content.size());
  EXPECT_EQ(First(Archive({outer, Sketch{.name = "b", .begin = 31}})),
            "z.npz: found members a and b in the same bytes; expected disjoint "
            "members; pack the archive again");
}

TEST(Zip, RecordsThatPointElsewhereAreRefused) {
  EXPECT_EQ(First(Archive({Sketch{.begin = 1}})),
            "z.npz: a: found no local header at byte 1; expected one of this "
            "name; fetch the file again");
  EXPECT_EQ(First(Archive({Sketch{.begin = 1 << 30}})),
            "z.npz: a: found no local header at byte 1073741824; expected one "
            "of this name; fetch the file again");
  std::string archive = Archive({Sketch{}});
  archive[30] = 'b';  // the name in the local header
  EXPECT_EQ(First(archive),
            "z.npz: a: found no local header at byte 0; expected one of this "
            "name; fetch the file again");
  archive = Archive({Sketch{}});
  archive[archive.size() - 10] ^= 1;  // the directory's size
  EXPECT_EQ(First(archive),
            "z.npz: found its directory at bytes 35..81; expected it to end at "
            "82; fetch the file again");
  archive = Archive({Sketch{}});
  archive[archive.size() - 14] = 2;  // entries on this disk
  archive[archive.size() - 12] = 2;  // and in all
  EXPECT_EQ(First(archive),
            "z.npz: found a directory cut short; expected one record for each "
            "member; "
            "fetch the file again");
  archive = Archive({Sketch{}});
  archive[archive.size() - 22 - 47 + 20] = 5;  // the packed size in the record
  EXPECT_EQ(First(archive),
            "z.npz: a: found 4 bytes of it; expected 5; fetch the file again");
}

TEST(Zip, AnArchiveWithoutArraysIsReportedWhenOneIsRead) {
  const std::string archive = Archive({Sketch{}});
  const auto npz = NpzFile::Open(BorrowedBytes(archive, "z.npz"));
  ASSERT_TRUE(npz.ok()) << npz.status();
  EXPECT_EQ(npz->Array("a").status().message(),
            "z.npz: found no array a; expected an archive with .npy members");
}

TEST(Zip, AWrongChecksumIsAnError) {
  EXPECT_EQ(First(Archive({Sketch{.checksum = 7}})),
            "z.npz: a: found checksum 3b8ba7c7; expected 00000007; fetch the "
            "file again");
}

}  // namespace
}  // namespace partita
