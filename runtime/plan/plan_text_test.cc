// Tests of plans as text: round trips, hand-written forms, exact faults.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/plan_text.h"

#include <gtest/gtest.h>

#include <random>

#include "absl/strings/str_replace.h"
#include "runtime/plan/testing/example_plans.h"

namespace partita {
namespace {

absl::StatusOr<Plan> Parse(absl::string_view text) {
  return ParsePlan(text, "t.plan", OpSet::BuiltIn());
}

std::string FaultOf(absl::string_view text) {
  return std::string(Parse(text).status().message());
}

TEST(PlanText, PrintsWhatItRead) {
  absl::StatusOr<Plan> plan = Parse(EveryConstruct());
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_EQ(PrintPlan(*plan), EveryConstruct());
}

TEST(PlanText, ReadsEveryField) {
  absl::StatusOr<Plan> read = Parse(EveryConstruct());
  ASSERT_TRUE(read.ok()) << read.status().message();
  const Plan& plan = *read;
  EXPECT_EQ(plan.devices[0].traits.threads, 2);
  EXPECT_EQ(plan.devices[0].traits.peak_flops[int(DType::kBF16)], 2e12);
  EXPECT_EQ(plan.devices[1].traits.kind, DeviceKind::kCuda);
  EXPECT_EQ(plan.code_objects[0].declared_size, 1234);
  const Entry& f = plan.entries[0];
  EXPECT_EQ(f.graph, plan.module.FindFunction("f"));
  EXPECT_EQ(f.depth, 2);
  EXPECT_EQ(f.buffers[2].range, (Range{0, 4, 2, 16}));
  EXPECT_TRUE(f.buffers[1].persistent);
  EXPECT_EQ(f.streams[1].name, "copy:gpu:1");
  EXPECT_EQ(f.channels[0].slots, std::vector<BufferId>{BufferId(3)});
  EXPECT_EQ(f.programs[0].commands[4].instance,
            (Instance{f.graph->order()[2], 1, MicroBatchId(3)}));
  EXPECT_EQ(plan.module.literals().type(f.persistent[0].initial).ToString(),
            "f32[2]");
  EXPECT_FALSE(f.persistent[1].initial.valid());
  const Entry& g = plan.entries[1];
  EXPECT_EQ(g.graph, nullptr);
  EXPECT_EQ(g.programs[0].commands[0].operands[0], BufferId(kFirstSlot));
  EXPECT_EQ(g.schedule[1].events, std::vector<EventId>{EventId(3)});
  EXPECT_EQ(plan.certificate->assumed[0],
            "kernels touch \"declared\" ranges only");
}

// Names that the graph's text distinguishes by quotes, and names that only one
// of the two texts writes without quotes.
TEST(PlanText, NodeNamesAreQuotedOnce) {
  absl::StatusOr<Plan> plan = Parse(R"(graph @f(%x: f32[2]) -> f32[2] {
  %0 = neg %x
  %"0" = neg %0
  %"a b" = neg %"0"
  %"a//b" = neg %"a b"
  return %"a//b"
}
plan @f {
  device cpu:0 cpu
  entry @f of @f {
  }
}
)");
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  Entry& entry = plan->entries[0];
  entry.streams = {{"s", DeviceId(0)}};
  entry.programs.resize(1);
  entry.programs[0].name = "main";
  entry.schedule.resize(1);
  for (NodeId node : entry.graph->order()) {
    Command command;
    command.stream = StreamId(0);
    command.instance.node = node;
    entry.programs[0].commands.push_back(command);
  }
  const std::string text = PrintPlan(*plan, {.comments = false});
  EXPECT_NE(text.find("0  kernel %0\n"), std::string::npos) << text;
  EXPECT_NE(text.find("1  kernel %0.1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("2  kernel %\"a b\"\n"), std::string::npos) << text;
  EXPECT_NE(text.find("3  kernel %\"a//b\"\n"), std::string::npos) << text;
  absl::StatusOr<Plan> again = Parse(text);
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(PrintPlan(*again, {.comments = false}), text);
  for (int i = 0; i < 4; ++i) {
    const Entry& read = again->entries[0];
    EXPECT_EQ(read.programs[0].commands[i].instance.node,
              read.graph->order()[i]);
  }
}

constexpr absl::string_view kShort = R"(graph @f(%x: f32[2]) -> f32[2] {
  %c = constant f32[2] [3, 4]
  %y = copy %x
  return %y
}
plan @f {
  device cpu:0 cpu
  entry @f of @f {
    arena cpu:0
      !c  persistent 0 8
      !x  0 8   // a comment
    persistent
      !c = %c
    stream cpu:0/s
      feed -> !x input 0
      record ev2
    input x f32[2]
  }
}
)";

