// Inputs and outputs of a session of the C API.
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "graph/host_tensor.h"
#include "graph/status_macros.h"
#include "graph/text/names.h"
#include "partita/c_api.h"
#include "partita/c_api/session_handle.h"
#include "partita/c_api/tensor_type.h"
#include "partita/port_lookup.h"
#include "runtime/plan/plan.h"

namespace partita::c_api {
namespace {

using absl::StatusOr;
using Ports = std::vector<Port>;

enum class Side { kInput, kOutput };

const char* NameOf(Side side) {
  return side == Side::kInput ? "input" : "output";
}

const Ports& PortsOf(const partita_session& of, Side side) {
  const Session& session = *of.session;
  const Entry& entry =
      session.plan().entries[static_cast<size_t>(session.entry())];
  return side == Side::kInput ? entry.inputs : entry.outputs;
}

StatusOr<const Port*> PortOf(const partita_session& of, Side side,
                             size_t index) {
  const Ports& ports = PortsOf(of, side);
  PARTITA_RETURN_IF_ERROR(CheckIndex(index, ports.size(), NameOf(side)));
  return &ports[index];
}

// "input x", the start of messages.
std::string WhereOf(Side side, const Port& port) {
  return absl::StrCat(NameOf(side), " ", NameText(port.name));
}

StatusOr<size_t> IndexOf(const partita_session& of, Side side,
                         const char* name) {
  PARTITA_RETURN_IF_ERROR(
      CheckGiven(name, "name", absl::StrCat("that of an ", NameOf(side))));
  return FindPort(PortsOf(of, side), name, NameOf(side));
}

StatusOr<const char*> PortName(const partita_session& of, Side side,
                               size_t index) {
  PARTITA_ASSIGN_OR_RETURN(const Port* port, PortOf(of, side, index));
  return port->name.c_str();
}

absl::Status FillType(const partita_session& of, Side side, size_t index,
                      partita_tensor* type) {
  PARTITA_ASSIGN_OR_RETURN(const Port* port, PortOf(of, side, index));
  return FillTensor(port->type, nullptr, type);
}

absl::Status SetInput(partita_session& of, size_t input,
                      const partita_tensor* value) {
  PARTITA_ASSIGN_OR_RETURN(const Port* port, PortOf(of, Side::kInput, input));
  PARTITA_ASSIGN_OR_RETURN(
      const void* data,
      DataOfType(value, port->type, WhereOf(Side::kInput, *port)));
  PARTITA_RETURN_IF_ERROR(CheckIdle(of));
  EntryBindings& bindings = of.bindings();
  HostTensor& own = bindings.own_inputs[input];
  if (own.bytes() == nullptr) own = HostTensor(port->type.RowMajor());
  if (own.type().num_bytes() > 0) {
    std::memcpy(own.bytes(), data, static_cast<size_t>(own.type().num_bytes()));
  }
  NormalizeBools(own);
  bindings.inputs[input] = own.bytes();
  return of.session->BindInput(static_cast<int>(input), own.bytes());
}

// Steps in flight may use memory that later steps do not: it is kept until the
// next call.
void FreeIfIdle(const partita_session& of, HostTensor& own) {
  if (of.in_flight.empty()) own = HostTensor();
}

absl::Status BindInput(partita_session& of, size_t input,
                       const partita_tensor* value) {
  PARTITA_ASSIGN_OR_RETURN(const Port* port, PortOf(of, Side::kInput, input));
  PARTITA_ASSIGN_OR_RETURN(
      const void* data,
      DataOfType(value, port->type, WhereOf(Side::kInput, *port)));
  EntryBindings& bindings = of.bindings();
  PARTITA_RETURN_IF_ERROR(of.session->BindInput(static_cast<int>(input), data));
  bindings.inputs[input] = data;
  FreeIfIdle(of, bindings.own_inputs[input]);
  return absl::OkStatus();
}

absl::Status BindOutput(partita_session& of, size_t output,
                        const partita_tensor* value) {
  PARTITA_ASSIGN_OR_RETURN(const Port* port, PortOf(of, Side::kOutput, output));
  PARTITA_ASSIGN_OR_RETURN(
      void* const data,
      DataOfType(value, port->type, WhereOf(Side::kOutput, *port)));
  EntryBindings& bindings = of.bindings();
  PARTITA_RETURN_IF_ERROR(
      of.session->BindOutput(static_cast<int>(output), data));
  bindings.outputs[output] = data;
  FreeIfIdle(of, bindings.own_outputs[output]);
  return absl::OkStatus();
}

absl::Status GetOutput(partita_session& of, size_t output,
                       partita_tensor* value) {
  PARTITA_ASSIGN_OR_RETURN(const Port* port, PortOf(of, Side::kOutput, output));
  PARTITA_RETURN_IF_ERROR(CheckIdle(of));
  PARTITA_ASSIGN_OR_RETURN(const void* const memory,
                           MemoryOfOutput(of, static_cast<int>(output)));
  if (of.bindings().own_outputs[output].bytes() != memory) {
    return absl::FailedPreconditionError(
        absl::StrCat(WhereOf(Side::kOutput, *port),
                     ": found a binding to memory of the caller; expected "
                     "none; read the output there"));
  }
  return FillTensor(port->type, memory, value);
}

}  // namespace
}  // namespace partita::c_api

