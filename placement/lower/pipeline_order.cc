// Simulates units on devices in whole time steps.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/pipeline_order.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace partita {
namespace {

// A backward pass computes two gradients, by operands and by weights, where the
// forward pass has one product. Only the ratio matters.
constexpr int kForwardTime = 1;
constexpr int kBackwardTime = 2;

class Devices {
 public:
  Devices(const std::vector<PipelineUnit>& units, int micro_batches,
          PipelineSchedule schedule)
      : units_(units),
        micro_batches_(micro_batches),
        schedule_(schedule),
        begun_(units.size(), 0),
        ended_(units.size(), 0) {
    for (size_t u = 0; u < units.size(); ++u) {
      Device& device = devices_[units[u].device];
      device.units.push_back(static_cast<int>(u));
    }
    for (auto& [name, device] : devices_) {
      std::sort(device.units.begin(), device.units.end(),
                [&](int a, int b) { return Place(a) < Place(b); });
      // Between the first and the last unit of a device a micro-batch goes to
      // the end of the pipeline and back: twice as many transfers as there are
      // stages after this one. So this allows one micro-batch for each stage
      // from here to the end, as 1F1B does. More would not shorten the step,
      // only keep more activations.
      const int transfers =
          units[device.units.back()].level - units[device.units.front()].level;
      device.most_under_way = transfers / 2 + 1;
    }
  }

  std::vector<UnitRun> Run() {
    const size_t all = units_.size() * micro_batches_;
    while (order_.size() < all) {
      EndUnits();
      bool begun = false;
      for (auto& [name, device] : devices_) begun |= BeginOn(device);
      if (begun) continue;
      const bool busy = std::any_of(
          devices_.begin(), devices_.end(),
          [](const auto& entry) { return entry.second.running >= 0; });
      // The remaining units wait for each other: start any of them.
      if (!busy) BeginAny();
      ++now_;
    }
    return std::move(order_);
  }

 private:
  struct Device {
    std::vector<int> units;  // in the order of Place()
    int most_under_way = 1;
    int running = -1;  // unit
    int until = 0;
  };

  std::tuple<int, bool> Place(int unit) const {
    return {units_[unit].level, units_[unit].backward};
  }

  void EndUnits() {
    for (auto& [name, device] : devices_) {
      if (device.running < 0 || device.until > now_) continue;
      ++ended_[device.running];
      device.running = -1;
    }
  }

  bool BeginOn(Device& device) {
    if (device.running >= 0) return false;
    std::vector<int> choice = device.units;
    // The unit that is furthest along goes first: it frees activations, and
    // later stages wait for it.
    if (schedule_ == PipelineSchedule::kOneForwardOneBackward) {
      std::reverse(choice.begin(), choice.end());
    }
    for (int unit : choice) {
      if (!IsReady(unit) || !MayBegin(device, unit)) continue;
      Begin(device, unit);
      return true;
    }
    return false;
  }

  // Micro-batches go through a unit in order, so counts are enough.
  bool IsReady(int unit) const {
    if (begun_[unit] == micro_batches_) return false;
    return std::all_of(
        units_[unit].after.begin(), units_[unit].after.end(),
        [&](int before) { return ended_[before] > begun_[unit]; });
  }

  bool MayBegin(const Device& device, int unit) const {
    if (schedule_ == PipelineSchedule::kGPipe) {
      return !units_[unit].backward ||
             std::all_of(device.units.begin(), device.units.end(),
                         [&](int other) {
                           return units_[other].backward ||
                                  ended_[other] == micro_batches_;
                         });
    }
    if (unit != device.units.front()) return true;
    // Only the entry of a device is limited. A micro-batch inside may always go
    // on, so that the limit cannot stop the pipeline.
    const int under_way = begun_[unit] - ended_[device.units.back()];
    return unit == device.units.back() || under_way < device.most_under_way;
  }

  void Begin(Device& device, int unit) {
    order_.push_back({unit, begun_[unit]++});
    device.running = unit;
    device.until =
        now_ + (units_[unit].backward ? kBackwardTime : kForwardTime);
  }

  void BeginAny() {
    for (auto& [name, device] : devices_) {
      for (int unit : device.units) {
        if (begun_[unit] == micro_batches_) continue;
        return Begin(device, unit);
      }
    }
  }

  const std::vector<PipelineUnit>& units_;
  const int micro_batches_;
  const PipelineSchedule schedule_;
  std::map<int, Device> devices_;
  std::vector<int> begun_;  // by unit: micro-batches
  std::vector<int> ended_;
  int now_ = 0;
  std::vector<UnitRun> order_;
};

}  // namespace

std::vector<UnitRun> OrderUnits(const std::vector<PipelineUnit>& units,
                                int micro_batches, PipelineSchedule schedule) {
  return Devices(units, micro_batches, schedule).Run();
}

}  // namespace partita
