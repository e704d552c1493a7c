// Tests of plan files: round trips, damage, full disks, the golden file.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/plan_file.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runtime/plan/plan_format.h"
#include "runtime/plan/plan_hash.h"
#include "runtime/plan/plan_text.h"
#include "runtime/plan/testing/example_plans.h"

namespace partita {
namespace {

namespace fs = std::filesystem;

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// Overwrites the file with as many bytes as before: truncating it first takes
// the disk milliseconds.
void Overwrite(const std::string& path, const std::string& bytes) {
  std::fstream(path, std::ios::binary | std::ios::in | std::ios::out) << bytes;
}

class PlanFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = absl::StrCat(testing::TempDir(), "/plan_file_", getpid());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    folder_ = fs::canonical(folder_);
    path_ = folder_ + "/m.plan";
  }
  void TearDown() override { fs::remove_all(folder_); }

  // The names in the folder: no file may be left behind.
  std::vector<std::string> Listing() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      names.push_back(entry.path().filename());
    }
    return names;
  }
  std::string Written(const Plan& plan) const {
    const absl::Status status = WritePlan(plan, path_).status();
    EXPECT_TRUE(status.ok()) << status;
    return ReadFile(path_);
  }
  // The error of ReadPlan on these bytes, without the folder's name.
  std::string ErrorOf(const std::string& bytes,
                      const ReadPlanOptions& options = {}) const {
    WriteFile(path_, bytes);
    const std::string message(ReadPlan(path_, options).status().message());
    return message.substr(std::min(message.size(), folder_.size() + 1));
  }

  std::string folder_;
  std::string path_;
};

// Updates the metadata's hash, so that damage passes it.
void MendHash(std::string& bytes) {
  const absl::Span<const std::byte> span(
      reinterpret_cast<const std::byte*>(bytes.data()), bytes.size());
  absl::StatusOr<PlanHeader> header = DecodeHeader(span);
  if (!header.ok()) return;
  header->metadata_hash =
      HashBytes(span.subspan(header->metadata_offset, header->metadata_size));
  const auto encoded = EncodeHeader(*header);
  std::memcpy(bytes.data(), encoded.data(), encoded.size());
}

TEST_F(PlanFile, GivesBackWhatWasWritten) {
  const Plan plan = EveryConstructWithBytes();
  Written(plan);
  absl::StatusOr<Plan> read = ReadPlan(path_);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(PrintPlan(*read, {.reasons = true}),
            PrintPlan(plan, {.reasons = true}));
  EXPECT_EQ(read->code_objects, plan.code_objects);
  EXPECT_EQ(read->notes->summary, "all on one device");
  EXPECT_EQ(read->notes->entries[0].bound_by, "load of cpu:0");
  EXPECT_EQ(read->notes->entries.size(), 2u);
  EXPECT_EQ(read->notes->entries[0].predicted[0].end_seconds, 1e-6);
  EXPECT_EQ(PlanHash(*read), PlanHash(plan));
  EXPECT_EQ(Listing(), std::vector<std::string>{"m.plan"});
}

TEST_F(PlanFile, NamesMayBeOfAnyLength) {
  Plan plan = EveryConstructWithBytes();
  const std::string name(5000, 'x');
  plan.name = name;
  plan.entries[0].buffers[0].name = name;
  Graph& graph = *plan.module.functions()[0];
  graph.value(graph.inputs()[0]).name = name;
  plan.entries[0].inputs[0].name = name;
  ASSERT_TRUE(WritePlan(plan, path_).ok());
  const absl::StatusOr<Plan> read = ReadPlan(path_);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(PrintPlan(*read), PrintPlan(plan));
  const auto parsed = ParsePlan(PrintPlan(plan), "plan", OpSet::BuiltIn());
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->entries[0].inputs[0].name, name);
}

