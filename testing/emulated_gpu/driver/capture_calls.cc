// Captures: calls become nodes of a graph (cuda.h:15340 ff.).
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "testing/emulated_gpu/driver/driver.h"

namespace partita::emulated_gpu {
namespace {

// Appends those that are not there yet.
void Merge(const std::vector<GraphNode*>& more,
           std::vector<GraphNode*>& nodes) {
  for (GraphNode* node : more) {
    if (!absl::c_linear_search(nodes, node)) nodes.push_back(node);
  }
}

// The nodes, and all that come before them.
absl::flat_hash_set<const GraphNode*> UpTo(
    const std::vector<GraphNode*>& nodes) {
  absl::flat_hash_set<const GraphNode*> found;
  std::vector<const GraphNode*> open(nodes.begin(), nodes.end());
  while (!open.empty()) {
    const GraphNode* node = open.back();
    open.pop_back();
    if (!found.insert(node).second) continue;
    open.insert(open.end(), node->after.begin(), node->after.end());
  }
  return found;
}

// cuda.h:3097: every fork comes back to the stream that began.
bool AllForksJoined(const Capture& capture) {
  const auto& tail = capture.tails.at(capture.origin);
  const absl::flat_hash_set<const GraphNode*> joined = UpTo(tail);
  for (const auto& [stream, nodes] : capture.tails) {
    for (const GraphNode* node : nodes) {
      if (!joined.contains(node)) return false;
    }
  }
  return true;
}

bool IsForbidden(const Capture& capture, std::thread::id thread,
                 CUstreamCaptureMode mode) {
  if (mode == CU_STREAM_CAPTURE_MODE_RELAXED) return false;
  if (capture.thread == thread) {
    return capture.mode != CU_STREAM_CAPTURE_MODE_RELAXED;
  }
  return mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
         capture.mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
}

}  // namespace

void Driver::Invalidate(Capture& capture, const std::string& why) {
  Report(FindingKind::kCapture,
         absl::StrCat(why, " ends the capture of ", capture.origin->name));
  capture.invalidated = true;
}

CUresult Driver::CheckUnsafe(const char* call) {
  const CUstreamCaptureMode mode = Thread().mode;
  CUresult result = CUDA_SUCCESS;
  for (Capture* capture : capturing_) {
    if (!IsForbidden(*capture, std::this_thread::get_id(), mode)) continue;
    if (!capture->invalidated) Invalidate(*capture, call);
    result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  return result;
}

CUresult Driver::CheckCapture(Stream& stream) {
  if (stream.capture != nullptr) {
    return stream.capture->invalidated ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                                       : CUDA_SUCCESS;
  }
  if (!stream.legacy) return CUDA_SUCCESS;
  // cuda.h:15525 ff., 3110.
  CUresult result = CUDA_SUCCESS;
  for (Stream* other : streams_.live()) {
    if (!other->blocking || other->capture == nullptr ||
        other->context != stream.context) {
      continue;
    }
    Invalidate(*other->capture, "work in the legacy stream");
    result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  }
  return result;
}

CUresult Driver::BeginCapture(CUstream handle, Graph* graph,
                              std::vector<GraphNode*> after,
                              CUstreamCaptureMode mode) {
  Stream* stream = nullptr;
  if (CUresult bad = FindStream(handle, stream); bad != CUDA_SUCCESS)
    return bad;
  // capture.legacy_stream, capture.wrong_thread.
  if (stream->legacy) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (stream->capture != nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  if (graph == nullptr) {
    auto made = std::make_unique<Graph>();
    made->name = absl::StrCat("graph ", ++graphs_made_);
    graph = graphs_.Add(std::move(made));
  }
  auto capture = std::make_unique<Capture>();
  capture->id = captures_.size() + 1;
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->origin = stream;
  capture->graph = graph;
  capture->tails[stream] = std::move(after);
  stream->capture = capture.get();
  graph->capture = capture.get();
  capturing_.push_back(capture.get());
  captures_.push_back(std::move(capture));
  return CUDA_SUCCESS;
}

CUresult Driver::StreamBeginCapture(CUstream stream, CUstreamCaptureMode mode) {
  return BeginCapture(stream, nullptr, {}, mode);
}

CUresult Driver::StreamBeginCaptureToGraph(CUstream stream, CUgraph handle,
                                           const CUgraphNode* dependencies,
                                           const CUgraphEdgeData*, size_t count,
                                           CUstreamCaptureMode mode) {
  Graph* graph = nullptr;
  std::vector<GraphNode*> after;
  if (CUresult bad = FindGraph(handle, graph); bad != CUDA_SUCCESS) return bad;
  if (CUresult bad = FindNodes(graph, dependencies, count, after);
      bad != CUDA_SUCCESS) {
    return bad;
  }
  if (graph->capture != nullptr) return CUDA_ERROR_INVALID_VALUE;
  return BeginCapture(stream, graph, std::move(after), mode);
}

void Driver::EndCapture(Capture& capture) {
  for (const auto& [stream, nodes] : capture.tails) stream->capture = nullptr;
  capture.graph->capture = nullptr;
  std::erase(capturing_, &capture);
}

// Without the stream that began it, no call can end a capture.
void Driver::LoseCapture(Stream& stream, const char* call) {
  Capture& capture = *stream.capture;
  Invalidate(capture, absl::StrCat(call, " of a capturing stream"));
  if (capture.origin != &stream) return;
  EndCapture(capture);
  EndGraph(*capture.graph);
}

CUresult Driver::StreamEndCapture(CUstream handle, CUgraph* graph) {
  Stream* stream = nullptr;
  if (graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *graph = nullptr;
  if (CUresult bad = FindStream(handle, stream); bad != CUDA_SUCCESS)
    return bad;
  // capture.wrong_thread.
  if (stream->capture == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  Capture& capture = *stream->capture;
  if (capture.origin != stream) {
    Invalidate(capture, "cuStreamEndCapture of another stream");
    return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  }
  CUresult result = CUDA_SUCCESS;
  if (capture.mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
      capture.thread != std::this_thread::get_id()) {
    Invalidate(capture, "cuStreamEndCapture in another thread");
    result = CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  } else if (capture.invalidated) {
    result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  } else if (!AllForksJoined(capture)) {
    Invalidate(capture, "a fork that was not joined");
    result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
  }
  EndCapture(capture);
  if (result == CUDA_SUCCESS) {
    *graph = graphs_.HandleOf(capture.graph);
  } else {
    // graph_misuse.invalidated_*: a graph that was given is gone as well.
    EndGraph(*capture.graph);
  }
  return result;
}

CUresult Driver::StreamIsCapturing(CUstream handle,
                                   CUstreamCaptureStatus* status) {
  return StreamGetCaptureInfo(handle, status, nullptr, nullptr, nullptr,
                              nullptr, nullptr);
}

CUresult Driver::StreamGetCaptureInfo(CUstream handle,
                                      CUstreamCaptureStatus* status,
                                      cuuint64_t* id, CUgraph* graph,
                                      const CUgraphNode** dependencies,
                                      const CUgraphEdgeData** edges,
                                      size_t* count) {
  Stream* stream = nullptr;
  if (status == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult bad = FindStream(handle, stream); bad != CUDA_SUCCESS)
    return bad;
  if (stream->legacy) {
    for (const Stream* other : streams_.live()) {
      if (other->blocking && other->capture != nullptr &&
          other->context == stream->context) {
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
      }
    }
  }
  const Capture* capture = stream->capture;
  if (capture == nullptr || capture->invalidated) {
    *status = capture == nullptr ? CU_STREAM_CAPTURE_STATUS_NONE
                                 : CU_STREAM_CAPTURE_STATUS_INVALIDATED;
    return CUDA_SUCCESS;
  }
  *status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  if (id != nullptr) *id = capture->id;
  if (graph != nullptr) *graph = graphs_.HandleOf(capture->graph);
  capture_tail_.clear();
  for (GraphNode* node : capture->tails.at(stream)) {
    capture_tail_.push_back(nodes_.HandleOf(node));
  }
  capture_edges_.assign(capture_tail_.size(), CUgraphEdgeData{});
  if (dependencies != nullptr) *dependencies = capture_tail_.data();
  if (edges != nullptr) *edges = capture_edges_.data();
  if (count != nullptr) *count = capture_tail_.size();
  return CUDA_SUCCESS;
}

CUresult Driver::ThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  if (mode == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::swap(*mode, Thread().mode);
  return CUDA_SUCCESS;
}

void Driver::AddCapturedNode(Stream& stream, Action action,
                             CUgraphNodeType type) {
  std::vector<GraphNode*>& tail = stream.capture->tails.at(&stream);
  GraphNode* node = AddNode(*stream.capture->graph, type, stream.context,
                            std::move(action), std::move(tail));
  tail = {node};
}

void Driver::RecordInCapture(Stream& stream, Event& event) {
  event.record = nullptr;
  event.captured = true;
  event.capture = stream.capture;
  event.captured_tail = stream.capture->tails.at(&stream);
}

CUresult Driver::WaitInCapture(Stream& stream, Event& event) {
  if (CUresult bad = CheckCapture(stream); bad != CUDA_SUCCESS) return bad;
  if (!event.captured) {
    if (event.record == nullptr) {
      // capture.isolation: such a wait passes.
      Report(FindingKind::kUnrecordedWait,
             absl::StrCat(stream.name, " waits for ", event.name,
                          ", which was never recorded; the wait passes"));
      return CUDA_SUCCESS;
    }
    Invalidate(*stream.capture, "a wait for an event from outside");
    return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
  }
  Capture* capture = event.capture;
  // capture_event.afterwards.
  if (!absl::c_linear_search(capturing_, capture) || capture->invalidated) {
    Report(FindingKind::kCapture,
           absl::StrCat(stream.name, " waits for ", event.name,
                        ", which was recorded in a capture that is over"));
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (stream.capture != nullptr && stream.capture != capture) {
    Invalidate(*stream.capture, "a wait for an event of another capture");
    Invalidate(*capture, "a wait of another capture");
    return CUDA_ERROR_STREAM_CAPTURE_MERGE;
  }
  if (stream.legacy) {
    Invalidate(*capture, "a wait of the legacy stream");
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  stream.capture = capture;
  Merge(event.captured_tail, capture->tails[&stream]);
  return CUDA_SUCCESS;
}

// cuda.h:3116; capture_event.query.
CUresult Driver::CheckCapturedEvent(Event& event, const char* call) {
  if (!event.captured) return CUDA_SUCCESS;
  if (!absl::c_linear_search(capturing_, event.capture) ||
      event.capture->invalidated) {
    Report(FindingKind::kCapture,
           absl::StrCat(call, " of ", event.name,
                        ", which was recorded in a capture that is over"));
    return CUDA_ERROR_INVALID_VALUE;
  }
  Invalidate(*event.capture, absl::StrCat(call, " of a captured event"));
  return CUDA_ERROR_CAPTURED_EVENT;
}

}  // namespace partita::emulated_gpu
