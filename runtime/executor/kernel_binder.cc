// Asks libraries, in order of preference, to bind a node.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/kernel_binder.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "graph/device_kind_traits.h"
#include "graph/op_view.h"
#include "graph/placement.h"
#include "graph/status_macros.h"
#include "kernels/kernel.h"

namespace partita {
namespace {

class UnaliasedKernel : public Kernel {
 public:
  UnaliasedKernel(std::unique_ptr<Kernel> kernel, const OpView& node,
                  absl::Span<const InPlacePair> in_place)
      : kernel_(std::move(kernel)),
        in_place_(in_place.begin(), in_place.end()),
        copies_(node.num_operands()),
        operands_(node.num_operands()) {
    for (int i = 0; i < node.num_operands(); ++i) {
      types_.push_back(node.operand_type(i));
    }
  }

  absl::Status Launch(const LaunchArgs& args) override {
    operands_.assign(args.operands.begin(), args.operands.end());
    for (const InPlacePair& pair : in_place_) {
      if (operands_[pair.operand] == args.results[pair.result]) {
        CopyAway(pair.operand);
      }
    }
    LaunchArgs unaliased = args;
    unaliased.operands = operands_;
    return kernel_->Launch(unaliased);
  }

 private:
  // Allocates the copy at its first use: a plan uses few of the pairs that it
  // allows.
  void CopyAway(int operand) {
    std::optional<HostTensor>& copy = copies_[operand];
    if (!copy.has_value()) copy.emplace(types_[operand]);
    std::memcpy(copy->bytes(), operands_[operand], copy->byte_span().size());
    operands_[operand] = copy->bytes();
  }

  std::unique_ptr<Kernel> kernel_;
  const std::vector<InPlacePair> in_place_;
  std::vector<TensorType> types_;                  // by operand
  std::vector<std::optional<HostTensor>> copies_;  // by operand
  std::vector<void*> operands_;
};

// Returns a kernel that copies the operands whose bytes a result takes over
// according to `in_place`, and then launches `kernel` on the copies. The copies
// are in its own memory, outside every arena.
std::unique_ptr<Kernel> UnaliasOperands(
    std::unique_ptr<Kernel> kernel, const OpView& node,
    absl::Span<const InPlacePair> in_place) {
  if (in_place.empty()) return kernel;
  return std::make_unique<UnaliasedKernel>(std::move(kernel), node, in_place);
}

// The most scratch that an emulating kernel may ask for.
constexpr int64_t kMaxOutsideScratch = int64_t{1} << 38;

bool IsPreferred(const KernelLibrary& library, const KernelId& kernel) {
  return kernel.Is(library.name());
}

KernelLibraries InOrderOfPreference(const KernelLibraries& libraries,
                                    const KernelId& kernel) {
  KernelLibraries order = libraries;
  std::stable_partition(order.begin(), order.end(),
                        [&](const KernelLibrary* library) {
                          return IsPreferred(*library, kernel);
                        });
  return order;
}

bool Names(const KernelBinding& planned, const BoundKernel& bound) {
  const bool same_kernel = bound.id.Is(planned.kernel);
  if (!same_kernel || planned.arithmetics.empty()) return same_kernel;
  return absl::c_linear_search(planned.arithmetics, bound.arithmetic);
}

// The plan's in-place pairs that the kernel does not allow.
std::vector<InPlacePair> Ungranted(const KernelBinding& planned,
                                   const std::vector<InPlacePair>& granted) {
  std::vector<InPlacePair> ungranted;
  absl::c_copy_if(planned.in_place, std::back_inserter(ungranted),
                  [&](const InPlacePair& pair) {
                    return !absl::c_linear_search(granted, pair);
                  });
  return ungranted;
}

std::string PairsText(const std::vector<InPlacePair>& pairs) {
  const auto append = [](std::string* text, const InPlacePair& pair) {
    absl::StrAppend(text, pair.operand, " -> ", pair.result);
  };
  return absl::StrCat("[", absl::StrJoin(pairs, ", ", append), "]");
}

absl::Status NotInPlace(const BindRequest& request, const BoundKernel& bound) {
  return absl::FailedPreconditionError(absl::StrCat(
      request.node.ToString(),
      ": found in_place = ", PairsText(request.binding->in_place),
      " in the plan; expected some of ", PairsText(bound.in_place), ", which ",
      bound.id.ToString(), " allows; compile the plan again"));
}

// The answer of one library: the plan's own kernel if the library is the one
// that the plan names, else any kernel that computes the node.
class Candidate {
 public:
  Candidate(const BindRequest& request, const KernelLibrary& library)
      : library_(library), binding_(*request.binding), request_(request) {
    if (!IsPreferred(library, binding_.kernel)) {
      binding_.kernel = library.name();
    }
  }

