// Whether a training on `modular_addition` finds waves (Nanda et al. 2023). For each checkpoint of a run, prints how
// uneven the frequencies of the number embeddings are, and how many sums the model gets right.
#include <iostream>
#include <map>

#include "engine/base/number_text.h"
#include "engine/base/table.h"
#include "engine/ops/unary.h"
#include "examples/programs/options.h"
#include "models/fourier.h"
#include "train/run/log.h"
#include "train/run/run_folder.h"
#include "train/run/settings.h"

using namespace mote;
namespace {
void figure(const std::string& folder) {
  std::map<Index, double> right;  // the share of held-out sums that are right, by step
  for (const EvaluationReport& r : read_evaluations(folder + "/evaluations.jsonl"))
    if (r.exact_match) right[r.step] = *r.exact_match;
  std::vector<TableRow> rows{{"step", "held out right", "Gini", "frequencies with a tenth of the numbers' variance"}};
  for (const std::string& name : checkpoint_names(folder)) {
    const SafetensorsFile file(folder + "/" + name);
    const std::string *const modulus = saved_setting(file, "task.modulus"), *const steps = file.find_metadata("steps");
    const TensorEntry* const numbers = file.find("model.transformer.wte.weight");
    check(modulus && steps && numbers, file.name(), " is no checkpoint of a GPT on modular_addition");
    const Tensor shares = frequency_shares(file.array(*numbers).slice(0, 0, std::stoll(*modulus)));  // without "="
    const auto known = right.find(std::stoll(*steps));
    rows.push_back({*steps, known == right.end() ? "" : fixed_text(100 * known->second, 1) + " %",
                    fixed_text(gini(sqrt(shares)), 2), ""});
    for (Index k = 0; k < shares.size(0); ++k)
      if (shares.array().data()[k] >= real(0.1)) rows.back().back() += std::to_string(k + 1) + " ";
  }
  check(rows.size() > 1, "there is no checkpoint in ", folder);
  std::cout << table_text(rows);
}
}  // namespace

int main(int argc, char** argv) {
  return run_program(argv[0], [&] {
    if (argc != 2) throw UsageError("needs the folder of a run: train --task modular_addition --keep 1000 --out_dir F");
    figure(argv[1]);
    return 0;
  });
}
