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
  Devices(const IdVector<PipelineUnitId, PipelineUnit>& units,
          int micro_batches, PipelineSchedule schedule)
      : units_(units),
        micro_batches_(micro_batches),
        schedule_(schedule),
        begun_(units.size(), 0),
        ended_(units.size(), 0) {
    for (PipelineUnitId unit : units.ids()) {
      devices_[units[unit].device].units.push_back(unit);
    }
    for (auto& [id, device] : devices_) {
      std::sort(device.units.begin(), device.units.end(),
                [&](PipelineUnitId a, PipelineUnitId b) {
                  return Place(a) < Place(b);
                });
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
      for (auto& [id, device] : devices_) begun |= BeginOn(device);
      if (begun) continue;
      const bool busy = std::any_of(
          devices_.begin(), devices_.end(),
          [](const auto& entry) { return entry.second.running.valid(); });
      // The remaining units wait for each other: start any of them.
      if (!busy) BeginAny();
      ++now_;
    }
    return std::move(order_);
  }

 private:
  struct Device {
    std::vector<PipelineUnitId> units;  // in the order of Place()
    int most_under_way = 1;
    PipelineUnitId running;  // invalid: none
    int until = 0;
  };

  std::tuple<int, bool> Place(PipelineUnitId unit) const {
    return {units_[unit].level, units_[unit].backward};
  }

  void EndUnits() {
    for (auto& [id, device] : devices_) {
      if (!device.running.valid() || device.until > now_) continue;
      ++ended_[device.running];
      device.running = {};
    }
  }

  bool BeginOn(Device& device) {
    if (device.running.valid()) return false;
    std::vector<PipelineUnitId> choice = device.units;
    // The unit that is furthest along goes first: it frees activations, and
    // later stages wait for it.
    if (schedule_ == PipelineSchedule::kOneForwardOneBackward) {
      std::reverse(choice.begin(), choice.end());
    }
    for (PipelineUnitId unit : choice) {
      if (!IsReady(unit) || !MayBegin(device, unit)) continue;
      Begin(device, unit);
      return true;
    }
    return false;
  }

  // Micro-batches go through a unit in order, so counts are enough.
  bool IsReady(PipelineUnitId unit) const {
    if (begun_[unit] == micro_batches_) return false;
    return std::all_of(
        units_[unit].after.begin(), units_[unit].after.end(),
        [&](PipelineUnitId before) { return ended_[before] > begun_[unit]; });
  }

  bool MayBegin(const Device& device, PipelineUnitId unit) const {
    if (schedule_ == PipelineSchedule::kGPipe) {
      return !units_[unit].backward ||
             std::all_of(device.units.begin(), device.units.end(),
                         [&](PipelineUnitId other) {
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

  void Begin(Device& device, PipelineUnitId unit) {
    order_.push_back({unit, MicroBatchId(begun_[unit]++)});
    device.running = unit;
    device.until =
        now_ + (units_[unit].backward ? kBackwardTime : kForwardTime);
  }

  void BeginAny() {
    for (auto& [id, device] : devices_) {
      for (PipelineUnitId unit : device.units) {
        if (begun_[unit] == micro_batches_) continue;
        return Begin(device, unit);
      }
    }
  }

  const IdVector<PipelineUnitId, PipelineUnit>& units_;
  const int micro_batches_;
  const PipelineSchedule schedule_;
  std::map<MachineDeviceId, Device> devices_;
  IdVector<PipelineUnitId, int> begun_;  // micro-batches
  IdVector<PipelineUnitId, int> ended_;
  int now_ = 0;
  std::vector<UnitRun> order_;
};

}  // namespace

std::vector<UnitRun> OrderUnits(
    const IdVector<PipelineUnitId, PipelineUnit>& units, int micro_batches,
    PipelineSchedule schedule) {
  return Devices(units, micro_batches, schedule).Run();
}

}  // namespace partita
