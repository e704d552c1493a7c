// Fuzz target: calls of the C API in a drawn order, on the session of a plan in
// memory, never do harm, and each error has a message.
// SPDX-License-Identifier: Apache-2.0
//
// An input is a plan file, as long as its header says, and after it bytes that
// choose the calls and their arguments. Native code of a plan never runs.

#include "partita/c_api.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/expect.h"
#include "tests/fuzz/plan_bytes.h"

namespace {

using partita::ExpectFuzz;

constexpr size_t kMostCalls = 40;

// Where the size of a plan file is in its header (plan_format.h).
constexpr size_t kSizeOffset = 32;

// The length of the plan at the start of the bytes.
size_t PlanSize(const uint8_t* bytes, size_t size) {
  uint64_t stated = size;
  if (size >= kSizeOffset + sizeof(stated)) {
    std::memcpy(&stated, bytes + kSizeOffset, sizeof(stated));
  }
  return stated < size ? static_cast<size_t>(stated) : size;
}

// The calls of one input.
class Calls {
 public:
  Calls(const std::string& plan, const uint8_t* choices, size_t size)
      : choices_(choices, choices + size) {
    Check(partita_plan_load_memory(plan.data(), plan.size(), &plan_, status_));
    Check(partita_cancel_new(&cancel_, status_));
  }
  ~Calls() {
    Check(partita_session_free(session_), /*has_status=*/false);
    Check(partita_plan_free(plan_), /*has_status=*/false);
    Check(partita_cancel_free(cancel_), /*has_status=*/false);
    Check(partita_status_free(status_), /*has_status=*/false);
  }
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;

  void Run() {
    if (plan_ == nullptr) return;
    DescribePlan();
    NewSession();
    SetInput();
    for (size_t i = 0; i < kMostCalls && next_ < choices_.size(); ++i) Call();
  }

 private:
  using Method = void (Calls::*)();

  uint8_t Choose() { return next_ < choices_.size() ? choices_[next_++] : 0; }
  // Mostly one that exists.
  size_t Index() {
    const uint8_t choice = Choose();
    return choice % 4 == 3 ? choice / 4 : 0;
  }

  // A code of the header, with a message if and only if it is an error.
  void Check(partita_code code, bool has_status = true) const {
    const std::string name = partita_code_name(code);
    ExpectFuzz(name != "UNKNOWN" && code != PARTITA_INTERNAL,
               "a code that no call returns", name);
    if (!has_status) return;
    const std::string message = partita_status_message(status_);
    ExpectFuzz(partita_status_code(status_) == code, "two codes", message);
    ExpectFuzz(message.empty() == (code == PARTITA_OK), "no message", name);
  }

  void Call() {
    constexpr Method kMethods[] = {
        &Calls::NewSession,    &Calls::SetInput,  &Calls::BindInput,
        &Calls::BindOutput,    &Calls::GetOutput, &Calls::RunStep,
        &Calls::Submit,        &Calls::Wait,      &Calls::ReadVariable,
        &Calls::WriteVariable, &Calls::Restore,   &Calls::DescribeSession,
        &Calls::UseEntry,      &Calls::Cancel,    &Calls::WriteTrace,
        &Calls::WrongHandles};
    (this->*kMethods[Choose() % std::size(kMethods)])();
  }

  void DescribePlan() {
    const char* text = nullptr;
    size_t entries = 0;
    Check(partita_plan_name(plan_, &text, status_));
    Check(partita_plan_summary(plan_, &text, status_));
    Check(partita_plan_num_entries(plan_, &entries, status_));
    for (size_t e = 0; e <= entries && e < 4; ++e) {
      Check(partita_plan_entry_name(plan_, e, &text, status_));
    }
  }

  void NewSession() {
    partita_session_options options = partita_session_options_default();
    const uint8_t choice = Choose();
    options.devices = choice == 255 ? 7 : PARTITA_DEVICES_VIRTUAL;
    options.code =
        choice % 3 == 0 ? PARTITA_CODE_REFUSE : PARTITA_CODE_BUILD_AGAIN;
    options.copy_constants = choice % 2;
    // The library may access as many bytes as a size says: none is too large.
    if (choice == 254) options.struct_size = sizeof(options) / 2;
    partita_session* session = nullptr;
    Check(partita_session_new(plan_, &options, &session, status_));
    if (session == nullptr) return;
    Check(partita_session_free(session_), /*has_status=*/false);
    session_ = session;
    memory_.clear();
  }

  // Makes `tensor` one of the type that it has, over new memory, and sometimes
  // another one that must be refused.
  void Allocate(partita_tensor& tensor) {
    // Exactly as large: a sanitizer finds any access beyond it.
    memory_.push_back(std::make_unique<uint8_t[]>(tensor.bytes));
    tensor.data = memory_.back().get();
    switch (Choose()) {
      case 0:
        tensor.dtype = static_cast<partita_dtype>(Choose());
        break;
      case 1:
        tensor.rank = static_cast<int32_t>(Choose()) - 100;
        break;
      case 2:
        tensor.dims[Choose() % PARTITA_MAX_RANK] -= Choose();
        break;
      case 3:
        tensor.bytes -= Choose();
        break;
      case 4:
        tensor.data = nullptr;
        break;
      case 5:
        tensor.struct_size = Choose() % sizeof(tensor);
        break;
      default:
        break;
    }
  }

