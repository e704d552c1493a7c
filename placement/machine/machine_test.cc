// Tests of machine files and of the host's own machine.
// SPDX-License-Identifier: Apache-2.0

#include "placement/machine/machine.h"

#include <fstream>
#include <random>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "placement/machine/detect_host.h"
#include "placement/machine/link_table.h"
#include "placement/machine/sample_machines.h"

namespace partita {
namespace {

constexpr char kTwo[] = R"({
  "name": "two",
  "devices": [
    {"name": "cpu:0", "kind": "cpu", "memory": "64 GiB", "reserve": 1024,
     "threads": 16, "isa": "avx512", "peak_flops": {"f32": 1e12, "f64": 5e11},
     "memory_bandwidth": 8e10, "launch_seconds": 1e-6},
    {"name": "gpu:0", "kind": "cuda", "memory": 8589934592,
     "peak_flops": {"f32": 2e13}, "memory_bandwidth": 1e12}
  ],
  "links": [{"from": "cpu:0", "to": "gpu:0", "bandwidth": 2.5e10,
             "latency": 1e-5, "duplex": false, "bus": "pcie"}]
})";

constexpr char kBus[] = "\"bus\": \"pcie\"";

// kTwo with one text replaced.
std::string ErrorOf(absl::string_view from, absl::string_view to) {
  const std::string text = absl::StrReplaceAll(kTwo, {{from, to}});
  EXPECT_NE(text, kTwo) << from;
  return std::string(ParseMachine(text, "two.json").status().message());
}

TEST(MachineTest, EveryKeyIsRead) {
  const absl::StatusOr<Machine> machine = ParseMachine(kTwo, "two.json");
  ASSERT_TRUE(machine.ok()) << machine.status();
  EXPECT_EQ(machine->name, "two");
  ASSERT_EQ(machine->devices.size(), 2u);
  const MachineDevice& cpu = machine->devices[0];
  EXPECT_EQ(cpu.traits.name, "cpu:0");
  EXPECT_EQ(cpu.traits.kind, DeviceKind::kCpu);
  EXPECT_EQ(cpu.traits.threads, 16);
  EXPECT_EQ(cpu.traits.isa, "avx512");
  EXPECT_EQ(cpu.traits.peak_flops[static_cast<int>(DType::kF64)], 5e11);
  EXPECT_EQ(cpu.traits.launch_seconds, 1e-6);
  EXPECT_EQ(cpu.usable(), (int64_t{64} << 30) - 1024);
  EXPECT_EQ(machine->devices[1].usable(), int64_t{8} << 30);
  const Link* link = LinkTable(*machine).Find("gpu:0", "cpu:0");
  ASSERT_NE(link, nullptr);
  EXPECT_EQ(link->bandwidth, 2.5e10);
  EXPECT_FALSE(link->duplex);
  EXPECT_EQ(link->bus, "pcie");
  EXPECT_EQ(machine->FindDevice("gpu:1"), nullptr);
}

TEST(MachineTest, AHostHasItsCores) {
  EXPECT_EQ(ParseMachine(kTwo, "two.json")->host.cores, 0);
  const std::string text = absl::StrReplaceAll(
      kTwo, {{"\"links\"",
              "\"host\": {\"cores\": 8, \"wake_seconds\": 2e-5, "
              "\"copy_latency\": 1e-6, \"copy_bandwidth\": 4e9}, \"links\""}});
  const absl::StatusOr<Machine> machine = ParseMachine(text, "two.json");
  ASSERT_TRUE(machine.ok()) << machine.status();
  EXPECT_EQ(machine->host.cores, 8);
  EXPECT_EQ(machine->host.wake_seconds, 2e-5);
  const absl::StatusOr<Machine> again =
      ParseMachine(MachineToJson(*machine), "again");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->host.cores, 8);
  EXPECT_EQ(again->host.wake_seconds, 2e-5);
  const LocalCopy on_cpu = again->LocalCopyOf(again->devices[0].traits);
  EXPECT_DOUBLE_EQ(on_cpu.SecondsOf(8e9), 2 + 1e-6);
}

TEST(MachineTest, CopiesWithinADeviceReadAndWriteItsMemory) {
  DeviceTraits device;
  device.launch_seconds = 1e-6;
  device.memory_bandwidth = 1e9;
  EXPECT_DOUBLE_EQ(Machine().LocalCopyOf(device).SecondsOf(1e9), 2 + 1e-6);
  // What the host says is for CPUs.
  Machine machine;
  machine.host = {.cores = 1, .copy_bandwidth = 1e10};
  EXPECT_DOUBLE_EQ(machine.LocalCopyOf(device).SecondsOf(1e9), 0.1);
  device.kind = DeviceKind::kCuda;
  EXPECT_DOUBLE_EQ(machine.LocalCopyOf(device).SecondsOf(1e9), 2 + 1e-6);
}

