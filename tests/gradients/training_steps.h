// Steps of plans that train, compared bit for bit with their reference, and
// comparisons of two trainings' variables.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_GRADIENTS_TRAINING_STEPS_H_
#define PARTITA_TESTS_GRADIENTS_TRAINING_STEPS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/host_tensor.h"
#include "gtest/gtest.h"
#include "partita/partita.h"
#include "tests/gradients/drawn.h"

namespace partita {

inline constexpr int64_t kTrainingMemory = int64_t{1} << 30;

// On virtual devices. Null, and a failure of the test, if it does not compile.
std::unique_ptr<Session> TrainingSession(Module module, const Machine& machine,
                                         const CompileOptions& options);

// The loss of one more step.
Numbers LossOf(Session& session, const std::vector<HostTensor>& inputs,
               const RunOptions& options);

// The first output, which training calls the loss, of one more step. Fails the
// test unless every output, and every updated variable on every device, has the
// bits of the session's reference. `step` is for the message.
Numbers CheckedStep(Session& session, int step,
                    const std::vector<HostTensor>& inputs,
                    const RunOptions& options = {});

// That comparison alone, with the result of RunReference before the step.
void ExpectIsReference(Session& session, int step,
                       const std::vector<HostTensor>& reference);

// Compares bytes: NaN equals itself, and 0 differs from -0.
testing::AssertionResult SameBits(const HostTensor& found,
                                  const HostTensor& expected);

// The number of all-reduced sums of the first function, such as the gradients
// of weights in data parallelism.
int JoinedSums(const Session& session);

// Fails the test unless this many devices hold each variable, with equal bits.
void ExpectEqualReplicas(Session& session, size_t replicas);

// Fails the test unless every variable has the bits of the other's, which has
// the same layout.
void ExpectSameBits(Session& found, Session& expected);

// Sets every variable of `to` to its value in `from`, whatever their layouts.
void CopyVariables(Session& from, Session& to);

// The elements of every variable, by its name.
using NamedNumbers = std::map<std::string, Numbers>;
// Row-major, whatever the plan's layouts.
NamedNumbers VariablesOf(Session& session);
// The module's variables after steps by eval.
NamedNumbers VariablesOf(const Module& module, const State& state);

// The largest |found - expected| in roundings of an f32 as large as the largest
// of `expected`: a sum in another order has the same absolute error in small
// elements as in large ones. Infinity if either is NaN or infinite, or if they
// differ in size.
double RoundingsApart(const Numbers& found, const Numbers& expected);

// Fails the test unless both have the same variables, none of them further
// apart than that.
void ExpectSameVariables(const NamedNumbers& found,
                         const NamedNumbers& expected, double roundings);

}  // namespace partita

#endif  // PARTITA_TESTS_GRADIENTS_TRAINING_STEPS_H_