  // A changed tensor that is still accepted has enough memory.
  void SetInput() {
    const size_t input = Index();
    partita_tensor value = partita_tensor_empty();
    Check(partita_session_input_type(session_, input, &value, status_));
    Allocate(value);
    Check(partita_session_set_input(session_, input, &value, status_));
  }
  void BindInput() {
    const size_t input = Index();
    partita_tensor value = partita_tensor_empty();
    Check(partita_session_input_type(session_, input, &value, status_));
    Allocate(value);
    Check(partita_session_bind_input(session_, input, &value, status_));
  }
  void BindOutput() {
    const size_t output = Index();
    partita_tensor value = partita_tensor_empty();
    Check(partita_session_output_type(session_, output, &value, status_));
    Allocate(value);
    Check(partita_session_bind_output(session_, output, &value, status_));
  }

  void GetOutput() {
    partita_tensor value = partita_tensor_empty();
    Check(partita_session_get_output(session_, Index(), &value, status_));
    const auto* const bytes = static_cast<const uint8_t*>(value.data);
    for (size_t i = 0; i < value.bytes; ++i) sum_ = sum_ + bytes[i];
  }

  partita_run_options StepOptions() {
    partita_run_options options = partita_run_options_default();
    const uint8_t choice = Choose();
    options.trace = choice % 2;
    if (choice % 3 == 0) options.cancel = cancel_;
    if (choice == 255) options.timeout_ms = -1;
    if (choice == 254) options.reserved = 1;
    return options;
  }
  void RunStep() {
    const partita_run_options options = StepOptions();
    Check(partita_session_run(session_, &options, status_));
  }
  void Submit() {
    const partita_run_options options = StepOptions();
    Check(partita_session_submit(session_, &options, &step_, status_));
  }
  void Wait() {
    const uint64_t step = Choose() % 4 == 0 ? Choose() : step_;
    Check(partita_session_wait(session_, step, status_));
  }

  void ReadVariable() {
    const size_t variable = Index();
    partita_tensor value = partita_tensor_empty();
    Check(partita_session_variable_type(session_, variable, &value, status_));
    Allocate(value);
    Check(partita_session_read_variable(session_, variable, &value, status_));
  }
  void WriteVariable() {
    const size_t variable = Index();
    partita_tensor value = partita_tensor_empty();
    Check(partita_session_variable_type(session_, variable, &value, status_));
    Allocate(value);
    Check(partita_session_write_variable(session_, variable, &value, status_));
  }
  void Restore() { Check(partita_session_restore(session_, status_)); }

  void DescribeSession() {
    const char* text = nullptr;
    size_t count = 0;
    int32_t depth = 0;
    partita_memory memory = partita_memory_empty();
    Check(partita_session_notice(session_, &text, status_));
    Check(partita_session_depth(session_, &depth, status_));
    Check(partita_session_num_inputs(session_, &count, status_));
    Check(partita_session_num_outputs(session_, &count, status_));
    Check(partita_session_num_variables(session_, &count, status_));
    Check(partita_session_num_devices(session_, &count, status_));
    Check(partita_session_input_name(session_, Index(), &text, status_));
    Check(partita_session_output_name(session_, Index(), &text, status_));
    Check(partita_session_variable_name(session_, Index(), &text, status_));
    Check(partita_session_device_name(session_, Index(), &text, status_));
    Check(partita_session_memory(session_, Index(), &memory, status_));
    Check(partita_session_find_input(session_, "x", &count, status_));
    Check(partita_session_find_output(session_, "y", &count, status_));
  }

  void UseEntry() {
    const char* name = nullptr;
    Check(partita_plan_entry_name(plan_, Index(), &name, status_));
    Check(partita_session_use_entry(session_, name, status_));
  }

  void Cancel() {
    if (Choose() % 2 == 0) {
      Check(partita_cancel_request(cancel_, status_));
      return;
    }
    Check(partita_cancel_free(cancel_), /*has_status=*/false);
    Check(partita_cancel_new(&cancel_, status_));
  }

  void WriteTrace() {
    Check(partita_session_write_trace(session_, "/dev/null", status_));
  }

  void WrongHandles() {
    auto* const session = reinterpret_cast<partita_session*>(plan_);
    Check(partita_session_run(session, nullptr, status_));
    Check(partita_session_free(session), /*has_status=*/false);
    Check(partita_session_run(nullptr, nullptr, status_));
  }

  const std::vector<uint8_t> choices_;
  size_t next_ = 0;
  partita_status* const status_ = partita_status_new();
  partita_plan* plan_ = nullptr;
  partita_session* session_ = nullptr;
  partita_cancel* cancel_ = nullptr;
  uint64_t step_ = 0;
  std::vector<std::unique_ptr<uint8_t[]>> memory_;  // of the session's ports
  volatile uint8_t sum_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const size_t plan_size = PlanSize(bytes, size);
  std::string plan(reinterpret_cast<const char*>(bytes), plan_size);
  partita::FixHash(plan);
  Calls(plan, bytes + plan_size, size - plan_size).Run();
  return 0;
}

// Most mutations are of the calls: few changed plans are accepted.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* bytes, size_t size,
                                          size_t max_size, unsigned int seed) {
  std::minstd_rand random(seed);
  const size_t plan_size = PlanSize(bytes, size);
  const size_t calls = plan_size + random() % 120;
  if (calls > max_size) return 0;
  for (size_t i = plan_size; i < calls; ++i) {
    // Small numbers choose the calls and mostly what is legal.
    const bool is_small = random() % 4 != 0;
    bytes[i] = static_cast<uint8_t>(random() % (is_small ? 16 : 256));
  }
  return calls;
}
