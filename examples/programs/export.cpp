// Exports a run to other programs: its weights for Hugging Face and llm.c, or all that nanoGPT's trainer needs to
// resume the run. train/go_on_in_pytorch.md describes this way and the way back.
#include <filesystem>
#include <iostream>

#include "examples/programs/program.h"
#include "examples/programs/saved_run.h"
#include "models/gpt_files.h"
#include "models/names.h"
#include "train/run/nanogpt.h"
#include "train/text/text_task.h"

using namespace mote;

namespace {

/// Writes tokens as nanoGPT reads them: two bytes each, the low byte first.
void write_tokens(const std::string& path, const std::vector<std::uint32_t>& ids, Index vocab) {
  check(vocab <= 65536, "nanoGPT keeps a token in two bytes, so a vocabulary must have at most 65536 tokens, not ",
        vocab);
  std::string bytes;
  for (const std::uint32_t id : ids) bytes += {static_cast<char>(id), static_cast<char>(id >> 8)};
  write_file(path, bytes);
}

/// Names something in the run that nanoGPT's train.py does not support, so that train.py could not resume the run as
/// mote would. Returns "" if there is nothing.
std::string difference(const RunSettings& s, const RunState& state, const TextTask* text) {
  if (!text) return "data other than a text";
  if (text->options.documents()) return "documents, of which it knows no borders";
  if (std::ssize(text->data().held_out.ids) <= text->block_size()) return "a held-out text shorter than a block";
  return nanogpt_difference(s.recipe, state.steps);
}

/// Writes ckpt.pt, the tokens of a text and nanoGPT's config.py into `folder`, which will be renamed to `named`.
/// Returns lines that say what was written.
std::string export_nanogpt(const SafetensorsFile& file, const RunSettings& s, const Task& task, const GPT& model,
                           const RunState& state, const std::string& folder, const std::string& named) {
  FieldValues all = saved_settings(file);
  all.emplace_back("data_state", saved_state(file));
  const std::string place = std::filesystem::absolute(named).lexically_normal().string();
  const FieldValues args = nanogpt_args(model.config);
  save_torch(folder + "/ckpt.pt", nanogpt_checkpoint(model, nanogpt_names(model), args, s.recipe, state, all, place));

  const auto* const text = dynamic_cast<const TextTask*>(&task);
  if (text) {
    write_tokens(folder + "/train.bin", text->data().train.ids, text->vocab_size());
    write_tokens(folder + "/val.bin", text->data().held_out.ids, text->vocab_size());
  }
  const std::string which = state.averages.empty()
                                ? "its weights are those that were evaluated"
                                : "its weights are those that training goes on from; the averages that were "
                                  "evaluated are in ckpt.pt under mote, ema";
  if (const std::string other = difference(s, state, text); !other.empty())
    return which + "\nthere is no config.py: nanoGPT's train.py has no " + other +
           "; continue_in_torch.py goes on with texts";
  write_file(folder + "/config.py", nanogpt_config_file(args, s.recipe, place));
  return which + "\nnanoGPT's trainer goes on by: python train.py " + place + "/config.py --max_iters=...";
}

/// Writes a run into `folder`, which will be renamed to `named`. Returns a text that says which weights were written.
std::string export_run(const std::string& run, const std::string& target, const std::string& folder,
                       const std::string& named) {
  const std::string path = is_folder(run) ? newest_checkpoint(run) : run;
  check(!path.empty(), "there is no checkpoint in ", run);
  const SafetensorsFile file(path);
  const RunSettings s = read_settings(file);
  const OwnedTask task = s.make_task();
  GPT model = s.new_model(*task, Init::none(Generator(0)));
  const RunState state = read_run_state(path, model, *make_optimizer(s.recipe, model));
  const bool averaged = !state.averages.empty();
  if (const Tokenizer* const words = task->tokenizer()) save_vocabulary(*words, folder);
  if (target == "nanogpt") return export_nanogpt(file, s, *task, model, state, folder, named);

  if (averaged) load_weights(model, path, "ema");
  if (target == "huggingface")
    save_huggingface(model, folder);
  else
    save_llmc(model, folder + "/model.bin");
  return averaged ? "its weights are the averages that were evaluated" : "its weights are those that were evaluated";
}

/// Whether a file of any kind has this name, even a broken symbolic link.
bool is_taken(const std::string& path) { return std::filesystem::exists(std::filesystem::symlink_status(path)); }

}  // namespace

int main(int argc, char** argv) {
  return run_program(argv[0], [&] {
    const std::string target = argc == 5 && argv[2] == std::string("--to") ? argv[3] : "";
    if (target != "nanogpt" && target != "huggingface" && target != "llmc")
      throw UsageError(
          "RUN --to nanogpt|huggingface|llmc DIR: a run of train for other programs; see train/go_on_in_pytorch.md");
    std::string folder = argv[4];
    while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
    const std::string part = folder + ".part";  // renamed at the end, so that an export is there whole or not at all
    check(!is_taken(folder), folder, " is there already: choose another folder");
    check(!is_taken(part), part, " is there already: remove what is left of another export");
    std::error_code failed;
    std::filesystem::create_directory(part, failed);
    check(!failed, "cannot make the folder '", part, "': ", failed.message());
    std::string which;
    try {
      which = export_run(argv[1], target, part, folder);
      std::filesystem::rename(part, folder);
    } catch (...) {
      std::filesystem::remove_all(part);
      throw;
    }
    std::cout << "the run is in " << folder << ", as " << target << " reads it; " << which << "\n";
    return 0;
  });
}