TEST_F(PlanFile, ConstantsStayInTheFile) {
  Written(EveryConstructWithBytes());
  absl::StatusOr<Plan> read = ReadPlan(path_);
  ASSERT_TRUE(read.ok()) << read.status();
  const LiteralPool& pool = read->module.literals();
  const LiteralId initial = read->entries[0].persistent[1].initial;
  ASSERT_TRUE(pool.file_range(initial).has_value());
  EXPECT_EQ(pool.tensor(initial).data<float>()[19], 26);
  const Graph& graph = *read->entries[0].graph;
  const auto range =
      pool.file_range(graph.view(graph.order()[1]).attr_literal("value"));
  ASSERT_TRUE(range.has_value());
  EXPECT_EQ(range->offset % 4096, 0);
}

TEST_F(PlanFile, TheSamePlanGivesTheSameBytes) {
  const std::string first = Written(EveryConstructWithBytes());
  EXPECT_EQ(Written(EveryConstructWithBytes()), first);
  // A plan that was read back and written over its own file has the same bytes.
  absl::StatusOr<Plan> read = ReadPlan(path_);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(Written(*read), first);
}

TEST_F(PlanFile, EqualConstantsAreStoredOnce) {
  Plan plan = EveryConstructWithBytes();
  const std::string once = Written(plan);
  LiteralPool& pool = plan.module.literals();
  PersistentValue again = plan.entries[0].persistent[1];
  again.initial = pool.Add(pool.tensor(again.initial).Clone());
  plan.entries[0].persistent.push_back(again);
  EXPECT_LT(Written(plan).size(), once.size() + 100);
}

TEST_F(PlanFile, TheOldFileStaysUntilTheNewOneIsComplete) {
  WriteFile(path_, "old");
  Plan declared = *ParsePlan(EveryConstruct(), "t", OpSet::BuiltIn());
  const absl::Status status = WritePlan(declared, path_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message(),
            "plan @f: constant f32[2] #3ddb0cb5f55ef4a83a2f9cce8aa0a0c2: found "
            "no bytes; expected them at hand; take the plan from its file, not "
            "from its text");
  EXPECT_EQ(ReadFile(path_), "old");
}

TEST_F(PlanFile, AFullDiskLeavesNothingBehind) {
  const Plan plan = EveryConstructWithBytes();
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 5000;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const absl::Status status = WritePlan(plan, path_).status();
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, handler);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(),
            path_ +
                ": cannot be written: File too large; after 5000 bytes, "
                "which are removed again; allow larger files, or name one on "
                "another disk");
  EXPECT_TRUE(Listing().empty());
}

TEST_F(PlanFile, AFolderThatIsNotThereIsAnError) {
  const absl::Status status =
      WritePlan(EveryConstructWithBytes(), folder_ + "/no/m.plan").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(status.message(),
            folder_ +
                "/no/m.plan: cannot be created: No such file or directory; "
                "make the folder, or name a file in another");
  EXPECT_FALSE(WritePlan(EveryConstructWithBytes(), folder_).ok());
  EXPECT_TRUE(Listing().empty());
}

// A plan whose large constant is stored in `weights`.
Plan PlanOver(const std::string& weights) {
  Plan plan = EveryConstructWithBytes();
  std::vector<float> values(1500, 2.5f);
  std::string bytes(8, 'h');
  bytes.append(reinterpret_cast<const char*>(values.data()), 6000);
  WriteFile(weights, bytes);
  Graph& graph = *plan.module.FindFunction("f");
  const NodeId constant = graph.order()[1];
  graph.node(constant).attributes.Set(
      "value", plan.module.literals().AddMapped({DType::kF32, {1500}, {}},
                                                *MappedFile::Open(weights), 8));
  EXPECT_TRUE(graph.InferAgain(constant).ok());
  return plan;
}

