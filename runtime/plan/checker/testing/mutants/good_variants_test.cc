// Changes that leave a plan correct: the checker must accept the changed plan.
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "runtime/plan/checker/check_plan.h"
#include "runtime/plan/checker/testing/mutants/base_plans.h"
#include "runtime/plan/checker/testing/mutants/command_list.h"
#include "runtime/plan/checker/testing/mutants/mutate.h"
#include "runtime/plan/checker/testing/oracle/oracle.h"
#include "runtime/plan/plan_text.h"

namespace partita {
namespace {

using Kind = Command::Kind;

// Applies `change` to each base plan; returns the number of changed plans.
int AcceptedVariants(bool (*change)(Plan& plan, Random& random), int seed = 3) {
  Random random(seed);
  int variants = 0;
  for (const ShortPlan& base : BasePlans()) {
    Plan plan = PlanOf(base);
    if (!change(plan, random)) continue;
    ++variants;
    const std::vector<Finding> findings = FindFaults(plan);
    EXPECT_TRUE(findings.empty()) << base.name << "\n"
                                  << findings[0].message << "\n"
                                  << PrintPlan(plan);
    EXPECT_EQ(Judge(plan, 0, {.max_states = 3000, .random_runs = 20}).harm, "");
  }
  return variants;
}

TEST(GoodVariants, AWaitTwice) {
  EXPECT_GE(AcceptedVariants([](Plan& plan, Random& random) {
              Entry& entry = plan.entries[0];
              const auto place =
                  Draw(PlacesOf(entry,
                                [](const Command& command) {
                                  return command.kind == Kind::kWait;
                                }),
                       random);
              if (!place.has_value()) return false;
              std::vector<Command>& commands =
                  entry.programs[place->program.index].commands;
              const Command again = commands[place->index];
              commands.insert(commands.begin() + place->index, again);
              return true;
            }),
            10);
}

TEST(GoodVariants, BuffersInAnotherOrder) {
  EXPECT_EQ(AcceptedVariants([](Plan& plan, Random& random) {
              Entry& entry = plan.entries[0];
              std::vector<int32_t> place(entry.buffers.size());
              std::iota(place.begin(), place.end(), 0);
              std::shuffle(place.begin(), place.end(), random);
              const std::vector<Buffer> before = entry.buffers;
              for (size_t i = 0; i < place.size(); ++i) {
                entry.buffers[place[i]] = before[i];
              }
              const auto rename = [&](BufferId& id) {
                if (id.valid() && id.index < kFirstSlot) {
                  id = BufferId(place[id.index]);
                }
              };
              for (Program& program : entry.programs) {
                for (Command& command : program.commands) {
                  for (BufferId& id : command.operands) rename(id);
                  for (BufferId& id : command.results) rename(id);
                  rename(command.workspace);
                }
              }
              for (Invocation& invocation : entry.schedule) {
                for (BufferId& id : invocation.buffers) rename(id);
              }
              for (Channel& channel : entry.channels) {
                for (BufferId& id : channel.slots) rename(id);
              }
              for (PersistentValue& value : entry.persistent) {
                rename(value.buffer);
              }
              return true;
            }),
            static_cast<int>(BasePlans().size()));
}

TEST(GoodVariants, EventsByOtherNumbers) {
  EXPECT_GE(AcceptedVariants([](Plan& plan, Random&) {
              Entry& entry = plan.entries[0];
              if (entry.num_events == 0) return false;
              const auto rename = [](EventId& id) {
                if (id.valid() && id.index < kFirstSlot) {
                  id = EventId(id.index + 3);
                }
              };
              entry.num_events += 3;
              for (Program& program : entry.programs) {
                for (Command& command : program.commands) rename(command.event);
              }
              for (Invocation& invocation : entry.schedule) {
                for (EventId& id : invocation.events) rename(id);
              }
              return true;
            }),
            10);
}

TEST(GoodVariants, StepLocalBytesFurtherUp) {
  EXPECT_EQ(AcceptedVariants([](Plan& plan, Random&) {
              for (Buffer& buffer : plan.entries[0].buffers) {
                if (!buffer.persistent) {
                  buffer.range.offset += kWorkspaceAlignment;
                }
              }
              for (PlanDevice& device : plan.devices) {
                device.step_bytes += kWorkspaceAlignment;
                device.memory += kWorkspaceAlignment * plan.entries[0].depth;
              }
              return true;
            }),
            static_cast<int>(BasePlans().size()));
}

// Two ranges are equal if their bytes are, however they are written.
TEST(GoodVariants, RangesSpelledOtherwise) {
  const auto respell = [](Plan& plan, Random& random) {
    Entry& entry = plan.entries[0];
    for (Buffer& buffer : entry.buffers) {
      Range& range = buffer.range;
      if (range.empty() || range.count > 1) continue;
      const int64_t bytes = range.block;
      switch (random() % 3) {
        case 0:
          range = {range.offset, bytes, 1, bytes + 5};
          break;
        case 1:
          range = {range.offset, 1, bytes, 1};
          break;
        default:
          break;
      }
    }
    return true;
  };
  for (int i = 1; i <= 5; ++i) {
    EXPECT_EQ(AcceptedVariants(respell, i),
              static_cast<int>(BasePlans().size()));
  }
}

TEST(GoodVariants, AChannelWithMoreRoom) {
  EXPECT_EQ(AcceptedVariants([](Plan& plan, Random&) {
              Entry& entry = plan.entries[0];
              if (entry.channels.empty()) return false;
              for (Channel& channel : entry.channels) {
                const DeviceId device =
                    entry.streams[channel.receiver.index].device;
                PlanDevice& home = plan.devices[device.index];
                channel.slots.push_back(
                    BufferId(static_cast<int32_t>(entry.buffers.size())));
                ++channel.capacity;
                entry.buffers.push_back(
                    {"more", device, {home.step_bytes, 4}, false});
                home.step_bytes += 4;
                home.memory += 4 * entry.depth;
              }
              return true;
            }),
            4);
}

// Neighbours on different streams may be launched in either order, unless they
// communicate or a wait orders them.
TEST(GoodVariants, IndependentNeighboursSwapped) {
  EXPECT_GE(AcceptedVariants([](Plan& plan, Random&) {
              for (Program& program : plan.entries[0].programs) {
                for (size_t i = 0; i + 1 < program.commands.size(); ++i) {
                  Command& a = program.commands[i];
                  Command& b = program.commands[i + 1];
                  const auto plain = [](const Command& command) {
                    return command.kind == Kind::kKernel ||
                           command.kind == Kind::kFeed ||
                           command.kind == Kind::kFetch;
                  };
                  if (a.stream == b.stream || !plain(a) || !plain(b)) continue;
                  std::swap(a, b);
                  return true;
                }
              }
              return false;
            }),
            3);
}

}  // namespace
}  // namespace partita
