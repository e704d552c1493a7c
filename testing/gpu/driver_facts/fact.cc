// The text and the verdict of one fact's steps.
// SPDX-License-Identifier: Apache-2.0

#include "testing/gpu/driver_facts/fact.h"

#include "absl/strings/str_format.h"

namespace partita {

namespace {
StepListener step_listener = nullptr;
}  // namespace

void SetStepListener(StepListener listener) { step_listener = listener; }

void Steps::Check(bool good) {
  ++checks_;
  if (!good) ++failures_;
}

void Steps::Add(absl::string_view text, absl::string_view expected) {
  const std::string step =
      expected.empty() ? std::string(text)
                       : absl::StrCat(text, " (EXPECTED ", expected, ")");
  absl::StrAppend(&seen_, seen_.empty() ? "" : "; ", step);
  if (step_listener != nullptr) step_listener(step);
}

void Steps::Code(absl::string_view what, CUresult seen, CUresult expected) {
  Check(seen == expected);
  Add(absl::StrCat(what, " ", CudaCodeName(api_, seen)),
      seen == expected ? "" : CudaCodeName(api_, expected));
}

void Steps::Code(absl::string_view what, CUresult seen) {
  Add(absl::StrCat(what, " ", CudaCodeName(api_, seen)), "");
}

void Steps::Figure(absl::string_view name, double value) {
  figures_.emplace_back(std::string(name), value);
  Add(absl::StrFormat("%s %.6g", name, value), "");
}

Reading Steps::End() const {
  FactVerdict verdict = FactVerdict::kFigure;
  if (checks_ > 0)
    verdict = failures_ > 0 ? FactVerdict::kFail : FactVerdict::kPass;
  return {verdict, seen_, figures_};
}

}  // namespace partita
