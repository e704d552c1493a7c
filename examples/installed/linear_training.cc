// Trains a linear model on two virtual devices.
// SPDX-License-Identifier: Apache-2.0
//
//   linear_training MODEL.graph MACHINE.json

#include <cstdio>
#include <partita/partita.hpp>
#include <string>
#include <vector>

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::fprintf(stderr, "usage: linear_training MODEL.graph MACHINE.json\n");
    return 2;
  }
  const std::vector<float> x = {1, 0, 0, 1, 0, 1, 0, 1, 0, 0,
                                1, 1, 1, 1, 0, 0, 0, 1, 1, 0};
  const std::vector<float> t = {1, 0, 2, 0, 1, 2, 1, 1, 2, 1, 1, 0, 1, 2, 0};
  const partita::Plan plan = partita::Plan::Compile(
      argv[1], {"machine=" + std::string(argv[2]), "strategy=data"});
  partita_session_options options = partita_session_options_default();
  options.devices = PARTITA_DEVICES_VIRTUAL;
  partita::Session session(plan, options);
  session.SetInput("x", x);
  session.SetInput("t", t);
  for (int step = 1; step <= 1000; ++step) {
    session.Run();
    if (step != 1 && step != 10 && step != 100 && step != 1000) continue;
    std::printf("step %4d: loss %.1f\n", step,
                session.Output<float>("loss")[0]);
  }
  return 0;
} catch (const partita::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