TEST_F(PlanFile, ReferencedWeightsStayWhereTheyAre) {
  const std::string weights = folder_ + "/w.bin";
  const Plan plan = PlanOver(weights);
  const size_t embedded = Written(plan).size();
  const auto written = WritePlan(plan, path_, {WeightStorage::kReference});
  ASSERT_TRUE(written.ok()) << written.status();
  EXPECT_EQ(written->referenced, 6000);
  EXPECT_EQ(written->misplaced, 0);
  EXPECT_EQ(written->embedded,
            WritePlan(plan, folder_ + "/whole.plan")->embedded - 6000);
  EXPECT_LT(ReadFile(path_).size() + 4096, embedded);
  absl::StatusOr<Plan> read = ReadPlan(path_);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(PrintPlan(*read), PrintPlan(plan));
  const Graph& graph = *read->entries[0].graph;
  EXPECT_EQ(graph.view(graph.order()[1]).result(0).constant()->data<float>()[7],
            2.5f);

  // The weights change, then shrink, then disappear.
  std::string bytes = ReadFile(weights);
  bytes[1000] ^= 1;
  WriteFile(weights, bytes);
  EXPECT_TRUE(ReadPlan(path_, {.verify_hashes = false}).ok());
  EXPECT_TRUE(absl::StrContains(
      ReadPlan(path_).status().message(),
      "the file was changed since the plan was compiled: compile again"));
  fs::resize_file(weights, 6000);
  EXPECT_EQ(ReadPlan(path_).status().message(),
            absl::StrCat(path_, ": constant 0 in ", weights,
                         ": found 6000 bytes at 8; expected a part of the "
                         "file's 6000 bytes"));
  fs::remove(weights);
  EXPECT_EQ(ReadPlan(path_).status().message(),
            absl::StrCat(path_, ": weights: ", weights,
                         ": cannot be opened: No such file or directory; "
                         "expected a file that can be read; correct its name "
                         "or its rights; it is what the plan was compiled "
                         "from"));
}

// Reading never leaves the plan's folder, so constants outside are copied.
TEST_F(PlanFile, WeightsOutsideThePlansFolderAreEmbedded) {
  const std::string weights = folder_ + "/w.bin";
  const Plan plan = PlanOver(weights);
  fs::create_directory(folder_ + "/plans");
  const std::string path = folder_ + "/plans/m.plan";
  const auto written = WritePlan(plan, path, {WeightStorage::kReference});
  ASSERT_TRUE(written.ok()) << written.status();
  EXPECT_EQ(written->referenced, 0);
  EXPECT_EQ(written->outside, 6000);
  fs::remove(weights);
  EXPECT_TRUE(ReadPlan(path).ok()) << ReadPlan(path).status();
}

TEST_F(PlanFile, ALinkOutOfThePlansFolderIsNotFollowed) {
  fs::create_directory(folder_ + "/plans");
  const std::string weights = folder_ + "/plans/w.bin";
  const std::string path = folder_ + "/plans/m.plan";
  ASSERT_TRUE(
      WritePlan(PlanOver(weights), path, {WeightStorage::kReference}).ok());
  ASSERT_TRUE(ReadPlan(path).ok()) << ReadPlan(path).status();
  fs::rename(weights, folder_ + "/w.bin");
  fs::create_symlink("../w.bin", weights);
  EXPECT_TRUE(absl::StrContains(
      ReadPlan(path).status().message(),
      "outside; expected a file in the plan's folder or below; "))
      << ReadPlan(path).status();
}

TEST_F(PlanFile, NamesWhatIsWrongWithAHeader) {
  const std::string good = Written(EveryConstructWithBytes());
  EXPECT_EQ(ErrorOf(""),
            "m.plan: found no plan; expected a file that `partita "
            "compile` wrote");
  EXPECT_EQ(ErrorOf(good.substr(0, 20)),
            "m.plan: found 20 bytes; expected a header of 64; the file was cut "
            "short: copy or compile it again");
  std::string newer = good;
  newer[8] = 2;
  EXPECT_EQ(ErrorOf(newer),
            "m.plan: found plan format version 2; expected at most 1; compile "
            "the model again or use a newer partita");
  newer[8] = 0;
  EXPECT_EQ(ErrorOf(newer),
            "m.plan: found plan format version 0; expected at least 1; the "
            "file is damaged: copy or compile it again");
  for (size_t unused : {12, 15, 56, 63}) {
    std::string filled = good;
    filled[unused] = 1;
    EXPECT_EQ(ErrorOf(filled),
              "m.plan: found bytes 12..15 or 56..63 of the header that are not "
              "zero; the file is damaged: copy or compile it again");
  }
  EXPECT_EQ(ErrorOf(good + "x"),
            absl::StrCat("m.plan: found ", good.size() + 1, " bytes; expected ",
                         good.size(),
                         " as the header says; the file was cut short or "
                         "changed: copy or compile it again"));
  std::string damaged = good;
  damaged[good.size() - 9] ^= 4;
  EXPECT_EQ(ErrorOf(damaged),
            "m.plan: metadata: found other bytes than were written; the file "
            "is damaged: copy or compile it again");
}