  absl::StatusOr<BoundKernel> WithinBudget() {
    return Bind(*request_.device, request_.binding->workspace,
                /*emulates=*/false);
  }

  // Binds a host kernel, with as much scratch as it needs.
  absl::StatusOr<BoundKernel> AsEmulator() {
    DeviceTraits host = *request_.device;
    host.kind = DeviceKind::kCpu;
    host.isa.clear();
    absl::Status refusal;
    for (int64_t scratch = 0; scratch <= kMaxOutsideScratch;
         scratch = std::max(scratch * 4, int64_t{4096})) {
      auto answer = Bind(host, scratch, /*emulates=*/true);
      if (answer.ok()) {
        answer->outside_scratch = scratch;
        return answer;
      }
      refusal = answer.status();
      if (!absl::IsResourceExhausted(refusal)) break;
    }
    return refusal;
  }

 private:
  absl::StatusOr<BoundKernel> Bind(const DeviceTraits& device, int64_t budget,
                                   bool emulates) {
    KernelBinding binding = binding_;
    binding.workspace = budget;
    BindRequest request = request_;
    request.binding = &binding;
    request.device = &device;
    request.emulates = emulates;
    PARTITA_ASSIGN_OR_RETURN(BoundKernel answer, library_.Bind(request));
    const auto ungranted = Ungranted(*request_.binding, answer.in_place);
    if (ungranted.empty()) return answer;
    // The host cannot copy operands that it cannot access.
    const bool copies = RunsHostCode(*request_.device) || emulates;
    if (!copies || (!emulates && Names(*request_.binding, answer))) {
      return NotInPlace(request_, answer);
    }
    answer.kernel =
        UnaliasOperands(std::move(answer.kernel), request_.node, ungranted);
    return answer;
  }

  const KernelLibrary& library_;
  KernelBinding binding_;
  const BindRequest& request_;
};

absl::Status Refusal(const BindRequest& request, absl::StatusCode code,
                     const std::vector<std::string>& answers) {
  return absl::Status(
      code, absl::StrCat(
                request.node.ToString(), ": found no kernel for `",
                request.binding->kernel.ToString(), "` on ",
                request.device->name, "; asked: ",
                answers.empty() ? "no library" : absl::StrJoin(answers, "; ")));
}

}  // namespace

absl::StatusOr<BoundKernel> BindKernel(const BindRequest& request,
                                       const KernelLibraries& libraries,
                                       bool any_host_kernel) {
  // The workspace budget of a GPU kernel does not apply to a host kernel.
  const bool emulates_gpu = any_host_kernel && !RunsHostCode(*request.device);
  std::vector<std::string> answers;
  for (const KernelLibrary* library :
       InOrderOfPreference(libraries, request.binding->kernel)) {
    Candidate candidate(request, *library);
    absl::Status refusal;
    if (!emulates_gpu) {
      auto kernel = candidate.WithinBudget();
      if (kernel.ok() &&
          !(any_host_kernel && ReplacementOf(request, *kernel).has_value())) {
        return kernel;
      }
      refusal = kernel.status();
    }
    if (absl::IsFailedPrecondition(refusal)) return refusal;
    if (any_host_kernel) {
      auto emulator = candidate.AsEmulator();
      if (emulator.ok()) return emulator;
      refusal = emulator.status();
    }
    answers.push_back(
        absl::StrCat(library->name(), " (", refusal.message(), ")"));
    if (absl::IsResourceExhausted(refusal) &&
        IsPreferred(*library, request.binding->kernel)) {
      return Refusal(request, refusal.code(), answers);
    }
  }
  return Refusal(request, absl::StatusCode::kUnimplemented, answers);
}

std::optional<ReplacedKernel> ReplacementOf(const BindRequest& request,
                                            const BoundKernel& bound) {
  const KernelBinding& planned = *request.binding;
  if (!RunsHostCode(*request.device) || Names(planned, bound)) {
    return std::nullopt;
  }
  return ReplacedKernel{
      .planned = planned.kernel.ToString(),
      .planned_arithmetic = ArithmeticsText(planned.arithmetics),
      .bound = bound.id.ToString(),
      .bound_arithmetic = bound.arithmetic.ToString(),
      .commands = 1};
}

void AddReplacedKernels(absl::Span<const ReplacedKernel> more,
                        std::vector<ReplacedKernel>& all) {
  const auto pair_of = [](const ReplacedKernel& replaced) {
    return std::tie(replaced.planned, replaced.planned_arithmetic,
                    replaced.bound, replaced.bound_arithmetic);
  };
  for (const ReplacedKernel& replaced : more) {
    const auto known = absl::c_find_if(all, [&](const ReplacedKernel& other) {
      return pair_of(other) == pair_of(replaced);
    });
    if (known == all.end()) {
      all.push_back(replaced);
    } else {
      known->commands += replaced.commands;
    }
  }
}

}  // namespace partita
