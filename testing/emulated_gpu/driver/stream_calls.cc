// Streams and events: what waits for what.
// SPDX-License-Identifier: Apache-2.0

#include "absl/strings/str_cat.h"
#include "testing/emulated_gpu/driver/driver.h"

namespace partita::emulated_gpu {

// cuda.h:15802: returns at once, and the work is done.
CUresult Driver::StreamDestroy(CUstream handle) {
  Stream* stream = streams_.Find(handle);
  if (stream == nullptr) return BadHandle(streams_, handle, "stream");
  if (stream->capture != nullptr) LoseCapture(*stream, "cuStreamDestroy");
  // The legacy stream still waits for its work.
  if (stream->blocking && stream->last != nullptr && !stream->last->done) {
    Issue(*stream->context->legacy, Marker{"end of a stream"}, {stream->last},
          stream->clock);
  }
  streams_.End(stream);
  return stream->context->device->sticky;
}

CUresult Driver::StreamGetPriority(CUstream handle, int* priority) {
  Stream* stream = nullptr;
  if (priority == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult bad = FindStream(handle, stream); bad != CUDA_SUCCESS)
    return bad;
  *priority = stream->priority;
  return CUDA_SUCCESS;
}

CUresult Driver::StreamSynchronize(CUstream handle) {
  Stream* stream = nullptr;
  if (CUresult bad = FindStream(handle, stream); bad != CUDA_SUCCESS)
    return bad;
  if (stream->capture != nullptr) {
    Invalidate(*stream->capture, "cuStreamSynchronize of a capturing stream");
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  if (CUresult bad = CheckUnsafe("cuStreamSynchronize"); bad != CUDA_SUCCESS) {
    return bad;
  }
  if (CUresult bad = CheckCapture(*stream); bad != CUDA_SUCCESS) return bad;
  if (stream->last != nullptr) RunUntilDone(stream->last);
  HostJoins(stream->clock);
  return stream->context->device->sticky;
}

CUresult Driver::StreamQuery(CUstream handle) {
  Stream* stream = nullptr;
  if (CUresult bad = FindStream(handle, stream); bad != CUDA_SUCCESS)
    return bad;
  if (stream->capture != nullptr) {
    Invalidate(*stream->capture, "cuStreamQuery of a capturing stream");
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  if (CUresult bad = CheckUnsafe("cuStreamQuery"); bad != CUDA_SUCCESS) {
    return bad;
  }
  RunSome();
  const CUresult sticky = stream->context->device->sticky;
  if (sticky != CUDA_SUCCESS) return sticky;
  if (stream->last != nullptr && !stream->last->done) {
    return CUDA_ERROR_NOT_READY;
  }
  HostJoins(stream->clock);
  return CUDA_SUCCESS;
}

// cuda.h:15957 ff.: of the event, the last record before this call; none is an
// empty set of work.
CUresult Driver::StreamWaitEvent(CUstream handle, CUevent event_handle,
                                 unsigned flags) {
  Stream* stream = nullptr;
  Event* event = nullptr;
  if (CUresult bad = FindStream(handle, stream); bad != CUDA_SUCCESS)
    return bad;
  if (CUresult bad = FindEvent(event_handle, event); bad != CUDA_SUCCESS) {
    return bad;
  }
  if (flags != CU_EVENT_WAIT_DEFAULT) {
    return NotEmulated("cuStreamWaitEvent with flags");
  }
  if (event->captured || stream->capture != nullptr) {
    return WaitInCapture(*stream, *event);
  }
  if (CUresult bad = CheckCapture(*stream); bad != CUDA_SUCCESS) return bad;
  if (event->record == nullptr) {
    Report(FindingKind::kUnrecordedWait,
           absl::StrCat(stream->name, " waits for ", event->name,
                        ", which was never recorded; the wait passes"));
    return CUDA_SUCCESS;
  }
  Issue(*stream, Marker{"wait", /*waits=*/true}, {event->record},
        event->record->clock);
  return CUDA_SUCCESS;
}

CUresult Driver::EventCreate(CUevent* handle, unsigned flags) {
  Context* context = nullptr;
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult bad = FindContext(context); bad != CUDA_SUCCESS) return bad;
  if ((flags & ~unsigned{CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING}) !=
      0) {
    return NotEmulated("cuEventCreate for other processes");
  }
  auto event = std::make_unique<Event>();
  event->context = context;
  event->flags = flags;
  event->name = absl::StrCat("event ", ++events_made_);
  *handle = events_.HandleOf(events_.Add(std::move(event)));
  return CUDA_SUCCESS;
}

// cuda.h:16109: a pending one may be destroyed; waits for it hold.
CUresult Driver::EventDestroy(CUevent handle) {
  Event* event = events_.Find(handle);
  if (event == nullptr) return BadHandle(events_, handle, "event");
  events_.End(event);
  return event->context->device->sticky;
}

CUresult Driver::EventRecord(CUevent handle, CUstream stream_handle) {
  Stream* stream = nullptr;
  Event* event = nullptr;
  if (CUresult bad = FindStream(stream_handle, stream); bad != CUDA_SUCCESS) {
    return bad;
  }
  if (CUresult bad = FindEvent(handle, event); bad != CUDA_SUCCESS) return bad;
  // cuda.h:15946 ff.
  if (event->context != stream->context) {
    Report(FindingKind::kWrongContext,
           absl::StrCat("cuEventRecord: found ", event->name, " of ",
                        event->context->name, " and ", stream->name));
    return CUDA_ERROR_INVALID_HANDLE;
  }
  if (CUresult bad = CheckCapture(*stream); bad != CUDA_SUCCESS) return bad;
  if (stream->capture != nullptr) {
    RecordInCapture(*stream, *event);
    return CUDA_SUCCESS;
  }
  event->captured = false;
  event->capture = nullptr;
  event->record = Issue(*stream, Marker{"record"}, {}, {});
  return CUDA_SUCCESS;
}

CUresult Driver::EventQuery(CUevent handle) {
  Event* event = nullptr;
  if (CUresult bad = FindEvent(handle, event); bad != CUDA_SUCCESS) return bad;
  if (CUresult bad = CheckCapturedEvent(*event, "cuEventQuery");
      bad != CUDA_SUCCESS) {
    return bad;
  }
  if (CUresult bad = CheckUnsafe("cuEventQuery"); bad != CUDA_SUCCESS) {
    return bad;
  }
  RunSome();
  const CUresult sticky = event->context->device->sticky;
  if (sticky != CUDA_SUCCESS) return sticky;
  if (event->record == nullptr) {
    Report(FindingKind::kUnrecordedWait,
           absl::StrCat("the host asks for ", event->name,
                        ", which was never recorded; the answer is that it is "
                        "reached"));
    return CUDA_SUCCESS;
  }
  if (!event->record->done) return CUDA_ERROR_NOT_READY;
  HostJoins(event->record->clock);
  return CUDA_SUCCESS;
}

CUresult Driver::EventSynchronize(CUevent handle) {
  Event* event = nullptr;
  if (CUresult bad = FindEvent(handle, event); bad != CUDA_SUCCESS) return bad;
  if (CUresult bad = CheckCapturedEvent(*event, "cuEventSynchronize");
      bad != CUDA_SUCCESS) {
    return bad;
  }
  if (CUresult bad = CheckUnsafe("cuEventSynchronize"); bad != CUDA_SUCCESS) {
    return bad;
  }
  if (event->record == nullptr) {
    Report(FindingKind::kUnrecordedWait,
           absl::StrCat("the host waits for ", event->name,
                        ", which was never recorded; the wait passes"));
    return CUDA_SUCCESS;
  }
  const CommandRef record = event->record;
  RunUntilDone(record);
  HostJoins(record->clock);
  return event->context->device->sticky;
}

// cuda.h:16150 ff.
CUresult Driver::EventElapsedTime(float* milliseconds, CUevent start_handle,
                                  CUevent end_handle) {
  Event* start = nullptr;
  Event* end = nullptr;
  if (milliseconds == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult bad = FindEvent(start_handle, start); bad != CUDA_SUCCESS) {
    return bad;
  }
  if (CUresult bad = FindEvent(end_handle, end); bad != CUDA_SUCCESS) {
    return bad;
  }
  for (const Event* event : {start, end}) {
    if (event->record == nullptr || event->captured ||
        (event->flags & CU_EVENT_DISABLE_TIMING) != 0) {
      return CUDA_ERROR_INVALID_HANDLE;
    }
  }
  if (start->context != end->context) {
    Report(FindingKind::kWrongContext,
           absl::StrCat("cuEventElapsedTime: found ", start->name, " and ",
                        end->name, " of two contexts"));
    return CUDA_ERROR_INVALID_HANDLE;
  }
  if (!start->record->done || !end->record->done) return CUDA_ERROR_NOT_READY;
  HostJoins(start->record->clock);
  HostJoins(end->record->clock);
  *milliseconds =
      static_cast<float>((end->record->seconds - start->record->seconds) * 1e3);
  return CUDA_SUCCESS;
}

}  // namespace partita::emulated_gpu
