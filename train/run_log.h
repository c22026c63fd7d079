// What a run tells of itself, as lines of JSON: one for every step, one for every evaluation.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "train/fit.h"

namespace mote {

/// What a model did on data that it was not trained on, at one moment.
struct EvaluationReport {
  /// A question and what the model answered; a beginning and how it went on, which nothing makes right or wrong.
  struct Sample {
    std::string question, answer;
    std::optional<bool> right = {};
  };
  Index step = 0;   ///< steps taken
  double loss = 0;  ///< mean over batches
  /// Shares of questions, held out and from training, that were answered without a single wrong symbol.
  std::optional<double> exact_match = {}, train_exact_match = {};
  std::vector<Sample> samples = {};
  std::vector<std::vector<std::string>> heads = {};  ///< of each layer and head, as attention_levels() has it
};

/// {"step":1,"loss":2.5,"learning_rate":0.001,"grad_norm":0.7}: steps count from 1, as the number of steps taken does.
/// A number that is not finite is null; bytes that are no UTF-8 become U+FFFD.
std::string log_line(const StepReport& report);
std::string log_line(const EvaluationReport& report);

/// All lines of such a file; nothing if there is none. null reads as NaN. Errors: one sentence with file and line.
std::vector<StepReport> read_steps(const std::string& path);
std::vector<EvaluationReport> read_evaluations(const std::string& path);

}  // namespace mote
