// Runs one step of the plan of linear_training on virtual devices. It links no
// compiler.
// SPDX-License-Identifier: Apache-2.0
//
//   run_plan FILE.plan

#include <cstdio>
#include <partita/partita.hpp>
#include <vector>

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::fprintf(stderr, "usage: run_plan FILE.plan\n");
    return 2;
  }
  partita_session_options options = partita_session_options_default();
  options.devices = PARTITA_DEVICES_VIRTUAL;
  partita::Session session(partita::Plan::Load(argv[1]), options);
  session.SetInput("x", std::vector<float>(5 * 4, 1));
  session.SetInput("t", std::vector<float>(5 * 3, 25));
  session.Run();
  std::printf("loss %.1f\n", session.Output<float>("loss")[0]);
  return 0;
} catch (const partita::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
