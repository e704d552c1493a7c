// Tests of profiles: the file, what it is of, merging, and machine files that
// name one.
// SPDX-License-Identifier: Apache-2.0

#include "placement/machine/profile.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "placement/machine/machine.h"
#include "placement/machine/sample_machines.h"

namespace partita {
namespace {

constexpr int64_t kMemory = int64_t{1} << 30;

MeasuredNode Node(const std::string& signature) {
  return {.signature = signature,
          .family = {.op = "matmul"},
          .kernel = "onednn.matmul",
          .version = "onednn 2.6.3",
          .roofline = 1e-5,
          .warm = 2e-5,
          .cold = 8e-5};
}

// Of EqualCpus(2).
Profile Sample() {
  Profile profile = {.host = {.cpu = "Some CPU", .isa = "avx2", .threads = 2}};
  profile.devices.push_back(EqualCpus(2, kMemory).devices[0].traits);
  profile.devices[0].name.clear();
  profile.devices[0].isa = "avx2";
  profile.nodes = {Node("a"), Node("b")};
  profile.nodes[1].in_steps = SecondsInSteps{.seconds = 3e-5, .steps = 4};
  profile.links = {
      {.from = "cpu:0", .to = "cpu:1", .bandwidth = 5e9, .latency = 2e-6}};
  return profile;
}

Machine TwoCpus() {
  Machine machine = EqualCpus(2, kMemory);
  for (MachineDevice& device : machine.devices) device.traits.isa = "avx2";
  return machine;
}

std::string ErrorOf(absl::string_view from, absl::string_view to) {
  const std::string text = ProfileToJson(Sample());
  const std::string changed = absl::StrReplaceAll(text, {{from, to}});
  EXPECT_NE(changed, text) << from;
  return std::string(ParseProfile(changed, "p").status().message());
}

TEST(ProfileTest, WhatIsWrittenReadsAsTheSame) {
  const absl::StatusOr<Profile> again =
      ParseProfile(ProfileToJson(Sample()), "p");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(*again, Sample());
  EXPECT_EQ(ProfileHash(*again), ProfileHash(Sample()));
}

TEST(ProfileTest, ADeviceOfAnyInstructionSetStaysOne) {
  Profile profile = Sample();
  profile.devices[0].isa.clear();
  const absl::StatusOr<Profile> again =
      ParseProfile(ProfileToJson(profile), "p");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(*again, profile);
}

TEST(ProfileTest, EveryMeasurementChangesTheHash) {
  Profile other = Sample();
  other.nodes[1].in_steps->seconds = 4e-5;
  EXPECT_NE(ProfileHash(other), ProfileHash(Sample()));
  other = Sample();
  other.links[0].latency = 0;
  EXPECT_NE(ProfileHash(other), ProfileHash(Sample()));
}

TEST(ProfileTest, AMeasuredWakeUpIsThatOfAHostWithCores) {
  Profile profile = Sample();
  EXPECT_FALSE(ParseProfile(ProfileToJson(profile), "p")->wake_seconds);
  const std::string hash = ProfileHash(profile);
  profile.wake_seconds = 3e-5;
  profile.copies = {.bandwidth = 2e10, .latency = 1e-7};
  EXPECT_NE(ProfileHash(profile), hash);
  EXPECT_EQ(*ParseProfile(ProfileToJson(profile), "p"), profile);
  Machine machine = TwoCpus();
  ASSERT_TRUE(UseProfile(profile, "p", machine).ok());
  EXPECT_EQ(machine.host.wake_seconds, 0);
  EXPECT_EQ(machine.host.copy_bandwidth, 0);
  machine.host = {.cores = 2, .wake_seconds = 1e-5};
  ASSERT_TRUE(UseProfile(profile, "p", machine).ok());
  EXPECT_EQ(machine.host.wake_seconds, 3e-5);
  EXPECT_EQ(machine.host.copy_bandwidth, 2e10);
  EXPECT_EQ(machine.host.copy_latency, 1e-7);
  Profile merged = Sample();
  MergeProfile(profile, merged);
  MergeProfile(Sample(), merged);
  EXPECT_EQ(merged.wake_seconds, 3e-5);
  EXPECT_EQ(merged.copies, profile.copies);
}

// Plans note the machine with these figures, and have to be readable.
TEST(ProfileTest, FiguresOfTheHostAreThoseOfMachineFiles) {
  const auto error_of = [](const Profile& profile) {
    return std::string(
        ParseProfile(ProfileToJson(profile), "p").status().message());
  };
  Profile profile = Sample();
  profile.wake_seconds = 61;
  EXPECT_EQ(error_of(profile),
            "p:5:11: wake: found 61.0; expected a number from 0 to 60");
  profile.wake_seconds = 60;
  profile.copies = {.bandwidth = 1, .latency = 61};
  EXPECT_EQ(
      error_of(profile),
      "p:6:43: copies.latency: found 61.0; expected a number from 0 to 60");
}

TEST(ProfileTest, TheSizeOfTheCacheIsKept) {
  Profile profile = Sample();
  profile.cache_bytes = 32 << 20;
  EXPECT_EQ(*ParseProfile(ProfileToJson(profile), "p"), profile);
  Profile merged = Sample();
  MergeProfile(profile, merged);
  EXPECT_EQ(merged.cache_bytes, 32 << 20);
}

TEST(ProfileTest, DamageIsFoundAndNamed) {
  EXPECT_EQ(
      ErrorOf("2e-05", "3e-05"),
      "p:3:15: checksum: found measurements that were changed or damaged; "
      "expected the file as it was written; restore it, or measure again "
      "with `partita profile`");
  const std::string text = ProfileToJson(Sample());
  for (size_t end = 0; end + 2 < text.size(); end += 7) {
    const absl::Status fault = ParseProfile(text.substr(0, end), "p").status();
    EXPECT_TRUE(absl::EndsWith(
        fault.message(),
        "; restore the file as it was written, or measure again with `partita "
        "profile`"))
        << end << ": " << fault;
  }
}

TEST(ProfileTest, ANewerFormatIsNamed) {
  EXPECT_EQ(
      ErrorOf("\"format\": 1", "\"format\": 2, \"more\": 1"),
      "p:2:13: format: found 2; expected 1, as this program reads no newer "
      "profiles; use a newer program, or measure again with `partita "
      "profile`");
}

TEST(ProfileTest, NumbersAndTextsAreBounded) {
  EXPECT_TRUE(absl::StrContains(ErrorOf("2e-05", "-1"), "nodes[0].warm"));
  EXPECT_TRUE(absl::StrContains(ErrorOf("2e-05", "1e99"), "nodes[0].warm"));
  EXPECT_TRUE(absl::StrContains(ErrorOf("\"steps\": 4", "\"steps\": 0"),
                                "nodes[1].steps"));
  EXPECT_TRUE(absl::StrContains(
      ErrorOf("\"a\"", absl::StrCat("\"", std::string(2000, 'a'), "\"")),
      "nodes[0].signature: found a text of 2000 bytes"));
  EXPECT_TRUE(
      absl::StrContains(ErrorOf("\"signature\": \"b\"", "\"signature\": \"a\""),
                        "signature a out of order or twice"));
  EXPECT_TRUE(
      absl::StrContains(ErrorOf("\"dtype\": \"f32\"", "\"dtype\": \"f31\""),
                        "nodes[0].dtype: found \"f31\""));
}

TEST(ProfileTest, ALinkIsMeasuredOnce) {
  Profile profile = Sample();
  profile.links.push_back(
      {.from = "cpu:1", .to = "cpu:0", .bandwidth = 1e9, .latency = 0});
  EXPECT_EQ(
      ParseProfile(ProfileToJson(profile), "p").status().message(),
      "p:12:12: links: found the link from cpu:1 to cpu:0 out of order or "
      "twice; expected every pair of devices once, sorted");
  profile.links = Sample().links;
  Profile fresh = Sample();
  fresh.nodes.clear();
  fresh.links = {
      {.from = "cpu:1", .to = "cpu:0", .bandwidth = 1e9, .latency = 0}};
  MergeProfile(fresh, profile);
  EXPECT_EQ(profile.links, fresh.links);
}

// Sample() with both kinds of collectives.
Profile WithCollectives() {
  Profile profile = Sample();
  profile.links[0].collectives = {
      .gather = CollectiveFigures{.bandwidth = 8e9, .latency = 2e-5},
      .reduce = CollectiveFigures{.bandwidth = 9e9, .latency = 3e-5}};
  return profile;
}

TEST(ProfileTest, MeasuredCollectivesAreThoseOfTheLink) {
  const Profile profile = WithCollectives();
  EXPECT_NE(ProfileHash(profile), ProfileHash(Sample()));
  EXPECT_EQ(*ParseProfile(ProfileToJson(profile), "p"), profile);
  Machine machine = TwoCpus();
  ASSERT_TRUE(UseProfile(profile, "p", machine).ok());
  EXPECT_EQ(machine.links[0].collectives, profile.links[0].collectives);
  // What plans note.
  const absl::StatusOr<Machine> noted =
      ParseMachine(MachineToJson(machine), "notes");
  ASSERT_TRUE(noted.ok()) << noted.status();
  EXPECT_EQ(noted->links[0].collectives, profile.links[0].collectives);
}

TEST(ProfileTest, CollectivesThatWereNotMeasuredStay) {
  Profile fresh = WithCollectives();
  fresh.links[0].latency = 1e-6;
  fresh.links[0].collectives.gather->latency = 4e-5;
  fresh.links[0].collectives.reduce.reset();
  Profile merged = WithCollectives();
  MergeProfile(fresh, merged);
  ASSERT_EQ(merged.links.size(), 1u);
  EXPECT_EQ(merged.links[0].latency, 1e-6);
  EXPECT_EQ(merged.links[0].collectives.gather->latency, 4e-5);
  EXPECT_EQ(merged.links[0].collectives.reduce->latency, 3e-5);
  // The machine file's stay too.
  Machine machine = TwoCpus();
  machine.links[0].collectives = WithCollectives().links[0].collectives;
  ASSERT_TRUE(UseProfile(fresh, "p", machine).ok());
  EXPECT_EQ(machine.links[0].collectives.gather->latency, 4e-5);
  EXPECT_EQ(machine.links[0].collectives.reduce->latency, 3e-5);
}

TEST(ProfileTest, FiguresOfCollectivesAreThoseOfMachineFiles) {
  Profile profile = WithCollectives();
  profile.links[0].collectives.gather->latency = 61;
  EXPECT_TRUE(absl::StrContains(
      ParseProfile(ProfileToJson(profile), "p").status().message(),
      "links[0].gather.latency: found 61.0; expected a number from 0 to 60"));
}

TEST(ProfileTest, ANodeWithoutAMeasurementIsRefused) {
  Profile profile = Sample();
  profile.nodes[0].warm.reset();
  profile.nodes[0].cold.reset();
  EXPECT_FALSE(ParseProfile(ProfileToJson(profile), "p").ok());
}

TEST(ProfileTest, MoreThanIsReadIsNotWritten) {
  const std::string path = testing::TempDir() + "/large.profile";
  Profile profile = Sample();
  profile.nodes.assign(kMostMeasuredNodes + 1, Node("a"));
  EXPECT_TRUE(absl::IsResourceExhausted(WriteProfile(profile, path)));
  profile = Sample();
  profile.links.assign(kMostMeasuredLinks + 1, profile.links[0]);
  EXPECT_TRUE(absl::IsResourceExhausted(WriteProfile(profile, path)));
}

TEST(ProfileTest, ThePriceIsThatInStepsElseBetweenTheCaches) {
  MeasuredNode node = Node("a");
  EXPECT_DOUBLE_EQ(node.seconds(), 4e-5);  // of 2e-5 and 8e-5
  node.in_steps = SecondsInSteps{.seconds = 7e-5, .steps = 1};
  EXPECT_EQ(node.seconds(), 7e-5);
  node.in_steps.reset();
  node.cold.reset();
  EXPECT_EQ(node.seconds(), 2e-5);
}

TEST(ProfileTest, OneOfAnotherMachineIsRefused) {
  Machine machine = TwoCpus();
  EXPECT_TRUE(CheckProfileFits(Sample(), machine, "p").ok());
  machine.devices[0].traits.threads = machine.devices[1].traits.threads = 3;
  EXPECT_TRUE(absl::StrContains(
      CheckProfileFits(Sample(), machine, "p").message(),
      "p: found measurements of a cpu avx2 of 1 threads; expected a device "
      "like cpu:0, a cpu avx2 of 3 threads"));
  machine = TwoCpus();
  for (MachineDevice& device : machine.devices) {
    device.traits.memory_bandwidth *= 2;
  }
  EXPECT_TRUE(
      absl::StrContains(CheckProfileFits(Sample(), machine, "p").message(),
                        "with other peak_flops, memory_bandwidth"));
  machine = TwoCpus();
  machine.links.clear();
  EXPECT_TRUE(
      absl::StrContains(CheckProfileFits(Sample(), machine, "p").message(),
                        "found a link from cpu:0 to cpu:1"));
}

TEST(ProfileTest, OneOfAnotherHostIsRefused) {
  ProfileHost host = Sample().host;
  EXPECT_TRUE(CheckMeasuredHere(Sample(), host, "p").ok());
  host.cpu = "Another CPU";
  const absl::Status status = CheckMeasuredHere(Sample(), host, "p");
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_TRUE(absl::StrContains(
      status.message(),
      "found measurements of another host, Some CPU (avx2, 2 threads)"));
}

TEST(ProfileTest, FreshFiguresReplaceOnesOfKernelsAlone) {
  Profile profile = Sample();
  Profile fresh = Sample();
  fresh.nodes = {Node("a"), Node("c")};
  fresh.nodes[0].warm = 1e-5;
  fresh.nodes[0].cold.reset();
  fresh.links[0].latency = 9e-6;
  MergeProfile(fresh, profile);
  ASSERT_EQ(profile.nodes.size(), 3u);
  EXPECT_EQ(profile.nodes[0].warm, 1e-5);
  EXPECT_EQ(profile.nodes[0].cold, 8e-5);  // not measured again
  EXPECT_EQ(profile.nodes[1], Sample().nodes[1]);
  EXPECT_EQ(profile.nodes[2].signature, "c");
  ASSERT_EQ(profile.links.size(), 1u);
  EXPECT_EQ(profile.links[0].latency, 9e-6);
  EXPECT_EQ(profile.devices.size(), 1u);
  EXPECT_TRUE(ParseProfile(ProfileToJson(profile), "p").ok());
}

TEST(ProfileTest, FiguresInStepsAreAveragedByTheirSteps) {
  Profile profile = Sample();  // b: 3e-5 in 4 steps
  Profile fresh = Sample();
  fresh.nodes = {Node("b")};
  fresh.nodes[0].warm.reset();
  fresh.nodes[0].cold.reset();
  fresh.nodes[0].in_steps = SecondsInSteps{.seconds = 6e-5, .steps = 2};
  MergeProfile(fresh, profile);
  const MeasuredNode& merged = profile.nodes[1];
  EXPECT_NEAR(merged.in_steps->seconds, 4e-5, 1e-12);
  EXPECT_EQ(merged.in_steps->steps, 6);
  EXPECT_EQ(merged.warm, 2e-5);
}

TEST(ProfileTest, AnotherVersionOfALibraryReplacesTheOldOne) {
  Profile profile = Sample();
  profile.nodes[1].version = "codegen 3";
  Profile fresh = Sample();
  fresh.nodes = {Node("c")};
  fresh.nodes[0].version = "onednn 3.1";
  MergeProfile(fresh, profile);
  ASSERT_EQ(profile.nodes.size(), 2u);
  EXPECT_EQ(profile.nodes[0].signature, "b");
  EXPECT_EQ(profile.nodes[1].signature, "c");
}

// A folder with a machine file that names `profile`.
class NamedProfile : public testing::Test {
 protected:
  NamedProfile()
      : folder_(testing::TempDir() + "/named_profile"),
        path_(folder_ + "/m.json") {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }

  void WriteMachine(const std::string& profile) {
    Machine machine = TwoCpus();
    machine.profile.file = profile;
    std::ofstream(path_) << MachineToJson(machine);
  }

  const std::string folder_;
  const std::string path_;
};

TEST_F(NamedProfile, ItsLinksAreTheMachines) {
  WriteMachine("p");
  ASSERT_TRUE(WriteProfile(Sample(), folder_ + "/p").ok());
  const absl::StatusOr<Machine> machine = ReadMachine(path_);
  ASSERT_TRUE(machine.ok()) << machine.status();
  EXPECT_EQ(machine->links[0].bandwidth, 5e9);
  EXPECT_EQ(machine->links[0].latency, 2e-6);
  ASSERT_NE(machine->profile.measured, nullptr);
  EXPECT_EQ(*machine->profile.measured, Sample());
  EXPECT_EQ(machine->profile.hash, ProfileHash(Sample()));
  // What plans note: the same machine, whose profile is not read again.
  const absl::StatusOr<Machine> noted =
      ParseMachine(MachineToJson(*machine), "notes");
  ASSERT_TRUE(noted.ok()) << noted.status();
  EXPECT_EQ(noted->profile.hash, machine->profile.hash);
  EXPECT_EQ(noted->profile.measured, nullptr);
  EXPECT_EQ(noted->links[0].bandwidth, 5e9);
}

TEST_F(NamedProfile, AMissingOneSaysHowToMeasureIt) {
  WriteMachine("p");
  const absl::StatusOr<Machine> machine = ReadMachine(path_);
  EXPECT_TRUE(absl::IsNotFound(machine.status()));
  EXPECT_TRUE(absl::StrContains(machine.status().message(),
                                "measure one with `partita profile"));
  EXPECT_TRUE(ReadMachineWithoutProfile(path_).ok());
}

TEST_F(NamedProfile, ItIsInTheFolder) {
  for (const char* name : {"../p", "/tmp/p", "", ".", "a/../../p"}) {
    const std::string text = absl::StrReplaceAll(
        MachineToJson(TwoCpus()),
        {{"\"links\"",
          absl::StrCat("\"profile\": \"", name, "\", \"links\"")}});
    EXPECT_TRUE(absl::StrContains(ParseMachine(text, "m").status().message(),
                                  "expected a file in the folder"))
        << name;
  }
  ASSERT_TRUE(WriteProfile(Sample(), testing::TempDir() + "/outside").ok());
  std::filesystem::create_symlink(testing::TempDir() + "/outside",
                                  folder_ + "/p");
  WriteMachine("p");
  EXPECT_TRUE(absl::StrContains(ReadMachine(path_).status().message(),
                                "leads out of the folder"));
}

// A program may use a profile that is in no file.
TEST_F(NamedProfile, NotesMayHaveAHashAlone) {
  Machine machine = TwoCpus();
  ASSERT_TRUE(UseProfile(Sample(), "p", machine).ok());
  const std::string text = MachineToJson(machine);
  const absl::StatusOr<Machine> noted = ParseMachine(text, "notes");
  ASSERT_TRUE(noted.ok()) << noted.status();
  EXPECT_EQ(noted->profile.hash, ProfileHash(Sample()));
  std::ofstream(path_) << text;
  EXPECT_TRUE(absl::StrContains(ReadMachine(path_).status().message(),
                                "profile_hash: found a hash and no profile"));
}

TEST_F(NamedProfile, AStatedHashIsCompared) {
  Machine machine = TwoCpus();
  machine.profile.hash = std::string(32, '0');
  const absl::Status status = UseProfile(Sample(), "p", machine);
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_TRUE(absl::StrContains(
      status.message(),
      absl::StrCat("found a profile of hash ", ProfileHash(Sample()),
                   "; expected 0000")));
}

}  // namespace
}  // namespace partita
