// Splits a text into a training set and a test set.
// SPDX-License-Identifier: Apache-2.0

#include "partita/train/text_model.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/status_macros.h"
#include "graph/text/number_text.h"
#include "partita/train/batch_inputs.h"
#include "runtime/dataset/text_dataset.h"
#include "runtime/dataset/vocabulary.h"
#include "runtime/tensor_file/bad_file.h"

namespace partita {
namespace {

std::string SourceOf(const std::vector<std::string>& files) {
  if (files.size() == 1) return files[0];
  return absl::StrCat(files[0], " and ", files.size() - 1, " more");
}

absl::StatusOr<TrainingData> WindowsOf(std::vector<int32_t> tokens,
                                       int64_t context,
                                       const std::string& source) {
  absl::StatusOr<SharedDataset> windows =
      TextDataset(std::move(tokens), {.length = context,
                                      .input_field = "tokens",
                                      .target_field = kLabelField});
  if (!windows.ok()) return AtPlace(source, windows.status());
  return TrainingData{*std::move(windows), source};
}

// Checks that a window fits, which it would in the whole text.
absl::Status CheckPart(size_t tokens, size_t of, int64_t context,
                       double test_share, const std::string& place) {
  const auto fits = [&](size_t count) {
    return static_cast<int64_t>(count) > context;
  };
  if (fits(tokens) || !fits(of)) return absl::OkStatus();
  return BadFile(place,
                 absl::StrCat(tokens, " of ", of, " tokens by test-share ",
                              DoubleText(test_share)),
                 absl::StrCat("at least ", context, " + 1"),
                 "choose another share, more text or shorter windows");
}

// The end of the text is the test set.
absl::Status Divide(std::vector<int32_t> tokens, int64_t context,
                    const TextModelOptions& options, TrainableModel& model) {
  const std::string source = SourceOf(options.files);
  const auto first_of_test =
      tokens.end() - static_cast<int64_t>(static_cast<double>(tokens.size()) *
                                          options.test_share);
  const size_t whole = tokens.size();
  if (options.test_share > 0) {
    const std::string end = "end of " + source;
    std::vector<int32_t> held_out(first_of_test, tokens.end());
    PARTITA_RETURN_IF_ERROR(
        CheckPart(held_out.size(), whole, context, options.test_share, end));
    PARTITA_ASSIGN_OR_RETURN(model.test,
                             WindowsOf(std::move(held_out), context, end));
  }
  tokens.erase(first_of_test, tokens.end());
  PARTITA_RETURN_IF_ERROR(
      CheckPart(tokens.size(), whole, context, options.test_share, source));
  PARTITA_ASSIGN_OR_RETURN(model.train,
                           WindowsOf(std::move(tokens), context, source));
  return absl::OkStatus();
}

// For a network with the vocabulary, the update and the seed.
template <typename Options>
using BuildNetwork = absl::StatusOr<Module> (*)(const Options& network);

// Data, training and writing; the caller adds the settings that differ between
// networks.
template <typename Options>
absl::StatusOr<TrainableModel> OverText(const TextModelOptions& options,
                                        Options network,
                                        BuildNetwork<Options> build) {
  const std::string source = SourceOf(options.files);
  PARTITA_ASSIGN_OR_RETURN(const std::string text, ReadText(options.files));
  PARTITA_ASSIGN_OR_RETURN(
      const Vocabulary vocabulary,
      Vocabulary::OfText(text, Vocabulary::Unit::kCharacters, source));
  PARTITA_ASSIGN_OR_RETURN(std::vector<int32_t> tokens,
                           vocabulary.Encode(text, source));
  const int32_t first = tokens.empty() ? 0 : tokens.back();
  TrainableModel model = {.sample_noun = "window", .batch = network.batch};
  PARTITA_RETURN_IF_ERROR(
      Divide(std::move(tokens), network.context, options, model));
  model.settings = {
      {"width", absl::StrCat(network.width)},
      {"context", absl::StrCat(network.context)},
      {"test-share", DoubleText(options.test_share)},
      {"vocabulary", vocabulary.ToString(), TrainingSetting::Kind::kFollows}};
  network.vocabulary = vocabulary.size();
  model.build = [network, build](const TrainingRecipe& recipe) {
    Options whole = network;
    whole.update = recipe.update;
    whole.seed = recipe.seed;
    return build(whole);
  };
  model.rebatched = [network, build](int64_t batch) {
    Options rebatched = network;
    rebatched.batch = batch;
    return build(rebatched);
  };
  if (options.writing.characters > 0) {
    model.generate = [vocabulary, first,
                      writing = options.writing](Session& session) {
      return WriteText(session, vocabulary, first, writing);
    };
  }
  return model;
}

}  // namespace

absl::StatusOr<TrainableModel> GptModel(const TextModelOptions& options,
                                        GptTrainingOptions network) {
  PARTITA_ASSIGN_OR_RETURN(TrainableModel model,
                           OverText(options, network, GptTraining));
  model.settings.push_back({"layers", absl::StrCat(network.layers)});
  model.settings.push_back({"heads", absl::StrCat(network.heads)});
  model.settings.push_back({"head", network.tied ? "tied" : "untied"});
  model.settings.push_back({"dropout", DoubleText(network.dropout)});
  return model;
}

absl::StatusOr<TrainableModel> LstmModel(const TextModelOptions& options,
                                         LstmTrainingOptions network) {
  return OverText(options, network, LstmTraining);
}

}  // namespace partita
