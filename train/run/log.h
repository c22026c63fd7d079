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
  /// A question and the model's answer. If the data have no right answers, as texts do, the question is the beginning
  /// of a text and the answer is the model's continuation.
  struct Sample {
    std::string question, answer;
    std::optional<bool> right = {};
  };
  Index step = 0;   ///< training steps taken before the evaluation
  double loss = 0;  ///< mean over all targets of the held-out batches
  /// The fraction of held-out questions, and the fraction of training questions, whose answers have no wrong symbol.
  std::optional<double> exact_match = {}, train_exact_match = {};
  std::vector<Sample> samples = {};
  std::vector<std::vector<std::string>> heads = {};  ///< attention_levels() of each head, by layer
  std::string note = {};                             ///< Data::loss_note() of the loss; not in the log
};

/// A fraction as a percentage, such as "99.9 %". The percentage is rounded down, so "100 %" means that the fraction is
/// 1.
std::string percent_text(double fraction, int digits);

/// The result of asking a model questions: how many there were, how many answers were exactly right, and examples.
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
  std::optional<Answers> answers = {};  ///< given if the data have right answers
  double loss = 0;                      ///< if `answers` is not given, the loss on the data that `loss_of` names
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
  Index step = 0;    ///< training steps taken before it was saved
  std::string path;  ///< path of its file
};

/// An event of a run. operator<< writes an event as one line of text. The line of an evaluation is followed by its
/// samples.
using RunEvent = std::variant<StepReport, EvaluationReport, CheckpointReport, RunWarning, RunEnding>;
std::ostream& operator<<(std::ostream& out, const RunEvent& event);

/// The attention weights [queries, keys] of a head as text: the number of keys and a colon, then the rows with spaces
/// between them. Each key is one letter, which is its weight rounded to a multiple of 1/63. In rising order, the
/// letters are A to Z, a to z, 0 to 9, - and _, so A is 0 and _ is 1. NaN is A, too. The As at the end of a row are
/// left out. Errors: weights that are not a matrix.
std::string attention_levels(const Array& weights);

/// A report as a line of JSON, such as {"step":1,"loss":2.5,"learning_rate":0.001,"grad_norm":0.7}. "step" is the
/// number of steps taken so far, so the first training step is 1. If layers were measured, these follow: "layers":
/// [{"layer":"h.0","result":{"mean":0.1,"deviation":1,"zeros":0},"gradient":{...}}],"updates":{"h.0.weight":0.001}. A
/// number that is not finite becomes null. Bytes that are not UTF-8 become U+FFFD.
std::string log_line(const StepReport& report);
std::string log_line(const EvaluationReport& report);

/// Reads the reports in all complete lines of a file that log_line() wrote. Returns no reports if the file does not
/// exist. A number that is null is read as NaN. Errors: a line that cannot be read. The message names the file and the
/// line.
std::vector<StepReport> read_steps(const std::string& path);
std::vector<EvaluationReport> read_evaluations(const std::string& path);

}  // namespace mote
