// Sessions, their steps, and comparisons of their results.
// SPDX-License-Identifier: Apache-2.0

#include "tests/gradients/training_steps.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/op_view.h"

namespace partita {
namespace {

void SetInputs(Session& session, const std::vector<HostTensor>& inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const absl::Status set = session.SetInput(static_cast<int>(i), inputs[i]);
    EXPECT_TRUE(set.ok()) << set;
  }
}

void ExpectHeld(Session& session, const std::string& variable,
                const HostTensor& expected) {
  const auto replicas = session.ReadReplicas(variable);
  ASSERT_TRUE(replicas.ok()) << replicas.status();
  for (size_t i = 0; i < replicas->size(); ++i) {
    EXPECT_TRUE(SameBits((*replicas)[i], expected)) << "replica " << i;
  }
}

}  // namespace

std::unique_ptr<Session> TrainingSession(Module module, const Machine& machine,
                                         const CompileOptions& options) {
  auto compiled = Compile(std::move(module), machine, options);
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  if (!compiled.ok()) return nullptr;
  auto session =
      Session::Create(std::make_shared<Plan>(std::move(compiled->plan)),
                      {.devices = DeviceMode::kVirtual});
  EXPECT_TRUE(session.ok()) << session.status();
  return session.ok() ? *std::move(session) : nullptr;
}

Numbers LossOf(Session& session, const std::vector<HostTensor>& inputs,
               const RunOptions& options) {
  SetInputs(session, inputs);
  const absl::Status run = session.Run(options);
  EXPECT_TRUE(run.ok()) << run;
  return run.ok() ? ToNumbers(**session.GetOutput("loss")) : Numbers();
}

Numbers CheckedStep(Session& session, int step,
                    const std::vector<HostTensor>& inputs,
                    const RunOptions& options) {
  SetInputs(session, inputs);
  const auto reference = session.RunReference();
  EXPECT_TRUE(reference.ok()) << reference.status();
  const absl::Status run = session.Run(options);
  EXPECT_TRUE(run.ok()) << run;
  if (!reference.ok() || !run.ok()) return {};
  ExpectIsReference(session, step, *reference);
  return ToNumbers(**session.GetOutput(0));
}

void ExpectIsReference(Session& session, int step,
                       const std::vector<HostTensor>& reference) {
  const Graph& graph = *session.plan().entries[session.entry()].graph;
  const size_t outputs = session.num_outputs();
  ASSERT_EQ(reference.size(), outputs + graph.updates().size());
  for (size_t i = 0; i < reference.size(); ++i) {
    if (i < outputs) {
      EXPECT_TRUE(
          SameBits(**session.GetOutput(static_cast<int>(i)), reference[i]))
          << "output " << session.output_name(static_cast<int>(i))
          << " of step " << step;
      continue;
    }
    const std::string& variable = graph.updates()[i - outputs].variable;
    SCOPED_TRACE(absl::StrCat("variable ", variable, " after step ", step));
    ExpectHeld(session, variable, reference[i]);
  }
}

testing::AssertionResult SameBits(const HostTensor& found,
                                  const HostTensor& expected) {
  if (found.type() != expected.type()) {
    return testing::AssertionFailure()
           << "found " << found.type().ToString() << "; expected "
           << expected.type().ToString();
  }
  const auto bytes = found.byte_span();
  const auto mismatch =
      std::mismatch(bytes.begin(), bytes.end(), expected.byte_span().begin());
  if (mismatch.first == bytes.end()) return testing::AssertionSuccess();
  const int64_t element = (mismatch.first - bytes.begin()) * int64_t{8} /
                          BitsOf(found.type().dtype);
  return testing::AssertionFailure()
         << "found " << GetAsDouble(found, element) << " as element " << element
         << " in memory; expected " << GetAsDouble(expected, element);
}

int JoinedSums(const Session& session) {
  int joined = 0;
  // The module's own graph, since lowering puts several sums into one
  // collective.
  for (const OpView& op : session.plan().module.main().ops()) {
    joined += absl::c_count_if(
        op.node().placement.operands,
        [](const Sharding& s) { return s.kind == Sharding::Kind::kPartial; });
  }
  return joined;
}

void ExpectEqualReplicas(Session& session, size_t replicas) {
  for (const Variable& variable : session.plan().module.variables()) {
    SCOPED_TRACE(absl::StrCat("variable ", variable.name));
    const auto values = session.ReadReplicas(variable.name);
    ASSERT_TRUE(values.ok()) << values.status();
    EXPECT_EQ(values->size(), replicas);
    for (size_t i = 1; i < values->size(); ++i) {
      EXPECT_TRUE(SameBits((*values)[i], values->front())) << "replica " << i;
    }
  }
}

void ExpectSameBits(Session& found, Session& expected) {
  for (const Variable& variable : expected.plan().module.variables()) {
    SCOPED_TRACE(absl::StrCat("variable ", variable.name));
    const auto here = found.ReadVariable(variable.name);
    const auto there = expected.ReadVariable(variable.name);
    ASSERT_TRUE(here.ok()) << here.status();
    ASSERT_TRUE(there.ok()) << there.status();
    EXPECT_TRUE(SameBits(*here, *there));
  }
}

NamedNumbers VariablesOf(Session& session) {
  NamedNumbers all;
  for (const Variable& variable : session.plan().module.variables()) {
    const auto value = session.ReadVariable(variable.name);
    EXPECT_TRUE(value.ok()) << value.status();
    if (!value.ok()) continue;
    HostTensor rows(value->type().RowMajor());
    ConvertLayout(*value, rows);
    all[variable.name] = ToNumbers(rows);
  }
  return all;
}

void CopyVariables(Session& from, Session& to) {
  for (const Variable& variable : from.plan().module.variables()) {
    const auto value = from.ReadVariable(variable.name);
    const auto there = to.ReadVariable(variable.name);
    ASSERT_TRUE(value.ok()) << value.status();
    ASSERT_TRUE(there.ok()) << there.status();
    HostTensor copy(there->type());
    ConvertLayout(*value, copy);
    EXPECT_EQ(to.WriteVariable(variable.name, copy), absl::OkStatus());
  }
}

NamedNumbers VariablesOf(const Module& module, const State& state) {
  NamedNumbers all;
  for (const Variable& variable : module.variables()) {
    all[variable.name] = ToNumbers(state[variable.name]);
  }
  return all;
}

double RoundingsApart(const Numbers& found, const Numbers& expected) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (found.size() != expected.size()) return kInfinity;
  double apart = 0;
  double largest = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    const double here = std::fabs(found[i] - expected[i]);
    if (!std::isfinite(here)) return kInfinity;
    apart = std::max(apart, here);
    largest = std::max(largest, std::fabs(expected[i]));
  }
  if (apart == 0) return 0;
  return apart / (largest * std::numeric_limits<float>::epsilon());
}

void ExpectSameVariables(const NamedNumbers& found,
                         const NamedNumbers& expected, double roundings) {
  EXPECT_EQ(found.size(), expected.size());
  for (const auto& [name, values] : expected) {
    const auto here = found.find(name);
    ASSERT_NE(here, found.end()) << name;
    EXPECT_LE(RoundingsApart(here->second, values), roundings)
        << "variable " << name;
  }
}

}  // namespace partita
