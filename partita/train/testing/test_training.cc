// Compiles, trains, compares.
// SPDX-License-Identifier: Apache-2.0

#include "partita/train/testing/test_training.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"
#include "partita/compile.h"
#include "placement/machine/sample_machines.h"

namespace partita {

std::string TestPath(const std::string& name) {
  return absl::StrCat(testing::TempDir(), "/", getpid(), "_", name);
}

std::string FileContent(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

std::shared_ptr<const Plan> PlanOf(absl::StatusOr<Module> module,
                                   const std::string& strategy, int devices) {
  EXPECT_TRUE(module.ok()) << module.status();
  CompileOptions options;
  options.strategy = strategy;
  auto compiled = Compile(*std::move(module),
                          EqualCpus(devices, int64_t{1} << 30), options);
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  return std::make_shared<const Plan>(std::move(compiled->plan));
}

std::unique_ptr<Session> VirtualSession(std::shared_ptr<const Plan> plan) {
  auto session =
      Session::Create(std::move(plan), {.devices = DeviceMode::kVirtual});
  EXPECT_TRUE(session.ok()) << session.status();
  return *std::move(session);
}

absl::Status StopsAfter::OnStep(const TrainingStep& step) {
  losses.push_back(step.loss);
  samples += step.samples;
  labels += step.labels;
  done_ = step.step + 1;
  return absl::OkStatus();
}

absl::Status StopsAfter::OnEpoch(int64_t epoch) {
  epochs.push_back(epoch);
  return absl::OkStatus();
}

absl::Status TrainOn(const std::shared_ptr<const Plan>& plan,
                     const TrainableModel& model, int64_t epochs,
                     const std::string& checkpoint,
                     TrainingObserver& observer) {
  const auto session = VirtualSession(plan);
  PARTITA_ASSIGN_OR_RETURN(const auto trainer,
                           Trainer::Create(*session, model.train.samples,
                                           {.batch_size = model.batch,
                                            .epochs = epochs,
                                            .checkpoint = checkpoint,
                                            .settings = model.settings}));
  if (access(checkpoint.c_str(), F_OK) == 0) {
    PARTITA_RETURN_IF_ERROR(trainer->Resume(checkpoint));
  }
  return trainer->Run(observer).status();
}

void ExpectResumesToTheBit(const std::shared_ptr<const Plan>& plan,
                           const TrainableModel& model, int64_t step) {
  const std::string whole = TestPath("whole"), parts = TestPath("parts");
  unlink(whole.c_str());
  unlink(parts.c_str());
  StopsAfter never(0), first(step), rest(0);
  ASSERT_TRUE(TrainOn(plan, model, 2, whole, never).ok());
  ASSERT_TRUE(TrainOn(plan, model, 2, parts, first).ok());
  ASSERT_EQ(static_cast<int64_t>(first.losses.size()), step);
  ASSERT_NE(FileContent(parts), FileContent(whole));
  ASSERT_TRUE(TrainOn(plan, model, 2, parts, rest).ok());
  EXPECT_EQ(first.losses.size() + rest.losses.size(), never.losses.size());
  EXPECT_EQ(FileContent(parts), FileContent(whole));
}

void ExpectRebatched(const TrainableModel& model, int64_t batch) {
  const auto trained = model.build({});
  const auto rebatched = model.rebatched(batch);
  ASSERT_TRUE(trained.ok()) << trained.status();
  ASSERT_TRUE(rebatched.ok()) << rebatched.status();
  const Graph& evaluate = *rebatched->FindFunction("evaluate");
  for (ValueId input : evaluate.inputs()) {
    EXPECT_EQ(evaluate.type(input).dims[0], batch);
  }
  for (const OpView& read : evaluate.ops(kVariable)) {
    const std::string name = read.attr_string("name");
    const Variable* variable = trained->FindVariable(name);
    ASSERT_NE(variable, nullptr) << name;
    EXPECT_EQ(read.result_type(0), variable->type) << name;
  }
}

}  // namespace partita
