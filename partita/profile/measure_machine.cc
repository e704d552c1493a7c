// Spends a time budget on links, then on kernels.
// SPDX-License-Identifier: Apache-2.0

#include "partita/profile/measure_machine.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/device_kind_traits.h"
#include "graph/host_capacity.h"
#include "graph/option_error.h"
#include "graph/status_macros.h"
#include "partita/backends/backend.h"
#include "partita/compile.h"
#include "partita/profile/kernel_timer.h"
#include "partita/profile/measure_collectives.h"
#include "partita/profile/measure_copies.h"
#include "partita/profile/measure_links.h"
#include "partita/profile/measure_wake.h"
#include "partita/profile/plan_kernels.h"
#include "partita/profile/this_host.h"
#include "placement/machine/link_table.h"

namespace partita {
namespace {

using Clock = std::chrono::steady_clock;

// A kernel to measure. `plan` owns what it refers to.
struct Candidate {
  std::shared_ptr<const Plan> plan;
  PlanKernel kernel;
  double seconds = 0;  // predicted, of all nodes that it computes in a step
};

// Unavailable, with the reason, if this host cannot run the device.
absl::Status CheckIsHere(const DeviceTraits& device) {
  const auto differs = [&](absl::string_view found,
                           absl::string_view expected) {
    return absl::UnavailableError(
        absl::StrCat(device.name, ": found ", found, "; expected ", expected));
  };
  if (!absl::c_linear_search(RunnableKinds(), device.kind)) {
    return differs(absl::StrCat("kind ", DeviceKindName(device.kind)),
                   "one that this build runs");
  }
  if (TraitsOf(device.kind).shares_host) {
    const HostCapacity host = ThisHost();
    if (!device.isa.empty() && !absl::c_linear_search(host.isas, device.isa)) {
      return differs(
          absl::StrCat("the instruction set ", device.isa),
          absl::StrCat("one of this host's: ", absl::StrJoin(host.isas, ", ")));
    }
    if (device.threads > host.threads) {
      return differs(absl::StrCat(device.threads, " threads"),
                     absl::StrCat("at most the ", host.threads,
                                  " that this process may use"));
    }
  }
  return BackendOf(device.kind).new_device(device, /*split=*/{}).status();
}

class Measurer {
 public:
  Measurer(const Machine& machine, const Profile& known,
           const MeasureOptions& options)
      : machine_(machine), options_(options), begin_(Clock::now()) {
    for (const MeasuredNode& node : known.nodes) {
      known_.insert(node.signature);
    }
    for (const MeasuredLink& link : known.links) {
      known_links_.insert(link.ends());
    }
    result_.profile.host = ThisProfileHost();
  }

  absl::StatusOr<MachineMeasurements> Run(absl::Span<const Module> models) {
    PARTITA_RETURN_IF_ERROR(FindDevices());
    MeasureHost();
    MeasureLinks();
    for (const Module& model : models) {
      if (!AddKernelsOf(model)) ++result_.models_left;
    }
    MeasureKernels();
    SortMeasurements();
    return std::move(result_);
  }

 private:
  bool IsOver(double share) const {
    const std::chrono::duration<double> spent = Clock::now() - begin_;
    return spent.count() >= share * options_.seconds;
  }

  void ShowProgress(absl::string_view what) const {
    if (options_.progress) options_.progress(what);
  }

  void Skip(absl::string_view reason) {
    if (absl::c_linear_search(result_.skipped, reason)) return;
    result_.skipped.emplace_back(reason);
  }

  // One device of each class that this host has.
  absl::Status FindDevices() {
    std::vector<DeviceTraits> all;
    for (const MachineDevice& device : machine_.devices) {
      all.push_back(device.traits);
    }
    std::string reasons;
    for (const DeviceClass& equal : ClassesOf(all)) {
      const DeviceTraits& device = *equal.front();
      const absl::Status here = CheckIsHere(device);
      if (!here.ok()) {
        absl::StrAppend(&reasons, "\n  ", here.message());
        Skip(here.message());
        for (const DeviceTraits* lacking : equal) {
          lacking_.insert(lacking->name);
        }
        continue;
      }
      DeviceTraits unnamed = device;
      unnamed.name.clear();
      result_.profile.devices.push_back(std::move(unnamed));
      devices_.push_back(device);
      if (equal.size() > 1) has_equal_devices_ = true;
    }
    if (!devices_.empty()) return absl::OkStatus();
    return absl::FailedPreconditionError(
        absl::StrCat("machine ", machine_.name,
                     ": found no device that this host has", reasons,
                     "\nexpected at least one; `partita devices` writes the "
                     "machine file of this host"));
  }

