// The C API: compile a model, load a plan, run it. C99 and C++.
// SPDX-License-Identifier: Apache-2.0
//
//   partita_status* status = partita_status_new();
//   partita_plan* plan = NULL;
//   partita_session* session = NULL;
//   if (partita_plan_load("mlp.plan", &plan, status) != PARTITA_OK ||
//       partita_session_new(plan, NULL, &session, status) != PARTITA_OK) {
//     fprintf(stderr, "%s\n", partita_status_message(status));
//   }
//
// docs/guide/from_c.md has a whole program.
//
// Errors. Every function with a status returns a code, and stores the code and
// a message in the status; a status of NULL is legal where the message is not
// needed. After an error nothing has changed, except where a function says
// otherwise; a handle to be returned is NULL, and other results are undefined.
// With a status that is neither NULL nor a valid handle, a call does nothing
// and returns PARTITA_INVALID_HANDLE. No exception leaves the library, and no
// error ends the process, except: another program truncates a mapped file
// (SIGBUS), or memory runs out in a thread of a running step.
//
// Handles. A handle begins with a word that its _free function clears. A call
// with a freed handle, or with one of another kind, returns
// PARTITA_INVALID_HANDLE if the memory is not in use for something else: this
// finds mistakes, it guarantees nothing. (A sanitizer reports such a call
// before.) NULL in place of a handle is the same error, but _free accepts it.
//
// Strings end with a zero byte; messages are UTF-8, names are those of the
// model. Strings that are returned belong to the handle that the call names.
//
// Threads. There is no global state. Each function says which calls may run at
// the same time:
//   any thread       any number of calls at once, on the same handles too;
//   one at a time    one call at once on the same handle. A second call on a
//                    session is refused with PARTITA_FAILED_PRECONDITION, not
//                    delayed. Calls on different handles run at the same time.
// A status is for one call at a time: give each thread its own. A handle is
// freed when no other call uses it.
//
// Versions. PARTITA_API_VERSION is that of this header, partita_api_version()
// that of the library. Later versions add functions, codes, and fields at the
// end of structs; they change and remove nothing. A program runs with any
// library whose version is not less than that of its header. The caller sets
// struct_size to the sizeof of its own header; the library uses the fields up
// to there, and gives later ones their defaults. A struct that is larger than
// the library's must have zeros in the fields that the library does not know.

#ifndef PARTITA_PARTITA_C_API_H_
#define PARTITA_PARTITA_C_API_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__)
#define PARTITA_API __attribute__((visibility("default")))
#else
#define PARTITA_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

// NOLINTBEGIN(readability-identifier-naming): names of C

#define PARTITA_API_VERSION 1

// The version of the library. Any thread.
PARTITA_API int32_t partita_api_version(void);
// The newest plan format that the library reads; it reads all older ones. Any
// thread.
PARTITA_API int32_t partita_plan_format_version(void);

// --- errors ---

typedef int32_t partita_code;
enum {
  PARTITA_OK = 0,
  PARTITA_CANCELLED = 1,            // by partita_cancel_request
  PARTITA_UNKNOWN = 2,              // an error of another library
  PARTITA_INVALID_ARGUMENT = 3,     // an argument, a model or a plan is wrong
  PARTITA_DEADLINE_EXCEEDED = 4,    // a step took longer than its timeout
  PARTITA_NOT_FOUND = 5,            // no such file, input, variable, ...
  PARTITA_ALREADY_EXISTS = 6,       // no call returns it
  PARTITA_PERMISSION_DENIED = 7,    // by the system, or untrusted code
  PARTITA_RESOURCE_EXHAUSTED = 8,   // memory, disk or threads
  PARTITA_FAILED_PRECONDITION = 9,  // not now: another call has to be first
  PARTITA_ABORTED = 10,             // an error of another library
  PARTITA_OUT_OF_RANGE = 11,        // likewise
  PARTITA_UNIMPLEMENTED = 12,       // no kernel, or an op that is not supported
  PARTITA_INTERNAL = 13,            // a defect of Partita
  PARTITA_UNAVAILABLE = 14,         // no such device, driver or library here
  PARTITA_DATA_LOSS = 15,           // an error of another library
  PARTITA_INVALID_HANDLE = 100      // NULL, freed, or of another kind
};