using partita::c_api::BindInput;
using partita::c_api::BindOutput;
using partita::c_api::FillType;
using partita::c_api::FromSession;
using partita::c_api::GetOutput;
using partita::c_api::IndexOf;
using partita::c_api::OnSession;
using partita::c_api::PortName;
using partita::c_api::PortsOf;
using partita::c_api::SetInput;
using partita::c_api::Side;

partita_code partita_session_num_inputs(partita_session* session,
                                        size_t* inputs,
                                        partita_status* status) {
  return FromSession<size_t>(
      session, inputs, "inputs", status,
      [](partita_session& of) { return PortsOf(of, Side::kInput).size(); });
}

partita_code partita_session_num_outputs(partita_session* session,
                                         size_t* outputs,
                                         partita_status* status) {
  return FromSession<size_t>(
      session, outputs, "outputs", status,
      [](partita_session& of) { return PortsOf(of, Side::kOutput).size(); });
}

partita_code partita_session_find_input(partita_session* session,
                                        const char* name, size_t* input,
                                        partita_status* status) {
  return FromSession<size_t>(
      session, input, "input", status,
      [name](partita_session& of) { return IndexOf(of, Side::kInput, name); });
}

partita_code partita_session_find_output(partita_session* session,
                                         const char* name, size_t* output,
                                         partita_status* status) {
  return FromSession<size_t>(
      session, output, "output", status,
      [name](partita_session& of) { return IndexOf(of, Side::kOutput, name); });
}

partita_code partita_session_input_name(partita_session* session, size_t input,
                                        const char** name,
                                        partita_status* status) {
  return FromSession<const char*>(session, name, "name", status,
                                  [input](partita_session& of) {
                                    return PortName(of, Side::kInput, input);
                                  });
}

partita_code partita_session_output_name(partita_session* session,
                                         size_t output, const char** name,
                                         partita_status* status) {
  return FromSession<const char*>(session, name, "name", status,
                                  [output](partita_session& of) {
                                    return PortName(of, Side::kOutput, output);
                                  });
}

partita_code partita_session_input_type(partita_session* session, size_t input,
                                        partita_tensor* type,
                                        partita_status* status) {
  return OnSession(session, status, [&](partita_session& of) {
    return FillType(of, Side::kInput, input, type);
  });
}

partita_code partita_session_output_type(partita_session* session,
                                         size_t output, partita_tensor* type,
                                         partita_status* status) {
  return OnSession(session, status, [&](partita_session& of) {
    return FillType(of, Side::kOutput, output, type);
  });
}

partita_code partita_session_set_input(partita_session* session, size_t input,
                                       const partita_tensor* value,
                                       partita_status* status) {
  return OnSession(session, status, [&](partita_session& of) {
    return SetInput(of, input, value);
  });
}

partita_code partita_session_bind_input(partita_session* session, size_t input,
                                        const partita_tensor* value,
                                        partita_status* status) {
  return OnSession(session, status, [&](partita_session& of) {
    return BindInput(of, input, value);
  });
}

partita_code partita_session_bind_output(partita_session* session,
                                         size_t output,
                                         const partita_tensor* value,
                                         partita_status* status) {
  return OnSession(session, status, [&](partita_session& of) {
    return BindOutput(of, output, value);
  });
}

partita_code partita_session_get_output(partita_session* session, size_t output,
                                        partita_tensor* value,
                                        partita_status* status) {
  return OnSession(session, status, [&](partita_session& of) {
    return GetOutput(of, output, value);
  });
}
