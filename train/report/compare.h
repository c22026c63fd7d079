// Compares runs by their folders: a table of their settings and results, and the first difference between two runs.
#pragma once

#include <string>
#include <vector>

#include "engine/io/files/safetensors.h"
#include "nn/fields.h"
#include "train/report/page.h"
#include "train/run/log.h"

namespace mote {

/// The settings and logs of a run, read from its folder without its model or its data.
struct RunRecord {
  std::string name;           ///< name of the folder
  FieldValues settings = {};  ///< saved_settings() of the newest checkpoint
  std::vector<StepReport> steps = {};
  std::vector<EvaluationReport> evaluations = {};
  double seconds = 0;        ///< training time up to the last checkpoint, of all processes together
  std::string problem = {};  ///< why the run cannot be read; "" if it can
};

/// Reads the record of the run in a folder. Errors: there is no run in the folder; a log that cannot be read.
RunRecord read_run(const std::string& folder);
/// The records of all runs in the subfolders of a folder, in the order of their names. The record of a run that cannot
/// be read, or whose newest checkpoint has a wrong checksum, has only its name and its problem.
std::vector<RunRecord> read_runs(const std::string& folder);

/// A table with a row for each run that could be read. Its columns are the settings in which the runs differ, the
/// steps, the losses, the fraction of right answers, and the seconds.
ReportTable runs_table(const std::vector<RunRecord>& runs);
/// An HTML page with the table of runs_table() and the curves of all runs.
std::string runs_html(const std::string& title, const std::vector<RunRecord>& runs);

/// The elements of a tensor as doubles, from any type that mote reads.
std::vector<double> numbers_of(const SafetensorsFile& file, const TensorEntry& tensor);
/// How a tensor of `a` differs from the tensor of the same name in `b`; "" if every bit is equal. For numbers, the
/// text has the largest |a - b|, the largest |a - b| / max(|a|, |b|), the number of elements that differ, and the
/// first of these elements.
std::string tensor_difference(const SafetensorsFile& a, const TensorEntry& tensor, const SafetensorsFile& b);

/// The first differences between two runs, one text for each. The texts name the settings that differ, the first step
/// and the first evaluation that differ, and how many steps and evaluations only one run has. For the first pair of
/// checkpoints that differ, the texts name the first tensor and element, or else the first metadata text. Equal
/// settings give equal bits. So a difference between runs with equal settings has a cause: other data, another version
/// of mote, or a faulty machine. The list is empty if nothing differs and both runs have a checkpoint after the same
/// step.
std::vector<std::string> first_differences(const std::string& folder, const std::string& other);

}  // namespace mote
