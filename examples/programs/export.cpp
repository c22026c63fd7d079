// Hands a run over to another trainer, with all that it goes on from: weights, optimizer, random state, settings, data.
// The road there and back: train/README.md.
#include <filesystem>
#include <iostream>

#include "examples/programs/saved_run.h"
#include "models/gpt_files.h"
#include "models/names.h"
#include "train/run/run_state.h"
#include "train/text/text_task.h"

using namespace mote;

namespace {

/// Tokens as nanoGPT reads them.
void write_tokens(const std::string& path, const std::vector<std::uint32_t>& ids, Index vocab) {
  check(vocab <= 65536, "nanoGPT keeps tokens in two bytes, and there are ", vocab);
  std::string bytes;
  for (const std::uint32_t id : ids) bytes += {static_cast<char>(id), static_cast<char>(id >> 8)};
  write_file(path, bytes);
}

void export_run(const std::string& run, const std::string& target, const std::string& folder) {
  const std::string path = is_folder(run) ? newest_checkpoint(run) : run;
  check(!path.empty(), "there is no checkpoint in ", run);
  const SafetensorsFile file(path);
  const RunSettings s = read_settings(file);
  const std::unique_ptr<Task> task = s.make_task();
  GPT model = s.new_model(*task, Init::none(Generator(0)));
  const RunState state = read_run_state(path, model, *make_optimizer(s.recipe, model));
  make_folder(folder);
  if (target == "nanogpt") {
    FieldValues all = saved_settings(file);
    all.emplace_back("data_state", saved_state(file));
    save_torch(folder + "/ckpt.pt",
               nanogpt_checkpoint(model, nanogpt_names(model), nanogpt_args(model.config), s.recipe, state, all));
    if (const auto* const text = dynamic_cast<const TextTask*>(task.get())) {
      write_tokens(folder + "/train.bin", text->data().train.ids, text->vocab_size());
      write_tokens(folder + "/val.bin", text->data().held_out.ids, text->vocab_size());
    }
  } else if (target == "huggingface") {
    save_huggingface(model, folder);
    const GPT same = with_biases(model);
    save_trainer_state(folder, same, huggingface_names(same), s.recipe, state);
  } else {
    check(s.recipe.optimizer == OptimizerKind::adamw, "there the optimizer is AdamW, not ", s.recipe.optimizer);
    const std::string step = std::to_string(100'000'000 + state.steps).substr(1);
    save_llmc(model, folder + "/model_" + step + ".bin");
    save_llmc_state(model.config, folder + "/state_" + step + "_00000.bin", state.steps, state.optimizer.arrays);
    write_file(folder + "/DONE_" + step, "");
  }
  if (const Tokenizer* const words = task->tokenizer()) save_vocabulary(*words, folder);
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argv[0], [&] {
    const std::string target = argc == 5 && argv[2] == std::string("--to") ? argv[3] : "";
    if (target != "nanogpt" && target != "huggingface" && target != "llmc")
      throw UsageError(
          "RUN --to nanogpt|huggingface|llmc DIR: a run of train for another trainer; see train/README.md");
    const std::string folder = argv[4], part = folder + ".part";  // whole or not at all
    check(!is_folder(folder) && !file_exists(folder), folder, " is there already: choose another folder");
    check(!is_folder(part), part, " is there already: remove what is left of another export");
    try {
      export_run(argv[1], target, part);
      std::filesystem::rename(part, folder);
      std::cout << "the run is in " << folder << ", as " << target << " reads it\n";
    } catch (...) {
      std::filesystem::remove_all(part);
      throw;
    }
    return 0;
  });
}
