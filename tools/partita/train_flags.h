// The flags of `partita train`, in the groups of --help.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_TRAIN_FLAGS_H_
#define PARTITA_TOOLS_PARTITA_TRAIN_FLAGS_H_

#include "graph/builder/inference_training.h"
#include "graph/builder/update_rule.h"
#include "partita/options/arguments.h"
#include "partita/options/placing_flags.h"
#include "tools/partita/cuda_libs_flag.h"
#include "tools/partita/memory_report.h"
#include "tools/partita/model_input.h"
#include "tools/partita/train_model_flags.h"
#include "tools/partita/train_request.h"

namespace partita {

inline constexpr FlagDef kTrainDataFlags[] = {
    {"images", "FILE",
     "what to train on: IDX, plain or gzip, .npy, or .npz with an array images",
     nullptr, FileUse::kReads, false, nullptr, kSampleFiles},
    {"labels", "FILE",
     "what each image or sample is; a .npz has an array labels", nullptr,
     FileUse::kReads, false, nullptr, kSampleFiles},
    {"test-images", "FILE", "evaluate on these after each epoch", nullptr,
     FileUse::kReads, false, nullptr, kSampleFiles},
    {"test-labels", "FILE", "what each of these is", nullptr, FileUse::kReads,
     false, nullptr, kSampleFiles},
    {"input", "NAME=FILE",
     "of an ONNX model: IDX, .npy, .npz with an array NAME, or .csv; one for "
     "each input",
     nullptr, FileUse::kReadsBound, true, nullptr, kSampleFiles},
    {"test-input", "NAME=FILE", "the same, to evaluate on", nullptr,
     FileUse::kReadsBound, true, nullptr, kSampleFiles},
    {"label-column", "NAME",
     "of a .csv file of labels: the column, or its number from 1; of an "
     "input in the same file the others"},
    {"text", "FILE", "the text to train on, in UTF-8; repeatable", nullptr,
     FileUse::kReads, true},
    {"test-share", "X", "of the text, its end, to evaluate on (default 0.1)"},
    {"mean", "X[,X..]",
     "subtracted from inputs, bytes as 0..1; one for all, or one for each "
     "channel; the model's own if left out"},
    {"stddev", "X[,X..]",
     "by which they are divided after that; the model's own if left out"},
    {"batch", "N", "samples of a step; the model's own if left out"},
    {"drop-last", nullptr,
     "leave out an epoch's last batch if it is not whole; default: pad it with "
     "samples that do not count"},
    {"workers", "N",
     "threads that read batches ahead: 1 to 64 (default 1); no effect on the "
     "numbers"},
};

inline constexpr FlagDef kTrainNetworkFlags[] = {
    {"classes", "N", "of builtin:resnet18 (default 10)"},
    {"batch-norm", "KIND",
     "of builtin:resnet18 and ONNX models, by what statistics: per-replica, as "
     "PyTorch's DistributedDataParallel (default with --replicas), or those of "
     "the whole batch, synchronised (default without)",
     BatchNormKinds},
    {"layers", "N", "of builtin:gpt: blocks (default 4)"},
    {"width", "N", "numbers for each character, with --text (default 128)"},
    {"heads", "N", "of builtin:gpt: of attention (default 4)"},
    {"context", "N", "characters seen at once; the model's own if left out"},
    {"untied", nullptr, "of builtin:gpt: separate weights for the scores"},
    {"dropout", "X",
     "the probability of dropping a number; the model's own if left out"},
};

inline constexpr FlagDef kTrainStepFlags[] = {
    {"epochs", "N", "how often every sample is seen (default 10)"},
    {"seed", "N", "of weights, dropout and the samples' order (default 1)"},
    {"loss", "NAME", "of an ONNX model: cross-entropy (default), nll or mse",
     LossNames},
    {"label-smoothing", "X",
     "the share of a label's weight that is spread over all classes (default "
     "0)"},
    {"optimizer", "NAME",
     "sgd, adam, adamw, adagrad or rmsprop; the model's own if left out",
     OptimizerNames},
    {"learning-rate", "X", "the largest; the model's own if left out"},
    {"momentum", "X", "of sgd and rmsprop; the model's own if left out"},
    {"nesterov", nullptr, "of sgd: Nesterov's momentum"},
    {"weight-decay", "X",
     "of the optimizer; if left out the model's own, or 0.01 with an adamw "
     "that is not the model's own"},
    {"schedule", "NAME",
     "of the learning rate: constant (default), step, exponential or cosine",
     ScheduleNames},
    {"decay-factor", "X",
     "by which the rate falls: each time (step: 0.7), each step "
     "(exponential: 0.999) or to the end (cosine: 0)"},
    {"decay-steps", "N",
     "between two falls (step: an epoch) or to the end (cosine: all epochs)"},
    {"warm-up", "N", "steps over which the rate grows first (default 0)"},
    {"clip-norm", "X", "the largest 2-norm of all gradients (0: no limit)"},
    {"precision", "NAME",
     "of matrix products and convolutions, forward and backward: f32 "
     "(default), bf16, or f16 with a scaled loss",
     PrecisionNames},
    {"nan", "stop|continue", "if a loss is not finite (default stop)",
     NanChoices},
    {"virtual", nullptr, "host memory and threads emulate all devices"},
    {"emulated-gpus", nullptr,
     "software runs the GPUs' real code, slowly, and checks every access"},
    {kSplitGpuFlag, "N",
     "each GPU stands for N devices of the plan, in their order (default 1)"},
    kCudaLibsFlag,
};

inline constexpr FlagDef kTrainResultFlags[] = {
    // Written, but perhaps over the file of --resume.
    {"checkpoint", "FILE", "keep the training there, as safetensors"},
    {"every", "STEPS", "how often; once an epoch if left out"},
    {"resume", "FILE", "continue the training of this checkpoint", nullptr,
     FileUse::kReads, false, nullptr, kCheckpointFiles},
    {"another-plan", nullptr,
     "with --resume: use other devices, strategy or pins; numbers then differ "
     "by rounding"},
    {"export", "FILE", "write the trained model as ONNX", nullptr,
     FileUse::kWritesModel},
    {"export-batch", "N",
     "the batch of the exported model; that of the training if left out"},
    {"plan", "FILE",
     "write the proved plan, print the report of `partita compile`, and end "
     "before the first step",
     nullptr, FileUse::kWrites},
    {"sample", "N", "characters to write at the end, with --text"},
    {"temperature", "X",
     "of the writing (default 1; 0: the most likely character)"},
    {"csv", "FILE",
     "write step, epoch, loss and the seconds of training until then, for each "
     "step",
     nullptr, FileUse::kWrites},
    {"trace", "FILE",
     "write the last step's measured timeline in Chrome's format, at the end",
     nullptr, FileUse::kWrites},
    kMemorySnapshotFlag,
    {"json", nullptr, "report as JSON"},
};

inline constexpr auto kTrainFlags =
    JoinFlags(kTrainDataFlags, kTrainNetworkFlags, kModelFlags, kTrainStepFlags,
              kPlacementFlags, kTrainResultFlags);

inline constexpr FlagGroup kTrainFlagGroups[] = {
    {"data", kTrainDataFlags},
    {"model", kTrainNetworkFlags},
    {"shapes of an ONNX model", kModelFlags},
    {"training", kTrainStepFlags},
    {"placement", kPlacementFlags},
    {"output", kTrainResultFlags},
};

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_TRAIN_FLAGS_H_
