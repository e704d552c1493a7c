// The excluded faults are in the library, and only in excluded shapes; shown
// with oneDNN alone.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/onednn_faults.h"

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "kernels/cpu/onednn_recipe.h"
#include "kernels/testing/run_in_child.h"

namespace partita {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;
constexpr auto kF32 = memory::data_type::f32;
constexpr auto kDirect = dnnl::algorithm::convolution_direct;
constexpr int kSecondsWithoutReport = 20;

struct Gradient {
  int64_t images, in, out, extent, stride;

  std::string ToString() const {
    return absl::StrCat("n ", images, " ic ", in, " oc ", out, " ", extent, "x",
                        extent, " stride ", stride, "\n");
  }
};

// A strided 1x1 convolution's gradient by the weights, channels last: oneDNN's
// first implementation, or the first one without a known fault.
dnnl::primitive_desc Describe(const Gradient& g, bool sound = false) {
  const int64_t out_extent = (g.extent - 1) / g.stride + 1;
  const memory::desc x({g.images, g.in, g.extent, g.extent}, kF32, Tag::nhwc);
  const memory::desc dy({g.images, g.out, out_extent, out_extent}, kF32,
                        Tag::nhwc);
  const memory::desc dw({g.out, g.in, 1, 1}, kF32, Tag::any);
  const memory::dims strides = {g.stride, g.stride}, none = {0, 0};
  const dnnl::convolution_forward::primitive_desc forward(
      {dnnl::prop_kind::forward_training, kDirect, x, dw, dy, strides, none,
       none},
      StrictAttributes(), CpuEngine());
  const dnnl::convolution_backward_weights::desc gradient(kDirect, x, dw, dy,
                                                          strides, none, none);
  if (sound) {
    return SoundPrimitive<dnnl::convolution_backward_weights>(
        gradient, StrictAttributes(), /*skipped=*/0, forward);
  }
  return dnnl::convolution_backward_weights::primitive_desc(
      gradient, StrictAttributes(), CpuEngine(), forward);
}

// Runs it with the requested scratchpad; true if bytes after it changed.
bool WritesBeyondScratchpad(const dnnl::primitive_desc& primitive) {
  constexpr size_t kGuard = 1 << 16;
  const std::vector<char> untouched(kGuard, 0x5a);
  const size_t scratchpad = primitive.scratchpad_desc().get_size();
  std::vector<char> bytes(scratchpad + kGuard, untouched[0]);
  std::vector<std::vector<float>> values;
  const auto ones = [&](dnnl::query what) {
    const memory::desc desc = primitive.query_md(what);
    values.emplace_back(desc.get_size() / sizeof(float), 1.0f);
    return memory(desc, CpuEngine(), values.back().data());
  };
  dnnl::stream stream(CpuEngine());
  dnnl::primitive(primitive).execute(
      stream, {{DNNL_ARG_SRC, ones(dnnl::query::src_md)},
               {DNNL_ARG_DIFF_DST, ones(dnnl::query::diff_dst_md)},
               {DNNL_ARG_DIFF_WEIGHTS, ones(dnnl::query::diff_weights_md)},
               {DNNL_ARG_SCRATCHPAD, memory(primitive.scratchpad_desc(),
                                            CpuEngine(), bytes.data())}});
  stream.wait();
  return std::memcmp(bytes.data() + scratchpad, untouched.data(), kGuard) != 0;
}

std::vector<Gradient> Gradients() {
  std::vector<Gradient> all;
  for (int64_t images : {1, 4}) {
    for (int64_t in : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32}) {
      for (int64_t out : {8, 16, 20, 32}) {
        for (int64_t extent : {5, 8, 14, 28}) {
          for (int64_t stride : {2, 3}) {
            all.push_back({images, in, out, extent, stride});
          }
        }
      }
    }
  }
  return all;
}

// Runs the gradients that are known to be faulty, or the others; reports
// out-of-bounds writes and how the process ended.
ChildOutcome Try(int threads, bool known) {
  return RunInChild(kSecondsWithoutReport, [&](const SendToParent& send) {
    const ThreadScope scope(threads);
    for (const Gradient& gradient : Gradients()) {
      const auto primitive = Describe(gradient);
      if ((KnownFault(primitive) != nullptr) != known) continue;
      send(WritesBeyondScratchpad(primitive) ? gradient.ToString() : "");
    }
  });
}

TEST(OnednnFaults, WhatIsNotKnownStaysWithinItsScratchpad) {
  for (int threads : {1, 2}) {
    const ChildOutcome outcome = Try(threads, /*known=*/false);
    EXPECT_EQ(outcome.texts, "") << threads << " threads";
    EXPECT_EQ(outcome.death, "") << threads << " threads";
  }
}

// If this fails, the library has been fixed, and its row can be removed.
TEST(OnednnFaults, WhatIsKnownIsStillInTheLibrary) {
  const ChildOutcome counted =
      RunInChild(kSecondsWithoutReport, [](const SendToParent& send) {
        for (const Gradient& gradient : Gradients()) {
          if (KnownFault(Describe(gradient)) != nullptr) send("known ");
        }
      });
  const bool copies_rows = dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx2;
  EXPECT_EQ(counted.texts.empty(), !copies_rows);
  if (!copies_rows) return;
  // With AVX2 one thread shows it, and two may hang; AVX-512 needs two.
  ChildOutcome outcome = Try(/*threads=*/1, /*known=*/true);
  if (outcome.texts.empty() && outcome.death.empty()) {
    outcome = Try(/*threads=*/2, /*known=*/true);
  }
  EXPECT_FALSE(outcome.texts.empty() && outcome.death.empty());
}

TEST(OnednnFaults, ASoundImplementationReplacesIt) {
  const ChildOutcome outcome =
      RunInChild(kSecondsWithoutReport, [](const SendToParent& send) {
        for (const Gradient& gradient : Gradients()) {
          const auto sound = Describe(gradient, /*sound=*/true);
          if (!sound || IsReferenceLoop(sound)) {
            send(gradient.ToString());
          }
        }
      });
  EXPECT_EQ(outcome.texts, "");
  EXPECT_EQ(outcome.death, "");
}

}  // namespace
}  // namespace partita
