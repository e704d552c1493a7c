// Variables of a session of the C API.
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "graph/graph.h"
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

const std::vector<Variable>& VariablesOf(const partita_session& of) {
  return of.session->plan().module.variables();
}

StatusOr<const Variable*> VariableOf(const partita_session& of, size_t index) {
  const std::vector<Variable>& variables = VariablesOf(of);
  PARTITA_RETURN_IF_ERROR(CheckIndex(index, variables.size(), "variable"));
  return &variables[index];
}

std::string WhereOf(const Variable& variable) {
  return absl::StrCat("variable @", NameText(variable.name));
}

absl::Status FillType(const partita_session& of, size_t index,
                      partita_tensor* type) {
  PARTITA_ASSIGN_OR_RETURN(const Variable* variable, VariableOf(of, index));
  return FillTensor(variable->type, nullptr, type);
}

StatusOr<const char*> VariableName(const partita_session& of, size_t index) {
  PARTITA_ASSIGN_OR_RETURN(const Variable* variable, VariableOf(of, index));
  return variable->name.c_str();
}

void CopyBytes(const void* from, size_t bytes, void* to) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

absl::Status ReadVariable(partita_session& of, size_t index,
                          const partita_tensor* value) {
  PARTITA_ASSIGN_OR_RETURN(const Variable* variable, VariableOf(of, index));
  PARTITA_ASSIGN_OR_RETURN(
      void* const data, DataOfType(value, variable->type, WhereOf(*variable)));
  PARTITA_ASSIGN_OR_RETURN(const HostTensor stored,
                           of.session->ReadVariable(variable->name));
  HostTensor plain(stored.type().RowMajor());
  ConvertLayout(stored, plain);
  CopyBytes(plain.bytes(), plain.byte_span().size(), data);
  return absl::OkStatus();
}

// Passes the value through the plan's layout.
absl::Status WriteVariable(partita_session& of, size_t index,
                           const partita_tensor* value) {
  PARTITA_ASSIGN_OR_RETURN(const Variable* variable, VariableOf(of, index));
  PARTITA_ASSIGN_OR_RETURN(
      const void* const data,
      DataOfType(value, variable->type, WhereOf(*variable)));
  PARTITA_ASSIGN_OR_RETURN(HostTensor stored,
                           of.session->ReadVariable(variable->name));
  HostTensor plain(stored.type().RowMajor());  // aligned, as `data` may not be
  CopyBytes(data, plain.byte_span().size(), plain.bytes());
  NormalizeBools(plain);
  ConvertLayout(plain, stored);
  return of.session->WriteVariable(variable->name, stored);
}

}  // namespace
}  // namespace partita::c_api

using partita::c_api::FromSession;
using partita::c_api::OnSession;

partita_code partita_session_num_variables(partita_session* session,
                                           size_t* variables,
                                           partita_status* status) {
  return FromSession<size_t>(session, variables, "variables", status,
                             [](partita_session& of) {
                               return partita::c_api::VariablesOf(of).size();
                             });
}

partita_code partita_session_variable_name(partita_session* session,
                                           size_t variable, const char** name,
                                           partita_status* status) {
  return FromSession<const char*>(
      session, name, "name", status, [variable](partita_session& of) {
        return partita::c_api::VariableName(of, variable);
      });
}

partita_code partita_session_variable_type(partita_session* session,
                                           size_t variable,
                                           partita_tensor* type,
                                           partita_status* status) {
  return OnSession(session, status, [&](partita_session& of) {
    return partita::c_api::FillType(of, variable, type);
  });
}

partita_code partita_session_read_variable(partita_session* session,
                                           size_t variable,
                                           const partita_tensor* value,
                                           partita_status* status) {
  return OnSession(session, status, [&](partita_session& of) {
    return partita::c_api::ReadVariable(of, variable, value);
  });
}

partita_code partita_session_write_variable(partita_session* session,
                                            size_t variable,
                                            const partita_tensor* value,
                                            partita_status* status) {
  return OnSession(session, status, [&](partita_session& of) {
    return partita::c_api::WriteVariable(of, variable, value);
  });
}
