// Writes the events of the Chrome trace format.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/chrome_trace.h"

#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "graph/utf8.h"

namespace partita {
namespace {

std::string Quoted(absl::string_view text) {
  std::string quoted = "\"";
  for (char c : ValidUtf8(text)) {
    if (c == '"' || c == '\\') {
      absl::StrAppend(&quoted, "\\", absl::string_view(&c, 1));
    } else if (static_cast<unsigned char>(c) < 0x20) {
      absl::StrAppendFormat(&quoted, "\\u%04x", static_cast<int>(c));
    } else {
      quoted.push_back(c);
    }
  }
  quoted.push_back('"');
  return quoted;
}

// The format counts microseconds; three digits after the point are nanoseconds.
std::string Microseconds(double seconds) {
  return absl::StrFormat("%.3f", seconds * 1e6);
}

class Writer {
 public:
  void Add(const Timeline& timeline) {
    for (size_t t = 0; t < timeline.tracks.size(); ++t) {
      const TraceTrack& track = timeline.tracks[t];
      const int process = Process(timeline, track.device);
      if (track.emulated) LabelAsEmulated(process);
      Emit(absl::StrCat("{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": ",
                        process, ", \"tid\": ", t,
                        ", \"args\": {\"name\": ", Quoted(track.stream), "}}"));
    }
    for (const TraceSpan& span : timeline.spans) AddSpan(timeline, span);
    for (const TracePoint& point : timeline.points) {
      Emit(absl::StrCat("{\"ph\": \"C\", \"name\": ", Quoted(point.name),
                        ", \"pid\": ", Process(timeline, point.device),
                        ", \"ts\": ", Microseconds(point.time),
                        ", \"args\": {\"value\": ",
                        absl::StrFormat("%.17g", point.value), "}}"));
    }
  }

  std::string Finish() {
    return absl::StrCat("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n",
                        absl::StrJoin(events_, ",\n"), "\n]}\n");
  }

 private:
  void AddSpan(const Timeline& timeline, const TraceSpan& span) {
    std::vector<std::string> details;
    for (const auto& [key, value] : span.details) {
      details.push_back(absl::StrCat(Quoted(key), ": ", Quoted(value)));
    }
    const int process = Process(timeline, timeline.tracks[span.track].device);
    Emit(absl::StrCat("{\"ph\": \"X\", \"name\": ", Quoted(span.name),
                      ", \"cat\": ", Quoted(span.category),
                      ", \"pid\": ", process, ", \"tid\": ", span.track,
                      ", \"ts\": ", Microseconds(span.start),
                      ", \"dur\": ", Microseconds(span.end - span.start),
                      ", \"args\": {", absl::StrJoin(details, ", "), "}}"));
  }

  // The number of the device's process. Writes its name at the first call.
  int Process(const Timeline& timeline, const std::string& device) {
    const std::string name =
        timeline.name.empty() ? device
                              : absl::StrCat(device, " (", timeline.name, ")");
    const auto [it, added] =
        processes_.emplace(name, static_cast<int>(processes_.size()) + 1);
    if (added) {
      Emit(absl::StrCat(
          "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": ", it->second,
          ", \"args\": {\"name\": ", Quoted(name), "}}"));
    }
    return it->second;
  }

  void LabelAsEmulated(int process) {
    if (!emulated_.insert(process).second) return;
    Emit(absl::StrCat(
        "{\"ph\": \"M\", \"name\": \"process_labels\", \"pid\": ", process,
        ", \"args\": {\"labels\": ", Quoted(kEmulatedLabel), "}}"));
  }

  void Emit(std::string event) { events_.push_back(std::move(event)); }

  std::map<std::string, int> processes_;
  std::set<int> emulated_;  // processes that have the label
  std::vector<std::string> events_;
};

}  // namespace

std::string ChromeTraceJson(const std::vector<Timeline>& timelines) {
  Writer writer;
  for (const Timeline& timeline : timelines) writer.Add(timeline);
  return writer.Finish();
}

}  // namespace partita
