// A child prints each action as a line. When it dies, the last line names the
// fault, and another child continues after that node.
// SPDX-License-Identifier: Apache-2.0

#include "tests/kernels/guarded_sweep.h"

#include <cstdlib>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "graph/text/printer.h"
#include "kernels/catalog/host_kernels.h"
#include "kernels/cpu/onednn_faults.h"
#include "kernels/cpu/onednn_isa.h"
#include "kernels/testing/run_in_child.h"
#include "partita/backends/built_in_catalog.h"
#include "tests/kernels/swept_catalog.h"

namespace partita {
namespace {

SweepSource BuiltInKernels() {
  static const SweptCatalog& swept = *new SweptCatalog(BuiltInCatalog());
  return {&swept, HostLibraries()};
}

// In one line.
std::string TextOf(const DrawnNode& drawn) {
  return absl::StrReplaceAll(PrintGraph(drawn.one.node().graph()),
                             {{"\n", " / "}});
}

// In a child: nodes one by one.
class Child {
 public:
  Child(const NodeKind& kind, const SweepOptions& options,
        const SendToParent& send)
      : kind_(kind),
        options_(options),
        send_(send),
        kernels_(options.kernels ? options.kernels() : BuiltInKernels()) {}

  void Run(int first) {
    Print("isa", IsaOfOnednn());
    if (IsaOfOnednn() != options_.isa) return;
    for (int i = first; i < options_.first + options_.nodes; ++i) {
      Dice dice(options_.seed, static_cast<uint64_t>(i));
      const DrawnNode drawn = kind_.draw(dice);
      Print("node", absl::StrCat(i, " ", TextOf(drawn)));
      if (!options_.with_known_faults) PrintExcluded(drawn.one.node());
      Check(drawn);
    }
  }

 private:
  void Print(absl::string_view what, absl::string_view text) {
    send_(absl::StrCat(what, " ", text, "\n"));
  }
  DeviceTraits Device(int threads) const {
    DeviceTraits device = TestCpu(threads);
    device.isa = std::string(IsaOfOnednn());
    return device;
  }
  void PrintExcluded(const OpView& node) {
    for (const std::string& name : ExcludedOf(node, Device(/*threads=*/1))) {
      Print("excluded", name);
    }
  }
  void Check(const DrawnNode& drawn) {
    KernelCheckOptions options;
    options.threads = options_.threads;
    options.low = drawn.low;
    options.tolerance = drawn.tolerance;
    options.isa = std::string(IsaOfOnednn());
    for (const auto& tensor : drawn.given) {
      options.operands.push_back(tensor.get());
    }
    options.before = [&](const KernelChoice& choice, int threads) {
      Print("kernel", absl::StrCat(threads, " ", ImplementationOf(choice)));
    };
    for (const KernelLibrary* library : kernels_.libraries) {
      const CheckReport report =
          CheckKernels(drawn.one.node(), *kernels_.catalog, *library, options);
      if (!report.status.ok()) {
        Print("fault",
              absl::StrReplaceAll(report.status.ToString(), {{"\n", " / "}}));
        return;
      }
    }
  }

  const NodeKind& kind_;
  const SweepOptions& options_;
  const SendToParent& send_;
  const SweepSource kernels_;
};

// In the parent: the reports of the children.
class Listener {
 public:
  Listener(const NodeKind& kind, const SweepOptions& options)
      : kind_(kind), seed_(options.seed), next_node_(options.first) {}

  void Hear(const ChildOutcome& outcome) {
    for (absl::string_view line : absl::StrSplit(outcome.texts, '\n')) {
      const std::pair<absl::string_view, absl::string_view> words =
          absl::StrSplit(line, absl::MaxSplits(' ', 1));
      HearLine(words.first, words.second);
    }
    if (!outcome.death.empty()) Fail(outcome.death);
  }
  int next_node() const { return next_node_; }
  const Sweep& sweep() const { return sweep_; }

 private:
  void HearLine(absl::string_view what, absl::string_view text) {
    if (what == "isa") sweep_.isa = std::string(text);
    if (what == "excluded") ++sweep_.excluded[std::string(text)];
    if (what == "fault") Fail(std::string(text));
    if (what == "node") {
      const std::pair<absl::string_view, absl::string_view> words =
          absl::StrSplit(text, absl::MaxSplits(' ', 1));
      if (!absl::SimpleAtoi(words.first, &next_node_)) std::abort();
      ++next_node_;
      ++sweep_.nodes;
      node_ = std::string(words.second);
      kernel_ = "no kernel";
    }
    if (what == "kernel") {
      const std::pair<absl::string_view, absl::string_view> words =
          absl::StrSplit(text, absl::MaxSplits(' ', 1));
      kernel_ = absl::StrCat(words.first, " threads, ", words.second);
      ++sweep_.launched[std::string(words.second)];
    }
  }
  void Fail(const std::string& what) {
    sweep_.failures.push_back(absl::StrCat(kind_.name, " ", next_node_ - 1,
                                           " (seed ", seed_, "), ", kernel_,
                                           ": ", what, "\n  ", node_));
  }

  const NodeKind& kind_;
  const uint64_t seed_;
  int next_node_;
  Sweep sweep_;
  std::string node_, kernel_;
};

// For a process that has not used oneDNN yet.
void Cap(const std::string& isa) {
  unsetenv("DNNL_MAX_CPU_ISA");
  setenv("ONEDNN_MAX_CPU_ISA", isa.c_str(), 1);
  // Waiting threads leave the cores to others.
  setenv("OMP_WAIT_POLICY", "passive", 1);
}

int SumOf(const std::map<std::string, int>& counts) {
  int sum = 0;
  for (const auto& [name, count] : counts) sum += count;
  return sum;
}

std::string NamesOf(const std::map<std::string, int>& counts) {
  return absl::StrJoin(counts, ", ", [](std::string* out, const auto& one) {
    absl::StrAppend(out, "`", one.first, "` ", one.second);
  });
}

}  // namespace

int Sweep::Launched() const { return SumOf(launched); }
int Sweep::Excluded() const { return SumOf(excluded); }

Sweep RunSweep(const NodeKind& kind, const SweepOptions& options) {
  Listener listener(kind, options);
  int deaths = 0;
  while (listener.next_node() < options.first + options.nodes &&
         deaths < options.most_deaths) {
    const int first = listener.next_node();
    const ChildOutcome outcome =
        RunInChild(options.seconds, [&](const SendToParent& send) {
          Cap(options.cap);
          std::optional<IgnoreKnownFaults> scope;
          if (options.with_known_faults) scope.emplace();
          Child(kind, options, send).Run(first);
        });
    listener.Hear(outcome);
    if (!outcome.death.empty()) ++deaths;
    if (listener.next_node() == first) break;  // no child reached it
  }
  return listener.sweep();
}

std::string TableHead() {
  return "| nodes | limited to | drawn | kernels launched | failed | excluded "
         "| "
         "implementations |\n|---|---|---|---|---|---|---|\n";
}

std::string TableLine(const NodeKind& kind, const std::string& cap,
                      const Sweep& sweep) {
  std::string excluded = absl::StrCat(sweep.Excluded());
  if (sweep.Excluded() > 0) {
    absl::StrAppend(&excluded, ": ", NamesOf(sweep.excluded));
  }
  return absl::StrCat("| ", kind.name, " | ", cap, " | ", sweep.nodes, " | ",
                      sweep.Launched(), " | ", sweep.failures.size(), " | ",
                      excluded, " | ", NamesOf(sweep.launched), " |\n");
}

}  // namespace partita