// "INVALID_ARGUMENT"; "UNKNOWN" for other numbers. Never NULL. Any thread.
PARTITA_API const char* partita_code_name(partita_code code);

// Code and message of the last call that was given the status.
typedef struct partita_status partita_status;

// PARTITA_OK and no message; NULL if memory is exhausted. Any thread.
PARTITA_API partita_status* partita_status_new(void);
// Of the last call. PARTITA_INVALID_HANDLE for an invalid status. One at a
// time.
PARTITA_API partita_code partita_status_code(const partita_status* status);
// "input x: found f32[3]; expected f32[2, 3]"; "" after PARTITA_OK. Never NULL.
// Valid until the status is used again. One at a time.
PARTITA_API const char* partita_status_message(const partita_status* status);
// PARTITA_OK, or PARTITA_INVALID_HANDLE. One at a time.
PARTITA_API partita_code partita_status_free(partita_status* status);

// --- tensors ---

typedef int32_t partita_dtype;
enum {
  PARTITA_F64 = 1,
  PARTITA_F32 = 2,
  PARTITA_F16 = 3,   // IEEE 754 binary16
  PARTITA_BF16 = 4,  // the upper half of an f32
  PARTITA_I64 = 5,
  PARTITA_I32 = 6,
  PARTITA_I16 = 7,
  PARTITA_I8 = 8,
  PARTITA_U8 = 9,
  PARTITA_U16 = 10,
  PARTITA_U32 = 11,
  PARTITA_U64 = 12,
  PARTITA_BOOL = 13  // one byte, 0 or 1
};

// "f32"; "" for other numbers. Never NULL. Any thread.
PARTITA_API const char* partita_dtype_name(partita_dtype dtype);

#define PARTITA_MAX_RANK 16

// A type and row-major bytes of the caller, in the host's byte order, of any
// alignment.
typedef struct partita_tensor {
  size_t struct_size;  // sizeof(partita_tensor)
  partita_dtype dtype;
  int32_t rank;                    // 0..PARTITA_MAX_RANK
  int64_t dims[PARTITA_MAX_RANK];  // the first `rank` are extents
  void* data;    // NULL is legal for 0 bytes. Inputs are not written.
  size_t bytes;  // size of data, not less than that of the type
} partita_tensor;

static inline partita_tensor partita_tensor_empty(void) {
  partita_tensor tensor;
  memset(&tensor, 0, sizeof(tensor));
  tensor.struct_size = sizeof(tensor);
  return tensor;
}

// --- plans ---

// A proved plan. It does not change. Sessions of a plan keep what they need of
// it, so it may be freed before them.
typedef struct partita_plan partita_plan;

// Reads a plan file and proves the plan. The file is mapped: it, and the files
// that it names for weights, must not change while the plan or a session of it
// exists. Replace such a file by renaming another one over it.
// PARTITA_NOT_FOUND for a missing file; PARTITA_INVALID_ARGUMENT for a file
// that is no plan, is truncated or damaged, has a newer format, or whose plan
// is not proved: the message has the checker's findings. Any bytes are safe to
// read. Any thread.
PARTITA_API partita_code partita_plan_load(const char* path,
                                           partita_plan** plan,
                                           partita_status* status);
// The same for the bytes of a plan file, which are copied first. The plan has
// all its weights itself: one whose weights are in other files is refused.
// Any thread.
PARTITA_API partita_code partita_plan_load_memory(const void* bytes,
                                                  size_t size,
                                                  partita_plan** plan,
                                                  partita_status* status);
