// A first program: builds a graph, compiles it for this machine, runs it.
// SPDX-License-Identifier: Apache-2.0

#include <cstdio>

#include "partita/partita.h"

namespace partita {
namespace {

absl::Status Hello() {
  GraphBuilder b("hello");
  Tensor x = b.Input("x", DType::kF32, {1, 3});
  Tensor w = b.Constant(HostTensor::Of<float>({3, 2}, {1, 2, 3, 4, 5, 6}));
  b.Output("y", Relu(MatMul(x, w) + -20));
  PARTITA_ASSIGN_OR_RETURN(Module module, b.Build());
  PARTITA_ASSIGN_OR_RETURN(Compiled compiled,
                           Compile(std::move(module), DetectHost()));
  PARTITA_ASSIGN_OR_RETURN(
      auto session,
      Session::Create(std::make_shared<Plan>(std::move(compiled.plan))));
  PARTITA_RETURN_IF_ERROR(
      session->SetInput("x", HostTensor::Of<float>({1, 3}, {1, 2, 3})));
  PARTITA_RETURN_IF_ERROR(session->Run());
  PARTITA_ASSIGN_OR_RETURN(const HostTensor* y, session->GetOutput("y"));
  std::printf("y = [%g, %g]\n", y->data<float>()[0], y->data<float>()[1]);
  return absl::OkStatus();
}

}  // namespace
}  // namespace partita

int main() {
  const absl::Status status = partita::Hello();
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