TEST(MachineTest, AWrongHostHasItsPlace) {
  const auto error_of = [](absl::string_view host) {
    return ErrorOf("\"links\"",
                   absl::StrCat("\"host\": ", host, ", \"links\""));
  };
  EXPECT_EQ(error_of("2"), "two.json:10:11: host: found 2; expected an object");
  EXPECT_EQ(error_of("{}"),
            "two.json:10:11: host: found no key \"cores\"; expected one");
  EXPECT_EQ(error_of("{\"core\": 2}"),
            "two.json:10:12: host.core: found an unknown key; expected one of "
            "cores, wake_seconds, copy_latency, copy_bandwidth; did you mean "
            "cores?");
  EXPECT_EQ(error_of("{\"cores\": 0}"),
            "two.json:10:21: host.cores: found 0; expected a whole number from "
            "1 to 65536");
  EXPECT_EQ(error_of("{\"cores\": 1, \"wake_seconds\": -1}"),
            "two.json:10:40: host.wake_seconds: found -1; expected a number "
            "from 0 to 60");
  EXPECT_EQ(error_of("{\"cores\": 1, \"copy_bandwidth\": 0}"),
            "two.json:10:42: host.copy_bandwidth: found 0; expected a number "
            "from 1 to 1e+21");
}

// The meaning of a file does not depend on the host.
TEST(MachineTest, ACpuWithoutIsaHasAvx2) {
  const auto machine = ParseMachine(
      R"({"name": "m", "devices": [{"name": "c", "kind": "cpu", "memory": 4096,
          "peak_flops": {"f32": 1e9}, "memory_bandwidth": 1e9}]})",
      "m.json");
  ASSERT_TRUE(machine.ok()) << machine.status();
  EXPECT_EQ(machine->devices[0].traits.isa, "avx2");
}

TEST(MachineTest, WrittenTextReadsBackToTheSameText) {
  Machine with_gpus = CpuAndGpus(3, 1000);
  with_gpus.devices[0].traits.isa = "avx2";  // the default of files
  for (const Machine& machine :
       {*ParseMachine(kTwo, "two.json"), with_gpus, DetectHost()}) {
    const std::string text = MachineToJson(machine);
    const absl::StatusOr<Machine> again = ParseMachine(text, "again");
    ASSERT_TRUE(again.ok()) << again.status() << "\n" << text;
    EXPECT_EQ(MachineToJson(*again), text);
    ASSERT_EQ(again->devices.size(), machine.devices.size());
    for (size_t i = 0; i < machine.devices.size(); ++i) {
      EXPECT_EQ(again->devices[i].traits, machine.devices[i].traits);
      EXPECT_EQ(again->devices[i].memory, machine.devices[i].memory);
    }
  }
}

TEST(MachineTest, ExampleFilesAreCanonical) {
  for (const char* name :
       {"cpu_2_cores", "cpu_16_cores", "cpu_2_h100", "cpu_4_h100", "cpu_8_h100",
        "cpu_2_rtx4090", "cpu_4_rtx4090", "cpu_unequal_gpus",
        "cpu_two_small_gpus", "two_small_cpus"}) {
    const std::string path = absl::StrCat("examples/machines/", name, ".json");
    const absl::StatusOr<Machine> machine = ReadMachine(path);
    ASSERT_TRUE(machine.ok()) << machine.status();
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    EXPECT_EQ(MachineToJson(*machine), text.str()) << path;
  }
}

TEST(MachineTest, AnUnknownKeyNamesTheNearestKnownOne) {
  EXPECT_EQ(
      ErrorOf("\"reserve\"", "\"reserv\""),
      "two.json:4:58: devices[0].reserv: found an unknown key; expected one "
      "of name, kind, memory, reserve, threads, isa, peak_flops, "
      "memory_bandwidth, launch_seconds; did you mean reserve?");
  EXPECT_EQ(ErrorOf("\"links\"", "\"edges\""),
            "two.json:10:3: edges: found an unknown key; expected one of name, "
            "devices, links, host, profile, profile_hash");
  EXPECT_EQ(ErrorOf("\"f64\"", "\"f46\""),
            "two.json:5:66: devices[0].peak_flops.f46: found an unknown key; "
            "expected one of f64, f32, f16, bf16, i64, i32, i16, i8, u8, u16, "
            "u32, u64, bool; did you mean f64?");
}