  void MeasureHost() {
    if (machine_.host.cores == 0) return;
    ShowProgress("wake-up of a thread");
    result_.profile.wake_seconds = MeasureWakeSeconds();
    ShowProgress("copies in memory");
    const absl::Status copies = MeasureLocalCopies();
    if (!copies.ok()) Skip(copies.message());
    result_.profile.cache_bytes = LargestCacheBytes();
  }

  absl::Status MeasureLocalCopies() {
    const auto cpu = absl::c_find_if(devices_, [](const DeviceTraits& device) {
      return TraitsOf(device.kind).shares_host;
    });
    if (cpu == devices_.end()) return absl::OkStatus();
    PARTITA_ASSIGN_OR_RETURN(
        const std::unique_ptr<Device> device,
        BackendOf(cpu->kind).new_device(*cpu, /*split=*/{}));
    PARTITA_ASSIGN_OR_RETURN(
        const MeasuredLink copies,
        MeasureCopies(*device, *device, {.from = cpu->name, .to = cpu->name}));
    result_.profile.copies = {.bandwidth = copies.bandwidth,
                              .latency = copies.latency};
    return absl::OkStatus();
  }

  // Between devices that are here; those that are not known first.
  std::vector<const Link*> LinksInOrder() {
    std::vector<const Link*> links;
    for (const Link& link : machine_.links) {
      if (lacking_.contains(link.from) || lacking_.contains(link.to)) {
        // FindDevices has said why.
        Skip("links of devices that are not here");
        continue;
      }
      links.push_back(&link);
    }
    std::stable_partition(links.begin(), links.end(), [&](const Link* link) {
      return !known_links_.contains(LinkTable::InOrder(link->from, link->to));
    });
    return links;
  }

  void MeasureLinks() {
    const std::vector<const Link*> links = LinksInOrder();
    for (size_t i = 0; i < links.size(); ++i) {
      const Link& link = *links[i];
      if (IsOver(0.25)) {
        result_.links_left = static_cast<int>(links.size() - i);
        return;
      }
      ShowProgress(absl::StrCat("link ", link.from, " - ", link.to));
      const absl::StatusOr<MeasuredLink> measured = MeasureLink(machine_, link);
      if (!measured.ok()) {
        SkipOnLink(link, measured.status());
        continue;
      }
      MeasuredLink& stored = result_.profile.links.emplace_back(*measured);
      if (JoinsHostDevices(machine_, link)) {
        MeasureCollectives(link, stored.collectives);
      }
    }
  }

  void MeasureCollectives(const Link& link, LinkCollectives& collectives) {
    ShowProgress(absl::StrCat("collectives of ", link.from, " and ", link.to));
    collectives.gather = OrSkip(link, MeasureGather(machine_, link));
    collectives.reduce = OrSkip(link, MeasureReduce(machine_, link));
  }

  std::optional<CollectiveFigures> OrSkip(
      const Link& link, const absl::StatusOr<CollectiveFigures>& measured) {
    if (measured.ok()) return *measured;
    SkipOnLink(link, measured.status());
    return std::nullopt;
  }

  void SkipOnLink(const Link& link, const absl::Status& fault) {
    Skip(absl::StrCat("link from ", link.from, " to ", link.to, ": ",
                      fault.message()));
  }

  // False if the time was over before one of its plans.
  bool AddKernelsOf(const Module& model) {
    for (const DeviceTraits& device : devices_) {
      if (IsOver(1)) return false;
      CompileOptions options;
      options.strategy = "single";
      options.planner.device = device.name;
      AddKernelsOf(model, options);
    }
    if (!has_equal_devices_) return true;
    if (IsOver(1)) return false;
    CompileOptions options;
    options.strategy = "data";
    AddKernelsOf(model, options);
    return true;
  }

