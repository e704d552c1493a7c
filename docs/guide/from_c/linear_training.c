// Trains a linear model on two virtual devices, each on its shard of the batch.
// SPDX-License-Identifier: Apache-2.0
//
//   linear_training MODEL.graph MACHINE.json

#include <stdio.h>
#include <stdlib.h>

#include "partita/c_api.h"

// Ends the program if a call failed.
static void Check(partita_code code, const partita_status* status) {
  if (code == PARTITA_OK) return;
  fprintf(stderr, "%s: %s\n", partita_code_name(code),
          partita_status_message(status));
  exit(1);
}

static partita_plan* Compile(const char* model, const char* machine,
                             partita_status* status) {
  char machine_option[4096];
  const char* const options[] = {machine_option, "strategy=data"};
  partita_plan* plan = NULL;
  snprintf(machine_option, sizeof(machine_option), "machine=%s", machine);
  Check(partita_compile(model, options, 2, &plan, status), status);
  return plan;
}

// Every step reads the input of that name from `values`.
static void BindInput(partita_session* session, const char* name, void* values,
                      size_t bytes, partita_status* status) {
  size_t input = 0;
  partita_tensor tensor = partita_tensor_empty();
  Check(partita_session_find_input(session, name, &input, status), status);
  Check(partita_session_input_type(session, input, &tensor, status), status);
  tensor.data = values;
  tensor.bytes = bytes;  // fewer than the input has are refused
  Check(partita_session_bind_input(session, input, &tensor, status), status);
}

// Every step writes the only output to `value`.
static void BindOutput(partita_session* session, float* value,
                       partita_status* status) {
  partita_tensor tensor = partita_tensor_empty();
  Check(partita_session_output_type(session, 0, &tensor, status), status);
  tensor.data = value;
  tensor.bytes = sizeof(*value);
  Check(partita_session_bind_output(session, 0, &tensor, status), status);
}

static void PrintMemory(partita_session* session, partita_status* status) {
  size_t devices = 0;
  Check(partita_session_num_devices(session, &devices, status), status);
  for (size_t d = 0; d < devices; ++d) {
    const char* name = NULL;
    partita_memory memory = partita_memory_empty();
    Check(partita_session_device_name(session, d, &name, status), status);
    Check(partita_session_memory(session, d, &memory, status), status);
    printf("%s: arena of %ld bytes, %ld of them persistent\n", name,
           (long)memory.arena, (long)memory.persistent);
  }
}

static void Train(partita_session* session, partita_status* status) {
  float x[5][4] = {
      {1, 0, 0, 1}, {0, 1, 0, 1}, {0, 0, 1, 1}, {1, 1, 0, 0}, {0, 1, 1, 0}};
  float t[5][3] = {{1, 0, 2}, {0, 1, 2}, {1, 1, 2}, {1, 1, 0}, {1, 2, 0}};
  float loss = 0;
  BindInput(session, "x", x, sizeof(x), status);
  BindInput(session, "t", t, sizeof(t), status);
  BindOutput(session, &loss, status);
  for (int step = 1; step <= 1000; ++step) {
    Check(partita_session_run(session, NULL, status), status);
    if (step == 1 || step == 10 || step == 100 || step == 1000) {
      printf("step %4d: loss %.1f\n", step, loss);
    }
  }
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: linear_training MODEL.graph MACHINE.json\n");
    return 2;
  }
  partita_status* status = partita_status_new();
  partita_plan* plan = Compile(argv[1], argv[2], status);
  partita_session* session = NULL;
  partita_session_options options = partita_session_options_default();
  options.devices = PARTITA_DEVICES_VIRTUAL;
  Check(partita_session_new(plan, &options, &session, status), status);
  partita_plan_free(plan);  // the session keeps what it needs
  PrintMemory(session, status);
  Train(session, status);
  partita_session_free(session);
  partita_status_free(status);
  return 0;
}