// Writes a plan file: to another name, then renames it, so `path` is the old
// file or the complete new one. Any thread.
PARTITA_API partita_code partita_plan_write(partita_plan* plan,
                                            const char* path,
                                            partita_status* status);

// Strings of a plan are valid until it is freed. Any thread.
PARTITA_API partita_code partita_plan_name(const partita_plan* plan,
                                           const char** name,
                                           partita_status* status);
// For people: the strategy that placed it and, one a line, the predicted steps
// of the others, or why they were refused; "" if the plan has no notes.
// Any thread.
PARTITA_API partita_code partita_plan_summary(const partita_plan* plan,
                                              const char** summary,
                                              partita_status* status);
// What the model's importer doubted while this process compiled it, one line
// each; "" if nothing. Any thread.
PARTITA_API partita_code partita_plan_warnings(const partita_plan* plan,
                                               const char** warnings,
                                               partita_status* status);
// Entries are functions of the model. Most plans have one. Any thread.
PARTITA_API partita_code partita_plan_num_entries(const partita_plan* plan,
                                                  size_t* entries,
                                                  partita_status* status);
// Any thread.
PARTITA_API partita_code partita_plan_entry_name(const partita_plan* plan,
                                                 size_t entry,
                                                 const char** name,
                                                 partita_status* status);
// PARTITA_OK, or PARTITA_INVALID_HANDLE. One at a time.
PARTITA_API partita_code partita_plan_free(partita_plan* plan);

// --- compiling ---
// Not in the library that only runs plans: libpartita_runtime, or in the source
// tree //partita/c_api:runtime.

// Compiles a model into a proved plan. `model` is an ONNX file, a module as
// text (NAME.graph), or builtin:NAME, as `partita compile` takes it. `options`
// are `num_options` strings KEY=VALUE, whose keys are the flags of `partita
// compile` without dashes: "machine=two_gpus.json", "strategy=pipeline",
// "dim=batch=8", "pin=encoder*=gpu:0". A flag without a value is
// "ieee=true" or "ieee=false". A key that the program repeats may be repeated.
// Without "machine" the plan is for this host. "weights" takes effect in
// partita_plan_write. What concerns the program's own output or its process is
// no key: output, stop-after, predict, times, json, cuda-libs (set CUDA_HOME
// instead).
//
// PARTITA_INVALID_ARGUMENT for a wrong model or option, with the nearest key
// for an unknown one; PARTITA_UNIMPLEMENTED for ops that are not supported;
// PARTITA_RESOURCE_EXHAUSTED, with remedies, for what does not fit into the
// machine's memory. The model's files must not change while the plan exists.
// May take minutes. Any thread.
PARTITA_API partita_code partita_compile(const char* model,
                                         const char* const* options,
                                         size_t num_options,
                                         partita_plan** plan,
                                         partita_status* status);

// --- sessions ---

// One use of a plan, with memory, streams and variables of its own.
//
// Calls refer to one entry: the plan's first, until partita_session_use_entry
// names another. If a step fails after it may have changed variables, the
// session has failed: calls that run steps or access variables return
// PARTITA_FAILED_PRECONDITION until partita_session_restore.
typedef struct partita_session partita_session;

enum {
  // the devices that the plan names; a host without them is refused
  PARTITA_DEVICES_REAL = 0,
  // `partita run --virtual`: threads and memory of this host emulate them
  PARTITA_DEVICES_VIRTUAL = 1,
  // `partita run --timed`: threads that sleep for the predicted times and
  // compute nothing
  PARTITA_DEVICES_TIMED = 2
};
// The software GPU of --emulated-gpus belongs to the program.

// Native code in a plan is a program that no checker proves. Code that this
// process built runs in any case.
enum {
  // other code does not run: it is built again, or an interpreter computes the
  // same bits, and partita_session_notice says so
  PARTITA_CODE_BUILD_AGAIN = 0,
  // `--trust-code`: it runs. Only for plans that you trust.
  PARTITA_CODE_TRUST = 1,
  // PARTITA_PERMISSION_DENIED for a plan from a file or from memory that has
  // native code
  PARTITA_CODE_REFUSE = 2
};

