// Runs beside each other, from their folders: what differs in their settings, what came of them, where two part.
#pragma once

#include <string>
#include <vector>

#include "engine/io/files/safetensors.h"
#include "nn/fields.h"
#include "train/report/page.h"
#include "train/run/log.h"

namespace mote {

/// What a run's folder tells without its model or its data.
struct RunRecord {
  std::string name;           ///< of the folder
  FieldValues settings = {};  ///< as its newest checkpoint keeps them
  std::vector<StepReport> steps = {};
  std::vector<EvaluationReport> evaluations = {};
  double seconds = 0;        ///< until its last checkpoint, all processes together
  std::string problem = {};  ///< why it cannot be read; "" if it can
};

/// Errors: there is no run; a log that cannot be read.
RunRecord read_run(const std::string& folder);
/// Of every folder in this one that is a run's, by name. One that cannot be read has its name and its problem.
std::vector<RunRecord> read_runs(const std::string& folder);

/// A row for each run that could be read: the settings in which they differ, steps, losses, the fraction of right
/// answers, seconds.
ReportTable runs_table(const std::vector<RunRecord>& runs);
/// That table and the curves of all runs, as a page.
std::string runs_html(const std::string& title, const std::vector<RunRecord>& runs);

/// The elements of a tensor, of any type that mote reads.
std::vector<double> numbers_of(const SafetensorsFile& file, const TensorEntry& tensor);
/// How a tensor of `a` differs from the one of its name in `b`: "" if in no bit. Of numbers it says the largest |a -
/// b|, the largest |a - b| / max(|a|, |b|), in how many elements, and which is the first.
std::string tensor_difference(const SafetensorsFile& a, const TensorEntry& tensor, const SafetensorsFile& b);

/// Where two runs part. It names settings that differ. It names the first step and the first evaluation of both that
/// differ, and how many only one of them has. Of the first pair of checkpoints that differ it names the first tensor
/// and element, else the first text. Equal settings give equal bits, so whatever it finds has a cause: other data,
/// another version of mote, a machine at fault. Empty: nothing differs.
std::vector<std::string> first_differences(const std::string& folder, const std::string& other);

}  // namespace mote
