// What happens in a run: steps, evaluations, checkpoints, its end; the first two also as lines of JSON.
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/array/array.h"
#include "train/loop/fit.h"

namespace mote {

/// What a model did on data that it was not trained on, at one moment.
struct EvaluationReport {
  /// A question and what the model answered; a beginning and how it went on, which nothing makes right or wrong.
  struct Sample {
    std::string question, answer;
    std::optional<bool> right = {};
  };
  Index step = 0;   ///< steps taken
  double loss = 0;  ///< mean over the targets of held-out batches
  /// Shares of questions, held out and from training, that were answered without a single wrong symbol.
  std::optional<double> exact_match = {}, train_exact_match = {};
  std::vector<Sample> samples = {};
  std::vector<std::vector<std::string>> heads = {};  ///< of each layer and head, as attention_levels() has it
  std::string note = {};                             ///< what the loss means, Data::loss_note(); not in the log
};

/// A fraction as percents, "99.9 %", rounded down: 100 % is all.
std::string percent_text(double fraction, int digits);

/// How a model answered questions.
struct Answers {
  Index total = 0, exact = 0;
  std::vector<EvaluationReport::Sample> first;
  struct Mistake {
    std::string question, answer, instead_of;
  };
  std::vector<Mistake> mistakes;
  double fraction() const { return total > 0 ? static_cast<double>(exact) / static_cast<double>(total) : 0; }
  /// "12 of 100, 12.0 %", rounded down: 100.0 % are all.
  std::string text() const;
};

/// What a trained model does, at the end of a run.
struct RunEnding {
  Index steps = 0;
  std::optional<Answers> answers = {};  ///< to its questions, if they have right answers
  double loss = 0;                      ///< else: on `loss_of`
  std::string loss_of = {}, loss_note = {};
  std::vector<Index> ids = {};    ///< a held-out example, if it is of tokens
  std::vector<Array> heads = {};  ///< what the heads of each layer attend to there, [H, queries, keys]
};

/// A sentence about what is not as one would expect.
struct RunWarning {
  std::string text;
};

/// A checkpoint that was saved.
struct CheckpointReport {
  Index step = 0;    ///< steps taken
  std::string path;  ///< of its file
};

/// What happens in a run. As text: a line, and one for each sample.
using RunEvent = std::variant<StepReport, EvaluationReport, CheckpointReport, RunWarning, RunEnding>;
std::ostream& operator<<(std::ostream& out, const RunEvent& event);

/// Weights [queries, keys] of a head as text: the number of keys and a colon, then the rows with spaces between them. A
/// key is a letter. A is a weight of 0 or none. B to Z, a to z, 0 to 9, - and _ go up to 1, in 63 equal steps. The As
/// at the end of a row are left out. Errors: no matrix.
std::string attention_levels(const Array& weights);

/// {"step":1,"loss":2.5,"learning_rate":0.001,"grad_norm":0.7}: steps count from 1, as the number of steps taken does.
/// Where layers were measured there follows "layers":[{"layer":"h.0","result":{"mean":0.1,"deviation":1,"zeros":0},
/// "gradient":{...}}],"updates":{"h.0.weight":0.001}. A number that is not finite is null; bytes that are no UTF-8
/// become U+FFFD.
std::string log_line(const StepReport& report);
std::string log_line(const EvaluationReport& report);

/// All whole lines of such a file; nothing if there is none. null reads as NaN. Errors: one sentence with file and
/// line.
std::vector<StepReport> read_steps(const std::string& path);
std::vector<EvaluationReport> read_evaluations(const std::string& path);

}  // namespace mote