typedef struct partita_session_options {
  size_t struct_size;      // sizeof(partita_session_options)
  int32_t devices;         // PARTITA_DEVICES_...
  int32_t code;            // PARTITA_CODE_...
  int32_t copy_constants;  // 1: do not read constants of CPUs from the mapped
                           // plan; copy them into the session's memory
  int32_t split_gpu;       // number of the plan's devices on each GPU; 0: 1
} partita_session_options;

static inline partita_session_options partita_session_options_default(void) {
  partita_session_options options;
  memset(&options, 0, sizeof(options));
  options.struct_size = sizeof(options);
  return options;
}

// `options` may be NULL: the defaults. PARTITA_UNAVAILABLE for a plan that is
// for other devices than the host's; PARTITA_RESOURCE_EXHAUSTED for too little
// memory or too few threads. Any thread.
PARTITA_API partita_code
partita_session_new(partita_plan* plan, const partita_session_options* options,
                    partita_session** session, partita_status* status);
// Stops the steps in flight and waits until they have ended. PARTITA_OK;
// PARTITA_INVALID_HANDLE; or PARTITA_FAILED_PRECONDITION, and the session
// remains, if another call on it is at work. One at a time.
PARTITA_API partita_code partita_session_free(partita_session* session);

// One line about native code and shared GPUs, "" if there is nothing to say.
// Valid until the session is freed. One at a time.
PARTITA_API partita_code partita_session_notice(partita_session* session,
                                                const char** notice,
                                                partita_status* status);
// PARTITA_NOT_FOUND, with the plan's entries, for another name. One at a time.
PARTITA_API partita_code partita_session_use_entry(partita_session* session,
                                                   const char* name,
                                                   partita_status* status);
// Steps of the entry that may be in flight. One at a time.
PARTITA_API partita_code partita_session_depth(partita_session* session,
                                               int32_t* depth,
                                               partita_status* status);

// --- inputs and outputs of the entry in use, by index ---

// One at a time.
PARTITA_API partita_code partita_session_num_inputs(partita_session* session,
                                                    size_t* inputs,
                                                    partita_status* status);
// One at a time.
PARTITA_API partita_code partita_session_num_outputs(partita_session* session,
                                                     size_t* outputs,
                                                     partita_status* status);
// PARTITA_NOT_FOUND, with the names that exist, for another name.
// One at a time.
PARTITA_API partita_code partita_session_find_input(partita_session* session,
                                                    const char* name,
                                                    size_t* input,
                                                    partita_status* status);
// One at a time.
PARTITA_API partita_code partita_session_find_output(partita_session* session,
                                                     const char* name,
                                                     size_t* output,
                                                     partita_status* status);
// Valid until the session is freed. PARTITA_INVALID_ARGUMENT for an index out
// of range, as in all calls below. One at a time.
PARTITA_API partita_code partita_session_input_name(partita_session* session,
                                                    size_t input,
                                                    const char** name,
                                                    partita_status* status);
// One at a time.
PARTITA_API partita_code partita_session_output_name(partita_session* session,
                                                     size_t output,
                                                     const char** name,
                                                     partita_status* status);
// Fills a tensor with dtype, rank and dims, with the bytes that they need, and
// with data = NULL. The caller sets struct_size before. One at a time.
PARTITA_API partita_code partita_session_input_type(partita_session* session,
                                                    size_t input,
                                                    partita_tensor* type,
                                                    partita_status* status);
// One at a time.
PARTITA_API partita_code partita_session_output_type(partita_session* session,
                                                     size_t output,
                                                     partita_tensor* type,
                                                     partita_status* status);