TEST_F(PlanFile, DamagedConstantsAreFound) {
  std::string bytes = Written(EveryConstructWithBytes());
  bytes[4096 + 77] ^= 1;  // in the constant of 6000 bytes
  EXPECT_TRUE(absl::StartsWith(ErrorOf(bytes), "m.plan: constant 0: found "));
  EXPECT_EQ(ErrorOf(bytes, {.verify_hashes = false}), "");
}

TEST_F(PlanFile, EveryCutIsAnError) {
  const std::string good = Written(EveryConstructWithBytes());
  for (size_t size = good.size(); size-- > 0;) {
    fs::resize_file(path_, size);
    ASSERT_FALSE(ReadPlan(path_).ok()) << size;
  }
}

TEST_F(PlanFile, EveryFlippedBitIsAnError) {
  const std::string good = Written(EveryConstructWithBytes());
  std::mt19937 random(11);
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = good;
    // Half of them in the first and last two kilobytes, which hold the
    // structure.
    size_t at = random() % bytes.size();
    if (i % 2 == 0) {
      at = at % 4096 < 64 ? at % 64 : bytes.size() - 1 - at % 4096;
    }
    bytes[at] ^= 1 << random() % 8;
    Overwrite(path_, bytes);
    ASSERT_FALSE(ReadPlan(path_).ok()) << "byte " << at;
  }
}

// The first constant begins at a page, after the header's 64 bytes. The gap is
// checked even without the hashes of constants.
TEST_F(PlanFile, TheGapsBetweenPartsAreZero) {
  const std::string good = Written(EveryConstructWithBytes());
  const int64_t metadata =
      DecodeHeader(
          {reinterpret_cast<const std::byte*>(good.data()), good.size()})
          ->metadata_offset;
  ASSERT_EQ(good[static_cast<size_t>(metadata) - 1], 0);
  for (const int64_t at : {int64_t{64}, int64_t{4095}, metadata - 1}) {
    std::string bytes = good;
    bytes[static_cast<size_t>(at)] = 1;
    for (const bool verify : {true, false}) {
      EXPECT_EQ(ErrorOf(bytes, {.verify_hashes = verify}),
                absl::StrCat("m.plan: found byte ", at,
                             ", which is between the parts of the file, not "
                             "zero; expected zeros there; the file is damaged: "
                             "copy or compile it again"));
    }
  }
}

// Damage with a matching hash, as an attacker would forge it: the result is an
// error, or a plan that can be printed and written again.
TEST_F(PlanFile, ForgedMetadataIsSafeToRead) {
  const std::string good = Written(EveryConstructWithBytes());
  const int64_t start =
      DecodeHeader(
          {reinterpret_cast<const std::byte*>(good.data()), good.size()})
          ->metadata_offset;
  std::mt19937 random(13);
  int readable = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string bytes = good;
    for (int k = 0; k <= i % 3; ++k) {
      const size_t at = start + random() % (bytes.size() - start);
      bytes[at] = i % 2 == 0 ? bytes[at] ^ (1 << random() % 8)
                             : static_cast<char>(random());
    }
    MendHash(bytes);
    Overwrite(path_, bytes);
    absl::StatusOr<Plan> read = ReadPlan(path_);
    if (!read.ok()) continue;
    ++readable;
    PrintPlan(*read, {.reasons = true});
    for (const Entry& entry : read->entries) {
      Expand(entry).status().IgnoreError();
    }
    if (readable > 20) continue;  // each write waits for the disk
    WritePlan(*read, folder_ + "/again.plan").status().IgnoreError();
  }
  EXPECT_GT(readable, 50);
}

