// Frees handles, and makes plans and sessions for tests.
// SPDX-License-Identifier: Apache-2.0

#include "partita/c_api/testing/owned_handles.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "partita/c_api/testing/sample_plans.h"

namespace partita::c_api {
namespace {

void MustSucceed(partita_code code, const Caught& caught) {
  if (code == PARTITA_OK) return;
  std::fprintf(stderr, "%s: %s\n", partita_code_name(code),
               caught.message().c_str());
  std::abort();
}

}  // namespace

void FreesHandle::operator()(partita_status* handle) const {
  partita_status_free(handle);
}
void FreesHandle::operator()(partita_plan* handle) const {
  partita_plan_free(handle);
}
void FreesHandle::operator()(partita_session* handle) const {
  partita_session_free(handle);
}
void FreesHandle::operator()(partita_cancel* handle) const {
  partita_cancel_free(handle);
}

Owned<partita_plan> PlanFromBytes(absl::string_view bytes) {
  const Caught caught;
  partita_plan* plan = nullptr;
  MustSucceed(
      partita_plan_load_memory(bytes.data(), bytes.size(), &plan, caught.get()),
      caught);
  return Owned<partita_plan>(plan);
}

Owned<partita_plan> PlanFromText(absl::string_view text) {
  return PlanFromBytes(PlanBytes(PlanOf(text)));
}

Owned<partita_session> SessionOf(partita_plan* plan, int32_t devices) {
  const Caught caught;
  partita_session_options options = partita_session_options_default();
  options.devices = devices;
  partita_session* session = nullptr;
  MustSucceed(partita_session_new(plan, &options, &session, caught.get()),
              caught);
  return Owned<partita_session>(session);
}

Owned<partita_session> SessionFromText(absl::string_view text) {
  return SessionOf(PlanFromText(text).get());
}

partita_tensor TensorOver(partita_dtype dtype,
                          std::initializer_list<int64_t> dims, void* data,
                          size_t bytes) {
  partita_tensor tensor = partita_tensor_empty();
  tensor.dtype = dtype;
  tensor.rank = static_cast<int32_t>(dims.size());
  std::copy(dims.begin(), dims.end(), tensor.dims);
  tensor.data = data;
  tensor.bytes = bytes;
  return tensor;
}

partita_tensor FloatsOf(std::initializer_list<int64_t> dims,
                        std::vector<float>& values) {
  return TensorOver(PARTITA_F32, dims, values.data(),
                    values.size() * sizeof(float));
}

std::vector<float> OutputFloats(partita_session* session, size_t output) {
  const Caught caught;
  partita_tensor value = partita_tensor_empty();
  MustSucceed(partita_session_get_output(session, output, &value, caught.get()),
              caught);
  const auto* const first = static_cast<const float*>(value.data);
  return {first, first + value.bytes / sizeof(float)};
}

}  // namespace partita::c_api