TEST(PlanText, AHandWrittenPlanMayLeaveOutWhatIsTheDefault) {
  absl::StatusOr<Plan> plan = Parse(kShort);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  const Entry& entry = plan->entries[0];
  EXPECT_EQ(entry.num_events, 3);
  EXPECT_EQ(entry.programs[0].commands.size(), 2u);
  EXPECT_EQ(entry.schedule.size(), 1u);
  // The constant's own literal with its bytes.
  EXPECT_TRUE(plan->module.literals().has_bytes(entry.persistent[0].initial));
}

TEST(PlanText, NamesThatRepeatOrAreMissingGetNumbers) {
  absl::StatusOr<Plan> plan = Parse(kShort);
  ASSERT_TRUE(plan.ok());
  Entry& entry = plan->entries[0];
  entry.buffers[0].name = "";
  entry.buffers[1].name = "0";
  entry.buffers.push_back(entry.buffers[1]);
  entry.buffers[2].name = "/conv/a";
  entry.streams.push_back(entry.streams[0]);
  const std::string text = PrintPlan(*plan);
  absl::StatusOr<Plan> again = Parse(text);
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(PrintPlan(*again), text);
  EXPECT_EQ(again->entries[0].buffers[1].name, "0.1");
  EXPECT_EQ(again->entries[0].buffers[2].name, "/conv/a");
  EXPECT_EQ(again->entries[0].streams[1].name, "s.1");
}

TEST(PlanText, MissingIdsPrintWithAQuestionMark) {
  absl::StatusOr<Plan> plan = Parse(kShort);
  ASSERT_TRUE(plan.ok());
  Entry& entry = plan->entries[0];
  Command& feed = entry.programs[0].commands[0];
  feed.results[0] = BufferId(77);
  feed.stream = StreamId(9);
  feed.instance.node = NodeId(55);
  feed.port = 12;
  entry.buffers[0].device = DeviceId(4);
  entry.persistent[0].initial = LiteralId(99);
  const std::string text = PrintPlan(*plan);
  EXPECT_NE(text.find("feed %?55 -> !?77 input 12"), std::string::npos) << text;
  EXPECT_NE(text.find("stream ?9"), std::string::npos);
  EXPECT_NE(text.find("arena ?4"), std::string::npos);
}

