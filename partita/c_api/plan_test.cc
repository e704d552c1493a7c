// Plans through the C API: files, memory, and every refusal.
// SPDX-License-Identifier: Apache-2.0

#include <sys/resource.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "graph/literal_pool.h"
#include "gtest/gtest.h"
#include "partita/c_api.h"
#include "partita/c_api/testing/owned_handles.h"
#include "partita/c_api/testing/sample_plans.h"
#include "runtime/plan/plan_file.h"
#include "runtime/plan/plan_format.h"

namespace partita::c_api {
namespace {

std::string PathOf(absl::string_view name) {
  return absl::StrCat(testing::TempDir(), "/", name);
}

// The code and the message of a load that must fail.
std::string LoadFailure(const std::string& bytes) {
  const Caught caught;
  partita_plan* plan = reinterpret_cast<partita_plan*>(1);
  const partita_code code =
      partita_plan_load_memory(bytes.data(), bytes.size(), &plan, caught.get());
  EXPECT_EQ(plan, nullptr);
  EXPECT_EQ(code, caught.code());
  return absl::StrCat(partita_code_name(code), ": ", caught.message());
}

std::string Bytes() { return PlanBytes(PlanOf(kTwoDevices)); }

TEST(CApiPlanTest, VersionsAreThoseOfHeaderAndFormat) {
  EXPECT_EQ(partita_api_version(), PARTITA_API_VERSION);
  EXPECT_EQ(partita_plan_format_version(),
            static_cast<int32_t>(kPlanFormatVersion));
}

TEST(CApiPlanTest, AFileIsLoadedAndDescribed) {
  const std::string path = PathOf("described.plan");
  Plan plan = PlanOf(kTwoDevices);
  plan.notes.emplace().summary = "placed by hand";
  ASSERT_TRUE(WritePlan(plan, path).ok());
  const Caught caught;
  partita_plan* loaded = nullptr;
  ASSERT_EQ(partita_plan_load(path.c_str(), &loaded, caught.get()), PARTITA_OK)
      << caught.message();
  const Owned<partita_plan> owned(loaded);
  const char* text = nullptr;
  ASSERT_EQ(partita_plan_name(loaded, &text, nullptr), PARTITA_OK);
  EXPECT_STREQ(text, "f");
  ASSERT_EQ(partita_plan_summary(loaded, &text, nullptr), PARTITA_OK);
  EXPECT_STREQ(text, "placed by hand");
  ASSERT_EQ(partita_plan_warnings(loaded, &text, nullptr), PARTITA_OK);
  EXPECT_STREQ(text, "");
  size_t entries = 0;
  ASSERT_EQ(partita_plan_num_entries(loaded, &entries, nullptr), PARTITA_OK);
  EXPECT_EQ(entries, 1u);
  ASSERT_EQ(partita_plan_entry_name(loaded, 0, &text, nullptr), PARTITA_OK);
  EXPECT_STREQ(text, "f");
  EXPECT_EQ(partita_plan_entry_name(loaded, 1, &text, caught.get()),
            PARTITA_INVALID_ARGUMENT);
  EXPECT_EQ(caught.message(), "plan: found entry 1; expected an index below 1");
  EXPECT_EQ(text, nullptr);
}

TEST(CApiPlanTest, APlanWithoutNotesHasNoSummary) {
  const Owned<partita_plan> plan = PlanFromText(kTwoDevices);
  const char* text = nullptr;
  ASSERT_EQ(partita_plan_summary(plan.get(), &text, nullptr), PARTITA_OK);
  EXPECT_STREQ(text, "");
}

// The caller's bytes are not needed any more.
TEST(CApiPlanTest, APlanInMemoryIsACopy) {
  std::string bytes = Bytes();
  const Owned<partita_plan> plan = PlanFromBytes(bytes);
  bytes.assign(bytes.size(), 'x');
  const std::string path = PathOf("copy.plan");
  ASSERT_EQ(partita_plan_write(plan.get(), path.c_str(), nullptr), PARTITA_OK);
  EXPECT_EQ(FileBytes(path), Bytes());
}

TEST(CApiPlanTest, AMissingFileIsNamed) {
  const Caught caught;
  partita_plan* plan = nullptr;
  EXPECT_EQ(partita_plan_load("/nowhere/x.plan", &plan, caught.get()),
            PARTITA_NOT_FOUND);
  EXPECT_TRUE(absl::StrContains(caught.message(), "/nowhere/x.plan"))
      << caught.message();
}

TEST(CApiPlanTest, OtherBytesAreNoPlan) {
  EXPECT_EQ(LoadFailure("no plan at all"),
            "INVALID_ARGUMENT: plan in memory: found no plan; expected a file "
            "that `partita compile` wrote");
  EXPECT_EQ(LoadFailure(""),
            "INVALID_ARGUMENT: plan in memory: found no plan; expected a file "
            "that `partita compile` wrote");
}

TEST(CApiPlanTest, ANewerFormatIsNamed) {
  std::string bytes = Bytes();
  const uint32_t newer = kPlanFormatVersion + 1;
  std::memcpy(bytes.data() + 8, &newer, sizeof(newer));
  EXPECT_EQ(LoadFailure(bytes),
            absl::StrCat("INVALID_ARGUMENT: plan in memory: found plan format "
                         "version ",
                         newer, "; expected at most ", kPlanFormatVersion,
                         "; compile the model again or use a newer partita"));
}

TEST(CApiPlanTest, EveryTruncatedPlanIsRefused) {
  const std::string bytes = Bytes();
  for (size_t size = 0; size < bytes.size(); size += 7) {
    const std::string failure = LoadFailure(bytes.substr(0, size));
    EXPECT_TRUE(absl::StartsWith(failure, "INVALID_ARGUMENT: ")) << failure;
  }
}

TEST(CApiPlanTest, ADamagedByteIsFound) {
  std::string bytes = Bytes();
  bytes.back() ^= 1;
  EXPECT_EQ(LoadFailure(bytes),
            "INVALID_ARGUMENT: plan in memory: metadata: found other bytes "
            "than were written; the file is damaged: copy or compile it again");
}

TEST(CApiPlanTest, APlanThatIsNotProvedIsRefused) {
  // Without the wait, relu may read before the copy has ended.
  const std::string race =
      absl::StrReplaceAll(kTwoDevices, {{"      4  wait ev0\n", ""},
                                        {"5  kernel %y", "4  kernel %y"},
                                        {"6  fetch", "5  fetch"}});
  const std::string failure = LoadFailure(PlanBytes(PlanOf(race)));
  EXPECT_TRUE(absl::StartsWith(failure, "INVALID_ARGUMENT: plan @f"))
      << failure;
}

TEST(CApiPlanTest, ACertificateOfAnotherPlanIsRefused) {
  Plan plan = PlanOf(kTwoDevices);
  plan.certificate.emplace().checker = "partita checker 2";
  plan.certificate->plan_hash = "0123";
  const std::string failure = LoadFailure(PlanBytes(plan));
  EXPECT_TRUE(absl::StrContains(failure, "found a certificate over the hash"))
      << failure;
}

// kTwoDevices with its constant in the file weights.bin beside the plan.
std::string PlanWithWeightsElsewhere() {
  const float w[] = {1, -2, 3, -4, 5, -6};
  WriteBytes(PathOf("weights.bin"),
             {reinterpret_cast<const char*>(w), sizeof(w)});
  Plan plan = PlanOf(kTwoDevices);
  plan.entries[0].persistent[0].initial = plan.module.literals().AddMapped(
      {DType::kF32, {3, 2}, {}},
      MappedFile::Open(PathOf("weights.bin")).value(), 0);
  const std::string path = PathOf("elsewhere.plan");
  const auto written =
      WritePlan(plan, path, {.weights = WeightStorage::kReference});
  EXPECT_EQ(written.value().referenced, 24);
  return path;
}

TEST(CApiPlanTest, APlanInMemoryHasItsWeightsItself) {
  const std::string path = PlanWithWeightsElsewhere();
  partita_plan* plan = nullptr;
  EXPECT_EQ(partita_plan_load(path.c_str(), &plan, nullptr), PARTITA_OK);
  partita_plan_free(plan);
  EXPECT_EQ(LoadFailure(FileBytes(path)),
            "INVALID_ARGUMENT: plan in memory: found weights in other files; "
            "expected all of them in the plan; load it from its file, or "
            "compile the model with weights=embed");
}

// LoadFailure while the process may not have descriptors from `limit` on.
std::string LoadFailureBelow(int limit) {
  const std::string bytes = Bytes();
  rlimit before = {};
  EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit few = before;
  few.rlim_cur = static_cast<rlim_t>(limit);
  EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  const std::string failure = LoadFailure(bytes);
  EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  return failure;
}

TEST(CApiPlanTest, WithoutAFileDescriptorAPlanInMemoryIsNotLoaded) {
  EXPECT_EQ(LoadFailureBelow(0),
            "RESOURCE_EXHAUSTED: plan in memory: cannot be copied: Too many "
            "open files; expected memory and a free file descriptor; free "
            "some, or load the plan from a file");
}

TEST(CApiPlanTest, OneFileDescriptorIsNotEnoughForAPlanInMemory) {
  const int lowest = dup(STDERR_FILENO);  // the next one that is free
  ASSERT_GE(lowest, 0);
  close(lowest);
  EXPECT_EQ(LoadFailureBelow(lowest + 1),
            absl::StrCat("RESOURCE_EXHAUSTED: plan in memory: found that its "
                         "copy, /proc/self/fd/",
                         lowest,
                         ", cannot be opened; expected two free file "
                         "descriptors and /proc; free some, mount it, or load "
                         "the plan from a file"));
}

TEST(CApiPlanTest, NullIsRefused) {
  const Caught caught;
  partita_plan* plan = nullptr;
  EXPECT_EQ(partita_plan_load(nullptr, &plan, caught.get()),
            PARTITA_INVALID_ARGUMENT);
  EXPECT_EQ(caught.message(),
            "path: found NULL; expected the name of a plan file");
  EXPECT_EQ(partita_plan_load("x.plan", nullptr, caught.get()),
            PARTITA_INVALID_ARGUMENT);
  EXPECT_EQ(caught.message(),
            "plan: found NULL; expected a pointer to a variable for the "
            "result");
  EXPECT_EQ(partita_plan_load_memory(nullptr, 4, &plan, caught.get()),
            PARTITA_INVALID_ARGUMENT);
  EXPECT_EQ(caught.message(),
            "bytes: found NULL; expected those of a plan file");
  const Owned<partita_plan> good = PlanFromText(kTwoDevices);
  EXPECT_EQ(partita_plan_write(good.get(), nullptr, nullptr),
            PARTITA_INVALID_ARGUMENT);
  EXPECT_EQ(partita_plan_name(good.get(), nullptr, nullptr),
            PARTITA_INVALID_ARGUMENT);
}

TEST(CApiPlanTest, AFolderThatDoesNotExistIsNotWrittenTo) {
  const Owned<partita_plan> plan = PlanFromText(kTwoDevices);
  const Caught caught;
  EXPECT_NE(partita_plan_write(plan.get(), "/nowhere/x.plan", caught.get()),
            PARTITA_OK);
  EXPECT_TRUE(absl::StrContains(caught.message(), "/nowhere/x.plan"))
      << caught.message();
}

}  // namespace
}  // namespace partita::c_api