// A key may hold anything, and a value may be long.
TEST(MachineTest, TextsOfTheFileAreShownInShort) {
  EXPECT_TRUE(absl::StartsWith(
      ErrorOf("\"links\"", "\"a\\n\\u001b[2J\""),
      "two.json:10:3: \"a\\n\\u001b[2J\": found an unknown key"));
  const std::string fault =
      ErrorOf("\"cuda\"", absl::StrCat("\"", std::string(100000, 'x'), "\""));
  EXPECT_TRUE(absl::StartsWith(fault, "two.json:7:31: devices[1].kind: found "))
      << fault;
  EXPECT_LT(fault.size(), 200u);
  EXPECT_EQ(ErrorOf("\"cuda\"", "\"Cuda\""),
            "two.json:7:31: devices[1].kind: found \"Cuda\"; expected \"cpu\" "
            "or \"cuda\"; did you mean cuda?");
}

TEST(MachineTest, ALinkMayStateCollectives) {
  const std::string text = absl::StrReplaceAll(
      kTwo, {{kBus, "\"gather\": {\"bandwidth\": 8e9, \"latency\": 2e-5}"}});
  const absl::StatusOr<Machine> machine = ParseMachine(text, "two.json");
  ASSERT_TRUE(machine.ok()) << machine.status();
  const LinkCollectives& collectives = machine->links[0].collectives;
  EXPECT_EQ(collectives.gather,
            (CollectiveFigures{.bandwidth = 8e9, .latency = 2e-5}));
  EXPECT_FALSE(collectives.reduce.has_value());
  const absl::StatusOr<Machine> again =
      ParseMachine(MachineToJson(*machine), "again");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->links[0].collectives, collectives);
  EXPECT_FALSE(absl::StrContains(MachineToJson(*ParseMachine(kTwo, "two.json")),
                                 "gather"));
}

TEST(MachineTest, CollectivesOfALinkAreReadStrictly) {
  EXPECT_EQ(ErrorOf(kBus, "\"reduce\": {\"bandwidth\": 8e9}"),
            "two.json:11:58: links[0].reduce: found no key \"latency\"; "
            "expected one");
  EXPECT_TRUE(absl::StrContains(
      ErrorOf(kBus, "\"reduce\": {\"bandwidth\": 0, \"latency\": 0}"),
      "links[0].reduce.bandwidth: found 0; expected a number from 1 to 1e+21"));
  EXPECT_TRUE(absl::StrContains(
      ErrorOf(kBus, "\"gather\": {\"speed\": 1}"),
      "links[0].gather.speed: found an unknown key; expected one of "
      "bandwidth, latency"));
}

TEST(MachineTest, AKeyWithEscapesHasItsPlace) {
  EXPECT_EQ(ErrorOf("\"duplex\": false", "\"dupl\\u0065x\": [\"]\", {}, 1]"),
            "two.json:11:46: links[0].duplex: found a list; expected true or "
            "false");
}

TEST(MachineTest, AMissingKeyIsNamed) {
  EXPECT_EQ(ErrorOf("\"name\": \"two\",", ""),
            "two.json:1:1: found no key \"name\"; expected one");
  EXPECT_EQ(ErrorOf("\"kind\": \"cuda\", ", ""),
            "two.json:7:5: devices[1]: found no key \"kind\"; expected one");
  EXPECT_EQ(
      ErrorOf("\"f32\": 2e13", ""),
      "two.json:8:20: devices[1].peak_flops: found no key \"f32\"; expected "
      "one");
}

TEST(MachineTest, AWrongTypeIsShownWithTheExpectedOne) {
  EXPECT_EQ(ErrorOf("\"two\"", "7"),
            "two.json:2:11: name: found 7; expected a string");
  EXPECT_EQ(
      ErrorOf("\"threads\": 16", "\"threads\": 1.5"),
      "two.json:5:17: devices[0].threads: found 1.5; expected a whole number "
      "from 1 to 4096");
  EXPECT_EQ(
      ErrorOf("{\"f32\": 2e13}", "2e13"),
      "two.json:8:20: devices[1].peak_flops: found 20000000000000.0; expected "
      "an object");
  EXPECT_EQ(
      ErrorOf("false", "\"no\""),
      "two.json:11:41: links[0].duplex: found \"no\"; expected true or false");
  EXPECT_EQ(
      ErrorOf("\"cuda\"", "\"rocm\""),
      "two.json:7:31: devices[1].kind: found \"rocm\"; expected \"cpu\" or "
      "\"cuda\"");
}

