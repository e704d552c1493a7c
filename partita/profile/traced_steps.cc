// Compiles, runs and reads traces.
// SPDX-License-Identifier: Apache-2.0

#include "partita/profile/traced_steps.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "graph/host_tensor.h"
#include "graph/ops/op_set.h"
#include "graph/status_macros.h"
#include "graph/text/parser.h"
#include "partita/session.h"

namespace partita {

absl::StatusOr<double> MedianOfTraces(const std::string& graph,
                                      const Machine& machine,
                                      const CompileOptions& options, int steps,
                                      TraceReader read) {
  PARTITA_ASSIGN_OR_RETURN(Module module,
                           ParseModule(graph, "profile", OpSet::BuiltIn()));
  PARTITA_ASSIGN_OR_RETURN(Compiled compiled,
                           Compile(std::move(module), machine, options));
  const auto plan = std::make_shared<const Plan>(std::move(compiled.plan));
  PARTITA_ASSIGN_OR_RETURN(const CommandList commands,
                           Expand(plan->entries[0]));
  PARTITA_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session,
                           Session::Create(plan));
  PARTITA_RETURN_IF_ERROR(
      session->SetInput(0, HostTensor(session->input_type(0))));
  std::vector<double> seconds;
  for (int step = 0; step < steps; ++step) {
    PARTITA_RETURN_IF_ERROR(session->Run({.trace = true}));
    if (step > 0) seconds.push_back(read(commands, session->LastTrace()));
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

}  // namespace partita