// Copies the tensor: it is the input of every step until it is set or bound
// again. PARTITA_INVALID_ARGUMENT for another dtype or shape, for NULL, and for
// too few bytes; PARTITA_FAILED_PRECONDITION while steps are in flight.
// One at a time.
PARTITA_API partita_code partita_session_set_input(partita_session* session,
                                                   size_t input,
                                                   const partita_tensor* value,
                                                   partita_status* status);
// Steps read the input from value->data, without a copy. Errors as above, but
// legal while steps are in flight: it takes effect for steps that start
// afterwards. The bytes must exist and not change from the start of a step to
// its end; bools must be 0 or 1. One at a time.
PARTITA_API partita_code partita_session_bind_input(partita_session* session,
                                                    size_t input,
                                                    const partita_tensor* value,
                                                    partita_status* status);
// Steps write the output to value->data, without a copy: those that start
// afterwards. Nobody else may access the bytes from the start of a step to its
// end. An output that was bound once stays bound, to this memory or to that of
// a later call. One at a time.
PARTITA_API partita_code partita_session_bind_output(
    partita_session* session, size_t output, const partita_tensor* value,
    partita_status* status);
// An output without a binding, from the last step; zeros before the first one.
// Fills `value`; its data belong to the session, must not be written, and are
// valid until the next step begins or the output is bound.
// PARTITA_FAILED_PRECONDITION for an output with a binding, and while steps are
// in flight. One at a time.
PARTITA_API partita_code partita_session_get_output(partita_session* session,
                                                    size_t output,
                                                    partita_tensor* value,
                                                    partita_status* status);

// --- steps ---

// Ends steps from another thread.
typedef struct partita_cancel partita_cancel;

// Any thread.
PARTITA_API partita_code partita_cancel_new(partita_cancel** cancel,
                                            partita_status* status);
// The steps that were given `cancel` end with PARTITA_CANCELLED, and so do
// those that are given it later, and those in flight beside them
// (partita_session_submit). Any thread, also while a step runs.
PARTITA_API partita_code partita_cancel_request(partita_cancel* cancel,
                                                partita_status* status);
// Steps that were given it go on. PARTITA_OK, or PARTITA_INVALID_HANDLE. One at
// a time.
PARTITA_API partita_code partita_cancel_free(partita_cancel* cancel);

typedef struct partita_run_options {
  size_t struct_size;      // sizeof(partita_run_options)
  int64_t timeout_ms;      // the step ends with PARTITA_DEADLINE_EXCEEDED after
                           // this time; 0: no limit
  int32_t trace;           // 1: measure the start and end of every command
  int32_t reserved;        // 0
  partita_cancel* cancel;  // or NULL
} partita_run_options;

static inline partita_run_options partita_run_options_default(void) {
  partita_run_options options;
  memset(&options, 0, sizeof(options));
  options.struct_size = sizeof(options);
  return options;
}

// Runs one step from start to end. `options` may be NULL: the defaults.
// PARTITA_FAILED_PRECONDITION, with its name, for an input that is neither set
// nor bound. The message of a failed step names device, stream and command;
// outputs are then undefined. One at a time.
PARTITA_API partita_code partita_session_run(partita_session* session,
                                             const partita_run_options* options,
                                             partita_status* status);
// Starts a step with the present bindings and returns its number. Up to
// partita_session_depth steps are in flight; if that is more than one, every
// output must be bound. PARTITA_FAILED_PRECONDITION otherwise.
//
// Steps in flight end together: after an error, a request of a cancel or the
// end of a timeout in one of them, partita_session_wait returns that error for
// each of them, also for one that was complete. Until the last of them has been
// waited for, no other step starts: PARTITA_FAILED_PRECONDITION.
// One at a time.
PARTITA_API partita_code partita_session_submit(
    partita_session* session, const partita_run_options* options,
    uint64_t* step, partita_status* status);
// Waits for the oldest step in flight, which must be `step`, and returns its
// error if it failed: it is then no longer in flight. Its outputs are complete.
// One at a time.
PARTITA_API partita_code partita_session_wait(partita_session* session,
                                              uint64_t step,
                                              partita_status* status);

