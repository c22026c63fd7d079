// The events of a run: steps, evaluations, checkpoints, warnings, its end. log_line() writes the first two as JSON.
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

/// The result of one evaluation during a run.
struct EvaluationReport {
  /// A question and the model's answer. Without right answers it is a beginning and the model's continuation.
  struct Sample {
    std::string question, answer;
    std::optional<bool> right = {};
  };
  Index step = 0;   ///< steps taken
  double loss = 0;  ///< mean over the targets of held-out batches
  /// Shares of held-out questions and of training questions that were answered without a single wrong symbol.
  std::optional<double> exact_match = {}, train_exact_match = {};
  std::vector<Sample> samples = {};
  std::vector<std::vector<std::string>> heads = {};  ///< attention_levels() of each head, by layer
  std::string note = {};                             ///< Data::loss_note() of the loss; not in the log
};

/// A fraction as a percentage, "99.9 %". It is rounded down, so 100 % means all.
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
  /// The text "12 of 100, 12.0 %". The percentage is rounded down, so 100.0 % means all.
  std::string text() const;
};

/// The final evaluation of a trained model, at the end of a run.
struct RunEnding {
  Index steps = 0;
  std::optional<Answers> answers = {};  ///< if its questions have right answers
  double loss = 0;                      ///< otherwise: the loss on the data that `loss_of` names
  std::string loss_of = {}, loss_note = {};
  std::vector<Index> ids = {};    ///< a held-out example, if the data are tokens
  std::vector<Array> heads = {};  ///< the attention weights on that example, by layer, [H, queries, keys]
};

/// A warning, as a sentence.
struct RunWarning {
  std::string text;
};

/// A checkpoint that was saved.
struct CheckpointReport {
  Index step = 0;    ///< steps taken
  std::string path;  ///< of its file
};

/// An event of a run. As text it is one line, and one more for each sample.
using RunEvent = std::variant<StepReport, EvaluationReport, CheckpointReport, RunWarning, RunEnding>;
std::ostream& operator<<(std::ostream& out, const RunEvent& event);

/// The attention weights [queries, keys] of a head as text: the number of keys and a colon, then the rows with spaces
/// between them. Each key is one letter. A is a weight near 0, or NaN. B to Z, a to z, 0 to 9, - and _ go up to 1, in
/// 63 equal steps. The As at the end of a row are left out. Errors: weights that are not a matrix.
std::string attention_levels(const Array& weights);

/// A report as a line of JSON, {"step":1,"loss":2.5,"learning_rate":0.001,"grad_norm":0.7}. Steps count from 1, as
/// the number of steps taken does. If layers were measured, these follow: "layers":[{"layer":"h.0","result":
/// {"mean":0.1,"deviation":1,"zeros":0},"gradient":{...}}],"updates":{"h.0.weight":0.001}. A number that is not
/// finite becomes null. Bytes that are not UTF-8 become U+FFFD.
std::string log_line(const StepReport& report);
std::string log_line(const EvaluationReport& report);

/// Reads all complete lines of such a file. Without a file there are no reports. null is read as NaN. Errors: a line
/// that cannot be read, in one sentence with file and line.
std::vector<StepReport> read_steps(const std::string& path);
std::vector<EvaluationReport> read_evaluations(const std::string& path);

}  // namespace mote