  void AddKernelsOf(const Module& model, const CompileOptions& options) {
    const std::string name = model.main().name();
    ShowProgress(absl::StrCat("compile ", name, " by ", options.strategy));
    absl::StatusOr<Compiled> compiled =
        Compile(model.Clone(), machine_, options);
    if (!compiled.ok()) {
      Skip(absl::StrCat(name, " by ", options.strategy, ": ",
                        compiled.status().message()));
      return;
    }
    const auto plan = std::make_shared<const Plan>(std::move(compiled->plan));
    for (const Entry& entry : plan->entries) {
      absl::StatusOr<PlanKernels> kernels = PlanKernels::Of(*plan, entry);
      if (!kernels.ok()) {
        Skip(absl::StrCat(name, ": ", kernels.status().message()));
        continue;
      }
      for (PlanKernel& kernel : std::move(*kernels).Take()) {
        AddCandidate(plan, std::move(kernel));
      }
    }
  }

  void AddCandidate(const std::shared_ptr<const Plan>& plan,
                    PlanKernel kernel) {
    const double seconds = kernel.node.roofline;
    const auto [place, is_new] =
        by_signature_.emplace(kernel.node.signature, candidates_.size());
    if (is_new) candidates_.push_back({plan, std::move(kernel), 0});
    candidates_[place->second].seconds += seconds;
  }

  void MeasureKernels() {
    absl::c_stable_sort(
        candidates_, [&](const Candidate& a, const Candidate& b) {
          const bool a_is_known = known_.contains(a.kernel.node.signature);
          const bool b_is_known = known_.contains(b.kernel.node.signature);
          if (a_is_known != b_is_known) return b_is_known;
          return a.seconds > b.seconds;
        });
    for (size_t i = 0; i < candidates_.size(); ++i) {
      if (IsOver(1)) {
        result_.kernels_left = static_cast<int>(candidates_.size() - i);
        return;
      }
      ShowProgress(absl::StrCat("kernel ", i + 1, " of ", candidates_.size()));
      MeasureKernel(candidates_[i].kernel);
    }
  }

  void MeasureKernel(const PlanKernel& kernel) {
    const absl::StatusOr<KernelTimer*> timer = TimerOn(kernel.device);
    if (!timer.ok()) return Skip(timer.status().message());
    const absl::StatusOr<KernelSeconds> seconds = (*timer)->Time(kernel);
    if (!seconds.ok()) return Skip(seconds.status().message());
    MeasuredNode& node = result_.profile.nodes.emplace_back(kernel.node);
    node.warm = seconds->warm;
    node.cold = seconds->cold;
  }

  // Devices of one class share a timer. One at a time is attached to this
  // thread.
  absl::StatusOr<KernelTimer*> TimerOn(const DeviceTraits& device) {
    if (timer_ != nullptr && SameButName(timed_, device)) return timer_.get();
    timer_.reset();
    PARTITA_ASSIGN_OR_RETURN(timer_, KernelTimer::On(device));
    timed_ = device;
    return timer_.get();
  }

  void SortMeasurements() {
    Profile sorted = {.host = result_.profile.host};
    MergeProfile(result_.profile, sorted);
    result_.profile = std::move(sorted);
  }

  const Machine& machine_;
  const MeasureOptions& options_;
  const Clock::time_point begin_;
  absl::flat_hash_set<absl::string_view> known_;      // signatures
  absl::flat_hash_set<LinkTable::Ends> known_links_;  // by their ends
  std::vector<DeviceTraits> devices_;                 // here, one of each class
  absl::flat_hash_set<std::string> lacking_;          // names of the others
  bool has_equal_devices_ = false;
  std::vector<Candidate> candidates_;
  std::map<std::string, size_t> by_signature_;  // index into candidates_
  std::unique_ptr<KernelTimer> timer_;
  DeviceTraits timed_;  // of timer_
  MachineMeasurements result_;
};

}  // namespace

absl::StatusOr<MachineMeasurements> MeasureMachine(
    const Machine& machine, absl::Span<const Module> models,
    const Profile& known, const MeasureOptions& options) {
  if (!(options.seconds > 0)) {
    return OfOption("time-budget", absl::InvalidArgumentError(absl::StrCat(
                                       "time-budget: found ", options.seconds,
                                       " seconds; expected more than 0")));
  }
  return Measurer(machine, known, options).Run(models);
}

}  // namespace partita