TEST(MachineTest, AnInstructionSetMustBeKnown) {
  EXPECT_EQ(ErrorOf("avx512", "avx9"),
            "two.json:5:28: devices[0].isa: found \"avx9\"; expected one of "
            "avx512_amx, avx512_bf16, avx512, avx2, sse4, or no isa, which "
            "means avx2; did you mean "
            "avx2?");
  EXPECT_EQ(ErrorOf("avx512", "neon"),
            "two.json:5:28: devices[0].isa: found \"neon\"; expected one of "
            "avx512_amx, avx512_bf16, avx512, avx2, sse4, or no isa, which "
            "means avx2");
  for (const char* isa : {"avx2", "sm90", "sm_", "sm_9", "sm_9x", "sm_0090"}) {
    EXPECT_EQ(
        ErrorOf("\"cuda\"", absl::StrCat("\"cuda\", \"isa\": \"", isa, "\"")),
        absl::StrCat("two.json:7:46: devices[1].isa: found \"", isa,
                     "\"; expected sm_ and the compute capability, like "
                     "\"sm_90\""));
  }
  for (const char* isa : {"sm_75", "sm_90a", "sm_100f", "sm_120"}) {
    EXPECT_EQ(
        ErrorOf("\"cuda\"", absl::StrCat("\"cuda\", \"isa\": \"", isa, "\"")),
        "");
  }
}

TEST(MachineTest, NumbersOutOfRangeAreRefused) {
  EXPECT_EQ(
      ErrorOf("\"64 GiB\"", "-1"),
      "two.json:4:48: devices[0].memory: found -1; expected bytes from 1 to "
      "1024 TiB, like 8589934592 or \"8 GiB\"");
  EXPECT_EQ(
      ErrorOf("\"64 GiB\"", "\"64 gigs\""),
      "two.json:4:48: devices[0].memory: found \"64 gigs\"; expected bytes "
      "from 1 to 1024 TiB, like 8589934592 or \"8 GiB\"");
  EXPECT_EQ(
      ErrorOf("2.5e10", "-2.5e10"),
      "two.json:10:59: links[0].bandwidth: found -25000000000.0; expected a "
      "number from 1 to 1e+21");
  EXPECT_EQ(
      ErrorOf("1e-5", "3600"),
      "two.json:11:25: links[0].latency: found 3600; expected a number from 0 "
      "to 60");
  EXPECT_EQ(
      ErrorOf("\"reserve\": 1024", "\"reserve\": \"64 GiB\""),
      "two.json:4:69: devices[0].reserve: found 64 GiB; expected less than "
      "memory, 64 GiB");
  EXPECT_EQ(
      ErrorOf("8e10", "8e999"),
      "two.json:6:26: found number overflow parsing '8e999'; expected numbers "
      "that a double can hold");
}

TEST(MachineTest, ALinkNeedsTwoKnownDevicesAndIsUnique) {
  EXPECT_EQ(
      ErrorOf("\"to\": \"gpu:0\"", "\"to\": \"gpu:1\""),
      "two.json:10:37: links[0].to: found unknown device \"gpu:1\"; expected "
      "one of cpu:0, gpu:0; did you mean gpu:0?");
  EXPECT_EQ(
      ErrorOf("\"to\": \"gpu:0\"", "\"to\": \"cpu:0\""),
      "two.json:10:37: links[0].to: found \"cpu:0\" at both ends; expected "
      "another device than `from`");
  EXPECT_EQ(
      ErrorOf("\"bus\": \"pcie\"}",
              "\"bus\": \"pcie\"}, {\"from\": \"gpu:0\", \"to\": "
              "\"cpu:0\", \"bandwidth\": 1}"),
      "two.json:11:88: links[1].to: found a second link between gpu:0 and "
      "cpu:0; expected one link a pair; it carries both directions");
}

TEST(MachineTest, DeviceNamesAreUniqueAndPlain) {
  EXPECT_EQ(ErrorOf("\"name\": \"gpu:0\"", "\"name\": \"cpu:0\""),
            "two.json:7:14: devices[1].name: found \"cpu:0\" a second time; "
            "expected a name of its own for every device");
  EXPECT_EQ(ErrorOf("\"name\": \"gpu:0\"", "\"name\": \"gpu 0\""),
            "two.json:7:14: devices[1].name: found \"gpu 0\"; expected 1 to 64 "
            "letters, digits or _-.: like \"gpu:0\"");
}

