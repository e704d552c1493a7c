// A C99 program over the whole API: compiles, writes, loads and runs a plan.
// SPDX-License-Identifier: Apache-2.0

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "partita/c_api.h"

// Ends the program with the line and the message of a wrong call.
static void Expect(int line, int holds, const partita_status* status) {
  if (holds) return;
  fprintf(stderr, "c99_test.c:%d: %s\n", line, partita_status_message(status));
  exit(1);
}
#define EXPECT(condition) Expect(__LINE__, (condition), status)

static const char kModel[] =
    "graph @sum(%a: f32[3], %b: f32[3]) -> f32[3] {\n"
    "  %y = add %a, %b : f32[3]\n"
    "  return %y\n"
    "}\n";

static const char kMachine[] =
    "{\"name\": \"one\", \"devices\": [{\"name\": \"cpu:0\", \"kind\": "
    "\"cpu\", \"memory\": \"1 MiB\", \"peak_flops\": {\"f32\": 1e11}, "
    "\"memory_bandwidth\": 1e10}]}";

static void PathOf(const char* name, char* path, size_t size) {
  const char* folder = getenv("TEST_TMPDIR");
  snprintf(path, size, "%s/%s", folder == NULL ? "/tmp" : folder, name);
}

static void WriteText(const char* path, const char* text) {
  FILE* file = fopen(path, "w");
  if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0) exit(2);
}

// Compiles the model and writes the plan to `path`.
static void Compile(const char* path, partita_status* status) {
  char model[512], machine[512], option[600];
  const char* options[2];
  partita_plan* plan = NULL;
  PathOf("sum.graph", model, sizeof(model));
  PathOf("one.json", machine, sizeof(machine));
  WriteText(model, kModel);
  WriteText(machine, kMachine);
  snprintf(option, sizeof(option), "machine=%s", machine);
  options[0] = option;
  options[1] = "strategy=single";
  EXPECT(partita_compile(model, options, 2, &plan, status) == PARTITA_OK);
  EXPECT(partita_plan_write(plan, path, status) == PARTITA_OK);
  EXPECT(partita_plan_free(plan) == PARTITA_OK);
}

static void SetInput(partita_session* session, const char* name,
                     const float* values, partita_status* status) {
  size_t input = 0;
  partita_tensor tensor = partita_tensor_empty();
  EXPECT(partita_session_find_input(session, name, &input, status) ==
         PARTITA_OK);
  EXPECT(partita_session_input_type(session, input, &tensor, status) ==
         PARTITA_OK);
  EXPECT(tensor.dtype == PARTITA_F32 && tensor.rank == 1 &&
         tensor.dims[0] == 3 && tensor.bytes == 3 * sizeof(float));
  tensor.data = (void*)values;
  EXPECT(partita_session_set_input(session, input, &tensor, status) ==
         PARTITA_OK);
}

static void Run(partita_session* session, partita_status* status) {
  const float a[3] = {1, 2, 3}, b[3] = {10, 20, 30};
  float y[3] = {0, 0, 0};
  partita_tensor output = partita_tensor_empty();
  SetInput(session, "a", a, status);
  SetInput(session, "b", b, status);
  EXPECT(partita_session_output_type(session, 0, &output, status) ==
         PARTITA_OK);
  output.data = y;
  EXPECT(partita_session_bind_output(session, 0, &output, status) ==
         PARTITA_OK);
  EXPECT(partita_session_run(session, NULL, status) == PARTITA_OK);
  EXPECT(y[0] == 11 && y[1] == 22 && y[2] == 33);
  output.dims[0] = 4;
  EXPECT(partita_session_bind_output(session, 0, &output, status) ==
         PARTITA_INVALID_ARGUMENT);
  EXPECT(strcmp(partita_status_message(status),
                "output y: found f32[4]; expected f32[3]") == 0);
}

int main(void) {
  char path[512];
  partita_plan* plan = NULL;
  partita_session* session = NULL;
  partita_session_options options = partita_session_options_default();
  partita_memory memory = partita_memory_empty();
  partita_status* status = partita_status_new();
  if (status == NULL || partita_api_version() < PARTITA_API_VERSION) return 2;
  PathOf("sum.plan", path, sizeof(path));
  Compile(path, status);
  EXPECT(partita_plan_load(path, &plan, status) == PARTITA_OK);
  options.devices = PARTITA_DEVICES_VIRTUAL;
  EXPECT(partita_session_new(plan, &options, &session, status) == PARTITA_OK);
  EXPECT(partita_plan_free(plan) == PARTITA_OK);
  Run(session, status);
  EXPECT(partita_session_memory(session, 0, &memory, status) == PARTITA_OK);
  EXPECT(memory.arena == memory.persistent + memory.depth * memory.step);
  EXPECT(partita_session_free(session) == PARTITA_OK);
  EXPECT(partita_status_free(status) == PARTITA_OK);
  return 0;
}