// Writes the last step that has ended, in Chrome's trace format, to another
// name, then renames the file. PARTITA_FAILED_PRECONDITION if that step failed,
// ran without partita_run_options.trace, or belonged to another entry, and
// while steps are in flight. One at a time.
PARTITA_API partita_code partita_session_write_trace(partita_session* session,
                                                     const char* path,
                                                     partita_status* status);

// --- variables: what steps update, such as weights in training ---

// One at a time.
PARTITA_API partita_code partita_session_num_variables(partita_session* session,
                                                       size_t* variables,
                                                       partita_status* status);
// Valid until the session is freed. One at a time.
PARTITA_API partita_code partita_session_variable_name(partita_session* session,
                                                       size_t variable,
                                                       const char** name,
                                                       partita_status* status);
// As partita_session_input_type. One at a time.
PARTITA_API partita_code partita_session_variable_type(partita_session* session,
                                                       size_t variable,
                                                       partita_tensor* type,
                                                       partita_status* status);
// Copies the variable to value->data, which has its dtype and shape.
// PARTITA_FAILED_PRECONDITION while steps are in flight; PARTITA_NOT_FOUND for
// a variable that no entry of the plan reads. One at a time.
PARTITA_API partita_code partita_session_read_variable(
    partita_session* session, size_t variable, const partita_tensor* value,
    partita_status* status);
// The reverse, on all devices that have the variable. After an error of a
// device the variable is undefined. One at a time.
PARTITA_API partita_code partita_session_write_variable(
    partita_session* session, size_t variable, const partita_tensor* value,
    partita_status* status);
// Resets variables to their initial values; a failed session works again.
// PARTITA_FAILED_PRECONDITION while steps are in flight. One at a time.
PARTITA_API partita_code partita_session_restore(partita_session* session,
                                                 partita_status* status);

// --- memory ---

// Of one device, in bytes.
typedef struct partita_memory {
  size_t struct_size;  // sizeof(partita_memory)
  int64_t arena;       // persistent + depth * step, as the plan states
  int64_t persistent;  // constants and variables in the arena
  int64_t step;        // the values of one step in the arena
  int64_t depth;       // steps that may be in flight; a number, not bytes
  int64_t allocated;   // of the arena, now in use
  int64_t peak;        // the most that was in use
  int64_t reserved;    // taken for the arena from the driver or the system
  int64_t staging;     // page-locked memory of the host
  int64_t in_place;    // constants that are read outside the arena
  int64_t committed;   // pages of the arena that were accessed
  int64_t limit;       // the most that the plan may use of the device
  // As the driver reports it for memory that is the device's own; otherwise 0.
  int64_t device_total;
  int64_t device_free;
  int64_t device_outside;  // in use outside the arena, by all processes
} partita_memory;

static inline partita_memory partita_memory_empty(void) {
  partita_memory memory;
  memset(&memory, 0, sizeof(memory));
  memory.struct_size = sizeof(memory);
  return memory;
}

// Devices of the plan. One at a time.
PARTITA_API partita_code partita_session_num_devices(partita_session* session,
                                                     size_t* devices,
                                                     partita_status* status);
// "gpu:0". Valid until the session is freed. One at a time.
PARTITA_API partita_code partita_session_device_name(partita_session* session,
                                                     size_t device,
                                                     const char** name,
                                                     partita_status* status);
// Fills `memory` with the figures of now. The caller sets struct_size before.
// PARTITA_UNAVAILABLE or PARTITA_INTERNAL if a driver does not report them.
// One at a time.
PARTITA_API partita_code partita_session_memory(partita_session* session,
                                                size_t device,
                                                partita_memory* memory,
                                                partita_status* status);

// NOLINTEND(readability-identifier-naming)

#ifdef __cplusplus
}
#endif

#endif  // PARTITA_PARTITA_C_API_H_
