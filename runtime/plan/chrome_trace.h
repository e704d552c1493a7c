// Writes timelines in Chrome trace format, predicted and measured ones alike.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHROME_TRACE_H_
#define PARTITA_RUNTIME_PLAN_CHROME_TRACE_H_

#include <string>
#include <utility>
#include <vector>

namespace partita {

// A row of the picture: one stream. The rows of one device are adjacent.
struct TraceTrack {
  std::string device;  // "gpu:0"
  std::string stream;  // "compute"
  // Software emulates the device, so that measured times are not its own; the
  // same for all tracks of a device.
  bool emulated = false;
};

// One command on a track. Times are seconds from the start of the timeline.
struct TraceSpan {
  int track = 0;         // index into Timeline::tracks
  std::string name;      // "conv %y"
  std::string category;  // the kind: "kernel", "copy"
  double start = 0;
  double end = 0;
  std::vector<std::pair<std::string, std::string>> details;  // shown on a click
};

// A quantity over time: from `time` until the next point of its name.
struct TracePoint {
  std::string device;
  std::string name;  // "memory"
  double time = 0;
  double value = 0;
};

struct Timeline {
  std::string name;  // "predicted", "measured"
  std::vector<TraceTrack> tracks;
  std::vector<TraceSpan> spans;
  std::vector<TracePoint> points;
};

// The label of the process of an emulated device.
inline constexpr char kEmulatedLabel[] = "emulated";

// JSON that chrome://tracing, Perfetto and others open: a process for each
// device, which a "process_labels" event marks if it is emulated, and a thread
// for each track. Several timelines are shown one above the
// other. The same timelines give the same text.
std::string ChromeTraceJson(const std::vector<Timeline>& timelines);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHROME_TRACE_H_
