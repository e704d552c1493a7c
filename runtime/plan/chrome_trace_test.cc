// Tests of the trace writer.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/chrome_trace.h"

#include <nlohmann/json.hpp>

#include "gtest/gtest.h"

namespace partita {
namespace {

TEST(ChromeTraceTest, DevicesAreProcessesAndStreamsAreThreads) {
  Timeline timeline;
  timeline.name = "predicted";
  timeline.tracks = {{"cpu:0", "compute"}, {"cpu:0", "copy"}};
  timeline.spans = {{1, "copy %h", "copy", 1e-6, 3.5e-6, {{"command", "7"}}}};
  timeline.points = {{"cpu:0", "memory", 2e-6, 1024}};
  EXPECT_EQ(
      ChromeTraceJson({timeline}),
      "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n"
      "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, \"args\": "
      "{\"name\": \"cpu:0 (predicted)\"}},\n"
      "{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": 1, \"tid\": 0, "
      "\"args\": {\"name\": \"compute\"}},\n"
      "{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": 1, \"tid\": 1, "
      "\"args\": {\"name\": \"copy\"}},\n"
      "{\"ph\": \"X\", \"name\": \"copy %h\", \"cat\": \"copy\", \"pid\": 1, "
      "\"tid\": 1, \"ts\": 1.000, \"dur\": 2.500, \"args\": {\"command\": "
      "\"7\"}},\n"
      "{\"ph\": \"C\", \"name\": \"memory\", \"pid\": 1, \"ts\": 2.000, "
      "\"args\": {\"value\": 1024}}\n"
      "]}\n");
}

TEST(ChromeTraceTest, AnEmulatedDeviceHasOneLabel) {
  Timeline timeline;
  timeline.tracks = {{"cpu:0", "compute"},
                     {"gpu:0", "compute", /*emulated=*/true},
                     {"gpu:0", "copy", /*emulated=*/true}};
  const nlohmann::json parsed =
      nlohmann::json::parse(ChromeTraceJson({timeline}), nullptr, false);
  ASSERT_FALSE(parsed.is_discarded());
  int labels = 0;
  for (const nlohmann::json& event : parsed["traceEvents"]) {
    if (event["name"] != "process_labels") continue;
    ++labels;
    EXPECT_EQ(event["pid"], 2);
    EXPECT_EQ(event["args"]["labels"], "emulated");
  }
  EXPECT_EQ(labels, 1);
}

TEST(ChromeTraceTest, AnyNameGivesValidJson) {
  Timeline timeline;
  timeline.tracks = {{"cpu:\"0\"", "a\\b\n\x01"}};
  timeline.spans = {{0, "q\"\t", "k", 0, 1, {{"x\"", "\\"}}}};
  const nlohmann::json parsed = nlohmann::json::parse(
      ChromeTraceJson({timeline, timeline}), nullptr, false);
  ASSERT_FALSE(parsed.is_discarded());
  // One process, and two events for each other name.
  EXPECT_EQ(parsed["traceEvents"].size(), 5u);
  EXPECT_EQ(parsed["traceEvents"][2]["name"], "q\"\t");
}

// Names in a module's text may be any bytes, as in %$"\\xff".
TEST(ChromeTraceTest, BytesThatAreNotUtf8AreReplaced) {
  Timeline timeline;
  timeline.tracks = {{"cpu:\xc3", "\xed\xa0\x80"}};
  timeline.spans = {{0, "\xff\xc3\xa9", "k", 0, 1, {{"x", "\xc0\x80"}}}};
  const nlohmann::json parsed =
      nlohmann::json::parse(ChromeTraceJson({timeline}), nullptr, false);
  ASSERT_FALSE(parsed.is_discarded());
  EXPECT_EQ(parsed["traceEvents"][2]["name"], "\xef\xbf\xbd\xc3\xa9");
}

}  // namespace
}  // namespace partita
