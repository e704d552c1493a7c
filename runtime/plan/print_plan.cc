// Prints a plan as text.
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/text/names.h"
#include "graph/text/number_text.h"
#include "graph/text/printer.h"
#include "runtime/plan/plan_line.h"
#include "runtime/plan/plan_names.h"
#include "runtime/plan/plan_text.h"
#include "runtime/plan/print_entry.h"

namespace partita {
namespace {

void PrintDevice(const PlanDevice& device, const std::string& name,
                 std::string& out) {
  const DeviceTraits& traits = device.traits;
  absl::StrAppend(&out, "  device ", name, " ", DeviceKindName(traits.kind),
                  " threads ", traits.threads, " isa ", Quoted(traits.isa),
                  " memory ", device.memory, " alignment ", device.alignment,
                  "\n");
  absl::StrAppend(&out, "    arena persistent ", device.persistent_bytes,
                  " step ", device.step_bytes, "\n");
  std::string rates;
  if (traits.memory_bandwidth != 0) {
    absl::StrAppend(&rates, " bandwidth ", DoubleText(traits.memory_bandwidth));
  }
  if (traits.launch_seconds != 0) {
    absl::StrAppend(&rates, " launch ", DoubleText(traits.launch_seconds));
  }
  for (int i = 0; i < kNumDTypes; ++i) {
    if (traits.peak_flops[i] == 0) continue;
    absl::StrAppend(&rates, " ", DTypeName(static_cast<DType>(i)), " ",
                    DoubleText(traits.peak_flops[i]));
  }
  if (!rates.empty()) absl::StrAppend(&out, "    rates", rates, "\n");
}

void PrintCode(const CodeObject& code, std::string& out) {
  const bool declared = code.bytes.empty();
  const int64_t size =
      declared ? code.declared_size : static_cast<int64_t>(code.bytes.size());
  const ContentHash hash =
      declared ? code.declared_hash : HashBytes(code.bytes);
  absl::StrAppend(&out, "  code ", Quoted(code.target), " bytes ", size, " #",
                  hash.ToString(), "\n");
}

void PrintCertificate(const Certificate& certificate, std::string& out) {
  absl::StrAppend(&out, "  certificate ", Quoted(certificate.checker), " of ",
                  Quoted(certificate.plan_hash), "\n");
  for (const std::string& fact : certificate.proved) {
    absl::StrAppend(&out, "    proved ", Quoted(fact), "\n");
  }
  for (const std::string& fact : certificate.assumed) {
    absl::StrAppend(&out, "    assumed ", Quoted(fact), "\n");
  }
}

}  // namespace

std::string PrintPlan(const Plan& plan, const PlanTextOptions& options) {
  std::string out = PrintModule(plan.module);
  if (!out.empty()) out.append("\n");
  absl::StrAppend(&out, "plan ", SpellSigilName('@', plan.name), " {\n");
  const std::vector<std::string> devices = DeviceNames(plan);
  for (size_t i = 0; i < devices.size(); ++i) {
    PrintDevice(plan.devices[i], devices[i], out);
  }
  for (const CodeObject& code : plan.code_objects) PrintCode(code, out);
  for (size_t i = 0; i < plan.entries.size(); ++i) {
    EntryPrinter(plan, i, options, out).Print();
  }
  if (options.certificate && plan.certificate.has_value()) {
    PrintCertificate(*plan.certificate, out);
  }
  out.append("}\n");
  return out;
}

}  // namespace partita
