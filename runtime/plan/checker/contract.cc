// Contract: compares the plan's target with the present host.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/contract.h"

#include <limits>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/device_kind_traits.h"
#include "graph/kernel_id.h"
#include "graph/op_view.h"
#include "runtime/plan/plan_layout.h"

namespace partita {
namespace {

// Returns the largest int64 if the sum overflows.
int64_t CappedSum(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return std::numeric_limits<int64_t>::max();
}

class Comparison {
 public:
  Comparison(const Plan& plan, const HostCapacity& host,
             absl::Span<const DeviceKind> runnable)
      : plan_(plan), host_(host), runnable_(runnable) {}

  absl::Status Run() {
    for (const PlanDevice& device : plan_.devices) {
      const DeviceKind kind = device.traits.kind;
      if (!absl::c_linear_search(runnable_, kind)) {
        Differ(
            absl::StatusCode::kUnavailable, device.traits.name,
            absl::StrCat("kind ", DeviceKindName(kind)),
            absl::StrCat(RunnableNames(), ", as this build drives no other"));
      } else if (TraitsOf(kind).shares_host) {
        AddHostDevice(device);
      } else {
        RefuseCostOnlyKernels(device.traits.name);
      }
    }
    CompareSums();
    return Verdict();
  }

 private:
  std::string RunnableNames() const {
    return absl::StrJoin(runnable_, " or ",
                         [](std::string* out, DeviceKind kind) {
                           absl::StrAppend(out, DeviceKindName(kind));
                         });
  }

  void AddHostDevice(const PlanDevice& device) {
    const DeviceTraits& traits = device.traits;
    host_devices_.push_back(traits.name);
    threads_ += traits.threads;
    memory_ = CappedSum(memory_, ArenaBytes(device, PlanDepth(plan_)));
    if (traits.isa.empty() || absl::c_linear_search(host_.isas, traits.isa)) {
      return;
    }
    Differ(absl::StatusCode::kFailedPrecondition, traits.name,
           absl::StrCat("a plan for the instruction set ", traits.isa),
           host_.isas.empty() ? "any, as this processor's are not known"
                              : absl::StrCat("one that this processor has: ",
                                             absl::StrJoin(host_.isas, ", ")));
  }

  void RefuseCostOnlyKernels(const std::string& device) {
    int count = 0;
    std::string first;
    for (const auto& function : plan_.module.functions()) {
      for (const OpView& op : function->ops()) {
        const Node& node = op.node();
        if (!node.kernel.has_value() ||
            !node.kernel->kernel.Is(kCostOnlyLibrary) ||
            !absl::c_linear_search(node.placement.devices, device)) {
          continue;
        }
        if (count++ == 0) first = op.ToString();
      }
    }
    if (count == 0) return;
    Differ(absl::StatusCode::kFailedPrecondition, device,
           absl::StrCat(count,
                        " kernels that have costs and no code, the "
                        "first one for ",
                        first),
           "kernels that are generated for its instruction set; give it an "
           "isa from sm_80 on in the machine file and compile again");
  }

  void CompareSums() {
    const std::string names = absl::StrJoin(host_devices_, " and ");
    if (threads_ > host_.threads) {
      Differ(absl::StatusCode::kFailedPrecondition, names,
             absl::StrCat("a plan for ", threads_, " threads"),
             absl::StrCat("at most the ", host_.threads,
                          " that this process may use"));
    }
    if (memory_ > host_.memory) {
      Differ(absl::StatusCode::kResourceExhausted, names,
             absl::StrCat("arenas of ", memory_, " bytes"),
             absl::StrCat("at most the ", host_.memory,
                          " bytes that this process may use"));
    }
  }

  void Differ(absl::StatusCode code, absl::string_view where,
              absl::string_view found, absl::string_view expected) {
    codes_.push_back(code);
    absl::StrAppend(&differences_, "\n  ", where, ": found ", found,
                    "; expected ", expected);
  }

  absl::Status Verdict() const {
    using Code = absl::StatusCode;
    if (codes_.empty()) return absl::OkStatus();
    const std::string text = absl::StrCat(
        "plan @", plan_.name,
        " is for another machine than this host; let this host emulate its "
        "devices (--virtual), or compile the model for this host",
        differences_);
    for (const Code code : {Code::kUnavailable, Code::kResourceExhausted}) {
      if (absl::c_linear_search(codes_, code)) return absl::Status(code, text);
    }
    return absl::FailedPreconditionError(text);
  }

  const Plan& plan_;
  const HostCapacity& host_;
  const absl::Span<const DeviceKind> runnable_;
  std::vector<std::string> host_devices_;
  int64_t threads_ = 0;
  int64_t memory_ = 0;  // of the arenas of CPU devices
  std::vector<absl::StatusCode> codes_;
  std::string differences_;
};

}  // namespace

absl::Status CheckContract(const Plan& plan, const HostCapacity& host,
                           absl::Span<const DeviceKind> runnable) {
  return Comparison(plan, host, runnable).Run();
}

}  // namespace partita