TEST(MachineTest, SyntaxErrorsHaveLineAndColumn) {
  EXPECT_EQ(ErrorOf("\"kind\": \"cuda\"", "\"kind\" \"cuda\""),
            "two.json:7:35: found unexpected string literal while parsing "
            "object separator; expected ':'");
  EXPECT_EQ(ParseMachine("", "e.json").status().message(),
            "e.json:1:1: found unexpected end of input while parsing value; "
            "expected '[', '{', or a literal");
  EXPECT_EQ(ParseMachine("\x93NUMPY", "x.npy").status().message(),
            "x.npy:1:1: found invalid literal '\\x93' while parsing value; "
            "expected valid JSON");
  EXPECT_EQ(ErrorOf("1e12,", "NaN,"),
            "two.json:5:60: found invalid literal '\"f32\": N' while parsing "
            "value; expected valid JSON");
  EXPECT_LT(ErrorOf("\"kind\": \"cuda\"",
                    absl::StrCat("\"", std::string(100000, 'x'), "\n"))
                .size(),
            200u);
}

TEST(MachineTest, HostileTextsAreRefused) {
  EXPECT_EQ(ErrorOf("\"memory\": 8589934592", "\"memory\": 1, \"memory\": 2"),
            "two.json:7:52: found key \"memory\" twice in one object; expected "
            "every key once");
  EXPECT_EQ(ParseMachine(std::string(100000, '['), "deep").ok(), false);
  EXPECT_EQ(ParseMachine(std::string(40, '[') + std::string(40, ']'), "deep")
                .status()
                .message(),
            "deep:1:17: found nesting deeper than 16; expected an object of "
            "plain lists");
  EXPECT_EQ(ParseMachine("[]", "x").status().message(),
            "x:1:1: found a list; expected an object");
  EXPECT_EQ(ParseMachine(std::string(5 << 20, ' '), "x").status().message(),
            "x: found more than 4194304 bytes; expected a shorter text");
  for (size_t cut = 0; cut < sizeof(kTwo) - 2; ++cut) {
    EXPECT_FALSE(ParseMachine({kTwo, cut}, "cut").ok()) << cut;
  }
}

// A parser with quadratic time in the number of links would take hours.
TEST(MachineTest, ALongListIsReadInLinearTime) {
  std::string links = "[{}";
  for (int i = 0; i < 1'000'000; ++i) links += ",{}";
  const std::string text =
      absl::StrCat(R"({"name": "m", "devices": )", links, "]}");
  EXPECT_EQ(ParseMachine(text, "m.json").status().message(),
            "m.json:1:26: devices: found 1000001 entries; expected 1 to 1024");
}

TEST(MachineTest, DamagedTextsAreHarmless) {
  std::mt19937 random(17);
  const std::string text(kTwo);
  int read = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = text;
    for (int change = 0; change <= round % 3; ++change) {
      const size_t place = random() % damaged.size();
      const char byte = static_cast<char>(random());
      if (round % 2 == 0) {
        damaged[place] = byte;
      } else {
        damaged.erase(place, random() % 8);
      }
    }
    const absl::StatusOr<Machine> machine = ParseMachine(damaged, "damaged");
    if (!machine.ok()) {
      EXPECT_EQ(machine.status().code(), absl::StatusCode::kInvalidArgument);
      continue;
    }
    ++read;
    EXPECT_TRUE(ParseMachine(MachineToJson(*machine), "again").ok());
  }
  EXPECT_GT(read, 100);  // spaces, digits and names may change
  EXPECT_LT(read, 2000);
}

TEST(MachineTest, AMissingFileIsNamed) {
  EXPECT_EQ(ReadMachine("/nonexistent.json").status().message(),
            "/nonexistent.json: cannot be opened: No such file or directory; "
            "expected a file that can be read; correct its name or its rights, "
            "or write a machine file with `partita devices`");
  EXPECT_EQ(ReadMachine("/dev/zero").status().message(),
            "/dev/zero: found no regular file; expected one; name a file");
}

TEST(DetectHostTest, TheHostHasACpuWithCoresAndMemory) {
  const Machine host = DetectHost();
  ASSERT_FALSE(host.devices.empty());
  const MachineDevice& cpu = host.devices[0];
  EXPECT_EQ(cpu.traits.name, "cpu:0");
  EXPECT_GE(cpu.traits.threads, 1);
  EXPECT_GT(cpu.usable(), int64_t{1} << 26);
  EXPECT_GT(cpu.traits.peak_flops[static_cast<int>(DType::kF32)], 1e9);
  EXPECT_EQ(MachineToJson(host), MachineToJson(DetectHost()));
}

TEST(DetectHostTest, TheHostsDevicesShareItsCores) {
  const Machine machine = DetectHost({.gpus = false});
  EXPECT_EQ(machine.host.cores, machine.devices[0].traits.threads);
  EXPECT_GT(machine.host.wake_seconds, 0);
}

}  // namespace
}  // namespace partita