template <typename T>
std::string Bytes(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

// Replaces `from`, which the metadata has, by `to`, and updates the hash.
std::string Forged(std::string bytes, const std::string& from,
                   const std::string& to) {
  const int64_t start =
      DecodeHeader(
          {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()})
          ->metadata_offset;
  EXPECT_NE(bytes.find(from, start), std::string::npos);
  for (size_t at = start; (at = bytes.find(from, at)) != std::string::npos;) {
    bytes.replace(at, from.size(), to);
  }
  MendHash(bytes);
  return bytes;
}

TEST_F(PlanFile, PredictedTimesAreFiniteAndNotNegative) {
  const std::string good = Written(EveryConstructWithBytes());
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const auto error_with = [&](double from, double to) {
    return ErrorOf(Forged(good, Bytes(from), Bytes(to)));
  };
  EXPECT_EQ(error_with(3e-6, kNan),
            "m.plan: notes: step: found nan predicted seconds; expected 0 to "
            "1e+09; compile the plan again");
  EXPECT_EQ(error_with(3e-6, -1),
            "m.plan: notes: step: found -1 predicted seconds; expected 0 to "
            "1e+09; compile the plan again");
  EXPECT_EQ(error_with(2e-6, kInfinity),
            "m.plan: notes: bound: found inf predicted seconds; expected 0 to "
            "1e+09; compile the plan again");
  EXPECT_EQ(error_with(1e-6, 1e300),
            "m.plan: notes: command 0: found 1e+300 predicted seconds; "
            "expected 0 to 1e+09; compile the plan again");
  EXPECT_EQ(error_with(1e-6, 5), "");
}

// FlatBuffers' verifier accepts this.
TEST_F(PlanFile, MisalignedNumbersAreRefused) {
  std::string bytes = Written(EveryConstructWithBytes());
  const std::string first_command = Bytes(0.0) + Bytes(1e-6);
  const size_t length = bytes.find(first_command) - sizeof(uint32_t);
  ASSERT_LT(length, bytes.size());
  int moved = 0;  // references to the vector of commands, moved by 4 bytes
  for (size_t at = length % 4; at < length; at += 4) {
    if (bytes.compare(at, 4, Bytes(static_cast<uint32_t>(length - at))) != 0) {
      continue;
    }
    bytes.replace(at, 4, Bytes(static_cast<uint32_t>(length - at + 4)));
    ++moved;
  }
  ASSERT_EQ(moved, 1);
  bytes[length + 4] = 1;  // the length that the reader finds there
  MendHash(bytes);
  EXPECT_EQ(ErrorOf(bytes),
            "m.plan: metadata: found misaligned numbers of 8 bytes; the file "
            "is damaged: copy or compile it again");
}

TEST_F(PlanFile, NotesThatCannotBeReadAreNotWritten) {
  Plan plan = EveryConstructWithBytes();
  plan.notes->entries[0].nodes[0].seconds = -2;
  EXPECT_EQ(WritePlan(plan, path_).status().message(),
            "notes: node 0: found -2 predicted seconds; expected 0 to 1e+09; "
            "compile the plan again");
  plan = EveryConstructWithBytes();
  plan.notes->entries[0].predicted[0] = {3, 2};  // ends before it starts
  EXPECT_EQ(WritePlan(plan, path_).status().message(),
            "notes: command 0: found 2 predicted seconds; expected 3 to "
            "1e+09; compile the plan again");
}

// Otherwise a small file could name a large file's bytes repeatedly, and
// reading it would take forever.
TEST_F(PlanFile, ConstantsThatShareBytesAreRefused) {
  const std::string good = Written(EveryConstructWithBytes());
  const absl::StatusOr<Plan> read = ReadPlan(path_);
  ASSERT_TRUE(read.ok()) << read.status();
  const auto range = read->module.literals().file_range(
      read->entries[0].persistent[1].initial);
  ASSERT_TRUE(range.has_value());
  const std::string shared =
      Forged(good, Bytes<int64_t>(range->offset), Bytes<int64_t>(4096));
  for (const bool verify : {true, false}) {
    const std::string error = ErrorOf(shared, {.verify_hashes = verify});
    EXPECT_TRUE(absl::StrContains(error, "m.plan: constant ")) << error;
    EXPECT_TRUE(absl::StrContains(
        error,
        ": found bytes 4096..4176, which overlap another constant; "
        "expected separate bytes; compile again"))
        << error;
  }
}

// Makes 80 bytes of `weights`, at `offset`, the variable's initial value.
void PlaceInitial(const std::string& weights, int64_t offset, Plan& plan) {
  plan.entries[0].persistent[1].initial = plan.module.literals().AddMapped(
      {DType::kF32, {20}, {}}, *MappedFile::Open(weights), offset);
}

TEST_F(PlanFile, AFileHasItsBytesOnceUnderAllItsNames) {
  const std::string one = folder_ + "/one.bin", two = folder_ + "/two.bin";
  Plan plan = PlanOver(one);
  fs::copy_file(one, two);
  PlaceInitial(two, 16, plan);
  ASSERT_TRUE(WritePlan(plan, path_, {WeightStorage::kReference}).ok());
  EXPECT_TRUE(ReadPlan(path_).ok()) << ReadPlan(path_).status();
  fs::remove(two);
  fs::create_symlink(one, two);
  EXPECT_TRUE(
      absl::StrContains(ReadPlan(path_).status().message(),
                        "found bytes 16..96, which overlap another constant"));
}

TEST_F(PlanFile, OfConstantsThatOverlapInAFileOneIsEmbedded) {
  const std::string weights = folder_ + "/w.bin";
  Plan plan = PlanOver(weights);
  PlaceInitial(weights, 16, plan);
  const auto written = WritePlan(plan, path_, {WeightStorage::kReference});
  ASSERT_TRUE(written.ok()) << written.status();
  EXPECT_EQ(written->referenced, 6000);
  EXPECT_EQ(written->misplaced, 80);
  const absl::StatusOr<Plan> read = ReadPlan(path_);
  ASSERT_TRUE(read.ok()) << read.status();
  const LiteralPool& pool = read->module.literals();
  EXPECT_EQ(
      pool.tensor(read->entries[0].persistent[1].initial).data<float>()[19],
      2.5f);
}

TEST_F(PlanFile, RefusesIdsThatDoNotExist) {
  Plan plan = EveryConstructWithBytes();
  plan.entries[0].programs[0].commands[1].operands[0] = BufferId(9);
  EXPECT_EQ(WritePlan(plan, path_).status().message(),
            "entry @f: program main: command 1: found buffer 9; expected one "
            "of 5");
}

TEST(PlanHash, NotesAndCertificatesDoNotCount) {
  Plan plan = EveryConstructWithBytes();
  const std::string hash = PlanHash(plan);
  EXPECT_EQ(hash.size(), 32u);
  plan.notes.reset();
  plan.certificate.reset();
  EXPECT_EQ(PlanHash(plan), hash);
  plan.entries[0].buffers[2].range.offset += 64;
  EXPECT_NE(PlanHash(plan), hash);
}

// The file of format version 1. Every later version must read it, so it is
// never rewritten. PARTITA_UPDATE_GOLDEN=folder rewrites the text, and writes
// the file of a new version.
TEST_F(PlanFile, ReadsTheGoldenFileOfVersion1) {
  if (const char* folder = std::getenv("PARTITA_UPDATE_GOLDEN")) {
    const Plan plan = EveryConstructWithBytes();
    const std::string stem =
        absl::StrCat(folder, "/format_", kPlanFormatVersion);
    if (!fs::exists(stem + ".plan")) {
      ASSERT_TRUE(WritePlan(plan, stem + ".plan").ok());
    }
    WriteFile(stem + ".txt", PrintPlan(plan, {.reasons = true}));
  }
  absl::StatusOr<Plan> read = ReadPlan("tests/plans/format_1.plan");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(PrintPlan(*read, {.reasons = true}),
            ReadFile("tests/plans/format_1.txt"));
}

}  // namespace
}  // namespace partita
