// The C API for C++17 and later: handles that free themselves, exceptions,
// vectors. Nothing else is in it, so it needs no library but libpartita.
// SPDX-License-Identifier: Apache-2.0
//
//   partita::Plan plan = partita::Plan::Compile("mlp.onnx", {"dim=batch=8"});
//   partita::Session session(plan);
//   session.SetInput("x", x);  // a std::vector<float>
//   session.Run();
//   std::vector<float> y = session.Output<float>("y");
//
// Every error is thrown as partita::Error. partita/c_api.h states what each
// call does, its errors, and which calls may run at the same time; a name here
// is that of the C function. Handles are moved, not copied.

#ifndef PARTITA_PARTITA_PARTITA_HPP_
#define PARTITA_PARTITA_PARTITA_HPP_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "partita/c_api.h"

namespace partita {
// Programs may be linked that see different versions of this header.
inline namespace v1 {

class Error : public std::runtime_error {
 public:
  Error(partita_code code, const std::string& message)
      : std::runtime_error(message), code_(code) {}
  partita_code code() const { return code_; }  // PARTITA_NOT_FOUND, ...

 private:
  partita_code code_;
};

namespace detail {

template <typename Handle, partita_code (*kFree)(Handle*)>
struct Free {
  void operator()(Handle* handle) const { kFree(handle); }
};

template <typename Handle, partita_code (*kFree)(Handle*)>
using Owned = std::unique_ptr<Handle, Free<Handle, kFree>>;

// Calls a function of the C API with `arguments` and a status.
template <typename Function, typename... Arguments>
void Call(Function function, Arguments... arguments) {
  const Owned<partita_status, partita_status_free> status(partita_status_new());
  const partita_code code = function(arguments..., status.get());
  if (code == PARTITA_OK) return;
  throw Error(code, std::string(partita_code_name(code)) + ": " +
                        partita_status_message(status.get()));
}

// The same for a function that returns a value by its last pointer.
template <typename Value, typename Function, typename... Arguments>
Value Get(Function function, Arguments... arguments) {
  Value value{};
  Call(function, arguments..., &value);
  return value;
}

}  // namespace detail

// The dtype of elements; bool and the 16-bit floats have none, as their bytes
// in C++ are not those of a tensor: use the functions that take a
// partita_tensor.
template <typename T>
struct DTypeOf;
#define PARTITA_DTYPE_OF(type, dtype)              \
  template <>                                      \
  struct DTypeOf<type> {                           \
    static constexpr partita_dtype kValue = dtype; \
  }
PARTITA_DTYPE_OF(double, PARTITA_F64);
PARTITA_DTYPE_OF(float, PARTITA_F32);
PARTITA_DTYPE_OF(int64_t, PARTITA_I64);
PARTITA_DTYPE_OF(int32_t, PARTITA_I32);
PARTITA_DTYPE_OF(int16_t, PARTITA_I16);
PARTITA_DTYPE_OF(int8_t, PARTITA_I8);
PARTITA_DTYPE_OF(uint64_t, PARTITA_U64);
PARTITA_DTYPE_OF(uint32_t, PARTITA_U32);
PARTITA_DTYPE_OF(uint16_t, PARTITA_U16);
PARTITA_DTYPE_OF(uint8_t, PARTITA_U8);
#undef PARTITA_DTYPE_OF

// A proved plan. Thread safety: any number of calls at once.
class Plan {
 public:
  static Plan Load(const std::string& path) {
    return Plan(detail::Get<partita_plan*>(partita_plan_load, path.c_str()));
  }
  static Plan LoadMemory(const void* bytes, size_t size) {
    return Plan(
        detail::Get<partita_plan*>(partita_plan_load_memory, bytes, size));
  }
  // Not in partita::runtime, which only runs plans: the linker reports it.
  static Plan Compile(const std::string& model,
                      const std::vector<std::string>& options = {}) {
    std::vector<const char*> pointers;
    for (const std::string& option : options) {
      pointers.push_back(option.c_str());
    }
    return Plan(detail::Get<partita_plan*>(partita_compile, model.c_str(),
                                           pointers.data(), pointers.size()));
  }

  void Write(const std::string& path) {
    detail::Call(partita_plan_write, plan_.get(), path.c_str());
  }
  std::string Name() const {
    return detail::Get<const char*>(partita_plan_name, plan_.get());
  }
  std::string Summary() const {
    return detail::Get<const char*>(partita_plan_summary, plan_.get());
  }
  std::string Warnings() const {
    return detail::Get<const char*>(partita_plan_warnings, plan_.get());
  }
  std::vector<std::string> Entries() const {
    std::vector<std::string> names;
    const size_t count =
        detail::Get<size_t>(partita_plan_num_entries, plan_.get());
    for (size_t i = 0; i < count; ++i) {
      names.emplace_back(
          detail::Get<const char*>(partita_plan_entry_name, plan_.get(), i));
    }
    return names;
  }
  // For the functions of the C API; it belongs to this object.
  partita_plan* get() const { return plan_.get(); }

 private:
  explicit Plan(partita_plan* plan) : plan_(plan) {}

  detail::Owned<partita_plan, partita_plan_free> plan_;
};

// Ends the steps that were given it. Thread safety: any number of calls at
// once, also while a step runs.
class Cancel {
 public:
  Cancel() : cancel_(detail::Get<partita_cancel*>(partita_cancel_new)) {}
  void Request() { detail::Call(partita_cancel_request, cancel_.get()); }
  // For the functions of the C API; it belongs to this object.
  partita_cancel* get() const { return cancel_.get(); }

 private:
  detail::Owned<partita_cancel, partita_cancel_free> cancel_;
};

// One use of a plan. Thread safety: one call at a time.
class Session {
 public:
  // The plan may be destroyed before the session.
  explicit Session(const Plan& plan, partita_session_options options =
                                         partita_session_options_default())
      : session_(detail::Get<partita_session*>(partita_session_new, plan.get(),
                                               &options)) {}

  std::string Notice() const {
    return detail::Get<const char*>(partita_session_notice, session_.get());
  }
  void UseEntry(const std::string& name) {
    detail::Call(partita_session_use_entry, session_.get(), name.c_str());
  }
  // Steps of the entry that may be in flight.
  int32_t Depth() const {
    return detail::Get<int32_t>(partita_session_depth, session_.get());
  }

  // Names, in the order of the C API's indices.
  std::vector<std::string> Inputs() const {
    return Names(partita_session_num_inputs, partita_session_input_name);
  }
  std::vector<std::string> Outputs() const {
    return Names(partita_session_num_outputs, partita_session_output_name);
  }
  std::vector<std::string> Variables() const {
    return Names(partita_session_num_variables, partita_session_variable_name);
  }
  std::vector<std::string> Devices() const {
    return Names(partita_session_num_devices, partita_session_device_name);
  }

  // dtype, shape and bytes, with data = nullptr.
  partita_tensor InputType(const std::string& name) const {
    partita_tensor type = partita_tensor_empty();
    detail::Call(partita_session_input_type, session_.get(), Input(name),
                 &type);
    return type;
  }
  partita_tensor OutputType(const std::string& name) const {
    partita_tensor type = partita_tensor_empty();
    detail::Call(partita_session_output_type, session_.get(), OutputIndex(name),
                 &type);
    return type;
  }

  partita_tensor VariableType(const std::string& name) const {
    return TypeOfVariable(Variable(name));
  }

  // Copies the values, row-major, in the input's shape. Another element type,
  // or another number of elements, is PARTITA_INVALID_ARGUMENT.
  template <typename T>
  void SetInput(const std::string& name, const std::vector<T>& values) {
    partita_tensor tensor = InputType(name);
    Fill(name, values.data(), values.size(), tensor);
    SetInput(name, tensor);
  }
  void SetInput(const std::string& name, const partita_tensor& value) {
    detail::Call(partita_session_set_input, session_.get(), Input(name),
                 &value);
  }
  // Steps read and write `count` elements of the caller's memory.
  template <typename T>
  void BindInput(const std::string& name, const T* values, size_t count) {
    partita_tensor tensor = InputType(name);
    Fill(name, values, count, tensor);
    detail::Call(partita_session_bind_input, session_.get(), Input(name),
                 &tensor);
  }
  template <typename T>
  void BindOutput(const std::string& name, T* values, size_t count) {
    partita_tensor tensor = OutputType(name);
    Fill(name, values, count, tensor);
    detail::Call(partita_session_bind_output, session_.get(), OutputIndex(name),
                 &tensor);
  }
  void BindInput(const std::string& name, const partita_tensor& value) {
    detail::Call(partita_session_bind_input, session_.get(), Input(name),
                 &value);
  }
  void BindOutput(const std::string& name, const partita_tensor& value) {
    detail::Call(partita_session_bind_output, session_.get(), OutputIndex(name),
                 &value);
  }
  // An output that is not bound, from the last step; its data belong to the
  // session until the next one.
  partita_tensor OutputTensor(const std::string& name) const {
    partita_tensor tensor = partita_tensor_empty();
    detail::Call(partita_session_get_output, session_.get(), OutputIndex(name),
                 &tensor);
    return tensor;
  }
  // A copy of it.
  template <typename T>
  std::vector<T> Output(const std::string& name) const {
    const partita_tensor tensor = OutputTensor(name);
    CheckType<T>(name, tensor);
    const T* values = static_cast<const T*>(tensor.data);
    return std::vector<T>(values, values + tensor.bytes / sizeof(T));
  }

  void Run(partita_run_options options = partita_run_options_default()) {
    detail::Call(partita_session_run, session_.get(), &options);
  }
  uint64_t Submit(partita_run_options options = partita_run_options_default()) {
    return detail::Get<uint64_t>(partita_session_submit, session_.get(),
                                 &options);
  }
  // The same for steps that `cancel` ends.
  void Run(const Cancel& cancel,
           partita_run_options options = partita_run_options_default()) {
    options.cancel = cancel.get();
    Run(options);
  }
  uint64_t Submit(const Cancel& cancel,
                  partita_run_options options = partita_run_options_default()) {
    options.cancel = cancel.get();
    return Submit(options);
  }
  void Wait(uint64_t step) {
    detail::Call(partita_session_wait, session_.get(), step);
  }
  void WriteTrace(const std::string& path) {
    detail::Call(partita_session_write_trace, session_.get(), path.c_str());
  }

  // A copy of the variable's values, row-major, in its shape.
  template <typename T>
  std::vector<T> ReadVariable(const std::string& name) const {
    const size_t variable = Variable(name);
    partita_tensor tensor = TypeOfVariable(variable);
    std::vector<T> values(tensor.bytes / sizeof(T));
    Fill(name, values.data(), values.size(), tensor);
    detail::Call(partita_session_read_variable, session_.get(), variable,
                 &tensor);
    return values;
  }
  // Copies the variable to value.data.
  void ReadVariable(const std::string& name,
                    const partita_tensor& value) const {
    detail::Call(partita_session_read_variable, session_.get(), Variable(name),
                 &value);
  }
  template <typename T>
  void WriteVariable(const std::string& name, const std::vector<T>& values) {
    const size_t variable = Variable(name);
    partita_tensor tensor = TypeOfVariable(variable);
    Fill(name, values.data(), values.size(), tensor);
    detail::Call(partita_session_write_variable, session_.get(), variable,
                 &tensor);
  }
  void WriteVariable(const std::string& name, const partita_tensor& value) {
    detail::Call(partita_session_write_variable, session_.get(), Variable(name),
                 &value);
  }
  void Restore() { detail::Call(partita_session_restore, session_.get()); }

  // The figures of now. PARTITA_NOT_FOUND for a device that the plan does not
  // have.
  partita_memory Memory(const std::string& device) const {
    partita_memory memory = partita_memory_empty();
    detail::Call(partita_session_memory, session_.get(),
                 IndexOf("device", device, Devices()), &memory);
    return memory;
  }

  // For the functions of the C API; it belongs to this object.
  partita_session* get() const { return session_.get(); }

 private:
  size_t Input(const std::string& name) const {
    return detail::Get<size_t>(partita_session_find_input, session_.get(),
                               name.c_str());
  }
  size_t OutputIndex(const std::string& name) const {
    return detail::Get<size_t>(partita_session_find_output, session_.get(),
                               name.c_str());
  }
  size_t Variable(const std::string& name) const {
    return IndexOf("variable", name, Variables());
  }
  partita_tensor TypeOfVariable(size_t variable) const {
    partita_tensor type = partita_tensor_empty();
    detail::Call(partita_session_variable_type, session_.get(), variable,
                 &type);
    return type;
  }

  template <typename Count, typename Name>
  std::vector<std::string> Names(Count count, Name name) const {
    const size_t size = detail::Get<size_t>(count, session_.get());
    std::vector<std::string> names;
    for (size_t i = 0; i < size; ++i) {
      names.emplace_back(detail::Get<const char*>(name, session_.get(), i));
    }
    return names;
  }
  static size_t IndexOf(const char* kind, const std::string& name,
                        const std::vector<std::string>& names) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end()) return static_cast<size_t>(found - names.begin());
    std::string known;
    for (const std::string& other : names) {
      known += (known.empty() ? "one of " : ", ") + other;
    }
    throw Error(
        PARTITA_NOT_FOUND,
        std::string("NOT_FOUND: found no ") + kind + " " + name +
            "; expected " +
            (known.empty() ? "none: the plan has no " + std::string(kind)
                           : known));
  }

  template <typename T>
  static void CheckType(const std::string& name, const partita_tensor& tensor) {
    if (tensor.dtype == DTypeOf<T>::kValue) return;
    throw Error(PARTITA_INVALID_ARGUMENT,
                "INVALID_ARGUMENT: " + name + ": found elements of " +
                    partita_dtype_name(DTypeOf<T>::kValue) + "; expected " +
                    partita_dtype_name(tensor.dtype));
  }

  // Points a type to the caller's elements.
  template <typename T>
  static void Fill(const std::string& name, const T* values, size_t count,
                   partita_tensor& tensor) {
    CheckType<T>(name, tensor);
    if (count != tensor.bytes / sizeof(T)) {
      throw Error(PARTITA_INVALID_ARGUMENT,
                  "INVALID_ARGUMENT: " + name + ": found " +
                      std::to_string(count) + " elements; expected " +
                      std::to_string(tensor.bytes / sizeof(T)));
    }
    // The C API writes outputs only.
    tensor.data = const_cast<void*>(static_cast<const void*>(values));
  }

  detail::Owned<partita_session, partita_session_free> session_;
};

}  // namespace v1
}  // namespace partita

#endif  // PARTITA_PARTITA_PARTITA_HPP_