TEST(PlanText, ReasonsAreCommentsOnDemand) {
  absl::StatusOr<Plan> plan = Parse(EveryConstruct());
  ASSERT_TRUE(plan.ok());
  const NodeId h = plan->entries[0].graph->order()[2];
  plan->notes.emplace();
  plan->notes->entries.resize(1);
  plan->notes->entries[0].nodes.push_back({h, "pinned", 1e-3});
  plan->notes->entries[0].step_seconds = 0.25;
  EXPECT_EQ(PrintPlan(*plan), EveryConstruct());
  const std::string text = PrintPlan(*plan, {.reasons = true});
  EXPECT_NE(text.find("copy %h !x -> !h                       // pinned\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("// 250 ms a step, bound 0 ms\n"), std::string::npos);
  absl::StatusOr<Plan> again = Parse(text);
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(PrintPlan(*again), EveryConstruct());
}

// kShort with one part of its text replaced.
std::string Faulty(absl::string_view from, absl::string_view to) {
  return absl::StrReplaceAll(kShort, {{from, to}});
}

TEST(PlanText, FaultsNameTheirPlaceAndWhatWasExpected) {
  EXPECT_EQ(FaultOf(Faulty("-> !x", "-> !z")),
            "t.plan:15:15: unknown buffer !z\n"
            "        feed -> !z input 0\n"
            "                ^~\n"
            "  expected a buffer of the entry's arenas");
  EXPECT_EQ(FaultOf(Faulty("cpu:0 cpu", "cpu:0 tpu")),
            "t.plan:7:16: expected cpu or cuda\n"
            "    device cpu:0 tpu\n"
            "                 ^~~");
  EXPECT_EQ(FaultOf(Faulty("!x  0 8", "!x  0 -8")),
            "t.plan:11:13: expected a size, a number in "
            "0..1152921504606846976\n"
            "        !x  0 -8   // a comment\n"
            "              ^~");
  EXPECT_EQ(FaultOf(Faulty("%c\n    stream", "%d\n    stream")),
            "t.plan:13:12: unknown node %d\n"
            "        !c = %d\n"
            "             ^~\n"
            "  expected the first result of a node of the entry's graph");
  EXPECT_EQ(FaultOf(Faulty("cpu:0/s", "cpu:1/s")),
            "t.plan:14:12: unknown device cpu:1\n"
            "      stream cpu:1/s\n"
            "             ^~~~~");
  EXPECT_EQ(FaultOf(Faulty("record ev2", "4 record ev2")),
            "t.plan:16:7: found commands with and without numbers in one "
            "program; expected numbers on all or none; leave them all out, or "
            "number all anew\n"
            "        4 record ev2\n"
            "        ^~~~~~~~~~~~");
  EXPECT_EQ(FaultOf(absl::StrReplaceAll(
                kShort, {{"feed", "0 feed"}, {"record ev2", "2 record ev2"}})),
            "t.plan:16:7: found command number 2; expected each of 0..1 once "
            "in the program; number the commands anew, or leave all their "
            "numbers out\n"
            "        2 record ev2\n"
            "        ^~~~~~~~~~~~");
  EXPECT_EQ(FaultOf(Faulty("input 0", "input 1")),
            "t.plan:15:7: unknown port 1; expected one of the entry's 1\n"
            "        feed -> !x input 1\n"
            "        ^~~~~~~~~~~~~~~~~~");
  EXPECT_EQ(FaultOf(Faulty("record", "recall")),
            "t.plan:16:7: expected kernel, copy, record, wait, feed, fetch, "
            "collective, send or recv\n"
            "        recall ev2\n"
            "        ^~~~~~");
  EXPECT_EQ(FaultOf(Faulty("of @f {", "of @g {")),
            "t.plan:8:15: unknown graph @g\n"
            "    entry @f of @g {\n"
            "                ^~\n"
            "t.plan:13:12: unknown node %c\n"
            "        !c = %c\n"
            "             ^~\n"
            "  expected the first result of a node of the entry's graph");
  EXPECT_EQ(FaultOf(Faulty("of @f {", "of @f {\n    8 bytes")),
            "t.plan:9:5: expected input, output, arena, persistent, stream, "
            "group, channel, program, schedule, or what belongs to the section "
            "above\n"
            "      8 bytes\n"
            "      ^");
  EXPECT_EQ(FaultOf("hello\n"),
            "t.plan:2:1: found no plan; expected a line `plan @name {`\n"
            "  \n"
            "  ^");
  EXPECT_EQ(FaultOf("plan @f {\n"),
            "t.plan:2:1: found the end of the text; expected a closing brace\n"
            "  \n"
            "  ^");
}

TEST(PlanText, AFaultInTheGraphsIsReportedAtItsLine) {
  EXPECT_EQ(FaultOf(Faulty("copy %x", "copy %q")).substr(0, 33),
            "t.plan:3:13: unknown value %q\n   ");
}

// Random bytes give an error or a plan, never a crash.
TEST(PlanText, AnyBytesAreSafe) {
  std::mt19937 random(7);
  for (int i = 0; i < 3000; ++i) {
    std::string text = EveryConstruct();
    for (int k = 0; k < 1 + i % 4; ++k) {
      const size_t at = random() % text.size();
      if (random() % 2 == 0) {
        text[at] = static_cast<char>(random());
      } else {
        text.erase(at, 1 + random() % 5);
      }
    }
    absl::StatusOr<Plan> plan = Parse(text);
    if (!plan.ok()) continue;
    const std::string printed = PrintPlan(*plan);
    absl::StatusOr<Plan> again = Parse(printed);
    ASSERT_TRUE(again.ok()) << again.status().message() << printed;
    EXPECT_EQ(PrintPlan(*again), printed);
  }
}

}  // namespace
}  // namespace partita
