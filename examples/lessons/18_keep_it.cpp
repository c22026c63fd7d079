// Lesson 18. Keep it: a killed training goes on from a file as if nothing had happened. What must be in the file?
#include <filesystem>
#include <functional>
#include <vector>

#include "engine/io/files/file.h"
#include "examples/lessons/lesson.h"
#include "models/gpt.h"
#include "train/keep/checkpoint.h"
#include "train/optim/adamw.h"
#include "train/tasks/copy.h"

using namespace mote;

namespace {

constexpr Index steps = 60, died_in = 27, saved_in = 20;
/// The training of a small GPT that learns to repeat four letters, with a checkpoint of everything that the next step
/// depends on. The GPT trains with dropout: in each step a tenth of the numbers inside, drawn at random, is set to 0,
/// so that no number can rely on a single other number.
struct Training {
  GPT model{{.block_size = 8, .vocab_size = 6, .n_layer = 2, .n_head = 2, .n_embd = 24, .dropout = 0.1}, Generator(1)};
  AdamW optimizer{decay_groups(model, 0.1), {.lr = 3e-3}};
  Generator batches{2};
  Index step = 0;
  Checkpoint checkpoint;
  Training() {
    checkpoint.add("model", model);          // the weights, and the random generator of dropout
    checkpoint.add("optimizer", optimizer);  // lesson 14's two means for each weight, and the number of steps
    checkpoint.add("batches", batches);      // the random generator that draws batches
    checkpoint.add("step", step);
  }
  /// Takes a training step and returns its loss. The learning rate falls from step to step, so a step also depends on
  /// its number.
  double take_step() {
    const Batch batch = CopyTask({.symbols = 5, .length = 4}).batch(16, Split::train, batches);
    optimizer.set_learning_rate(3e-3 * (1 - static_cast<double>(step) / static_cast<double>(steps)));
    optimizer.zero_grad();
    const Tensor loss = model.loss(batch.ids, batch.targets);
    loss.backward();
    optimizer.step();
    ++step;
    return number(loss);
  }
  /// Trains until `until` steps are done, and saves the checkpoint after every ten steps. Returns the losses.
  std::vector<double> train(Index until, const std::string& path) {
    std::vector<double> losses;
    while (step < until) {
      losses.push_back(take_step());
      if (step % 10 == 0) checkpoint.save(path);
    }
    return losses;
  }
};

/// A new temporary folder. The destructor removes the folder and its contents.
struct Folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / "mote_keep_it";
  std::error_code ignored;
  Folder() {
    while (!std::filesystem::create_directory(path)) path += "_";  // the name is taken
  }
  ~Folder() { std::filesystem::remove_all(path, ignored); }
};

void look_inside(const std::string& path, const GPT& model) {
  const SafetensorsFile file(path);
  Index weights = 0, means = 0, random = 0;
  for (const TensorEntry& t : file.tensors())
    (t.name.starts_with("optimizer.") ? means : t.dtype == DType::i64 ? random : weights) += t.shape.numel();
  std::printf("\n2. It has %d weights, %d means, %d numbers of random streams, and texts.\n", int(weights), int(means),
              int(random));
  claim(weights == parameter_count(model) && means == 2 * weights, "with the means it is three times the model");
}

void forget(const std::string& path, const std::vector<double>& losses) {
  std::printf("\n3. What if a part is forgotten, and begins afresh?\n");
  const auto without = [&](const std::string& part, const std::function<void(Training&)>& forget_it) {
    Training run;
    run.checkpoint.load(path);
    forget_it(run);
    Index at = saved_in;
    while (at < steps && run.take_step() == losses[static_cast<std::size_t>(at)]) ++at;
    claim(at <= saved_in + 1, "without " + part + " the loss of step " + std::to_string(at) + " is another");
  };
  without("the optimizer's means", [](Training& t) { t.optimizer.set_state(Training().optimizer.state()); });
  without("dropout's random numbers", [](Training& t) { named_streams(t.model)[0].stream.manual_seed(1); });
  without("those of the batches", [](Training& t) { t.batches.manual_seed(2); });
  without("the number of the step", [](Training& t) { t.step = 0; });
  Training bare;
  load_weights(bare.model, path);
  claim(bare.take_step() != losses[saved_in], "with the weights alone the very next loss is another");
}

void damage(const std::string& path, Training& run) {
  const std::string whole = read_file(path, 1 << 24);  // an error if the file is larger than 16 MiB
  std::string changed = whole, why;
  changed[whole.size() / 2] = static_cast<char>(changed[whole.size() / 2] ^ 4);
  write_file(path, changed);
  try {
    run.checkpoint.load(path);
  } catch (const Error& e) {
    why = e.what();
  }
  std::printf("\n4. What if one bit of the file is another?\n%s\n", why.c_str());
  run.checkpoint.save(path);
  claim(!why.empty() && read_file(path, 1 << 24) == whole, "it is refused, and the training has not changed");
}

void lesson() {
  const Folder folder;
  const auto file = [&](const char* name) { return (folder.path / name).string(); };
  Training().train(died_in, file("killed"));  // this training ends with this line; only its file is left
  Training undisturbed, resumed;
  const std::vector<double> losses = undisturbed.train(steps, file("undisturbed"));
  resumed.checkpoint.load(file("killed"));
  const std::vector<double> again = resumed.train(steps, file("resumed"));
  std::printf("1. A training died after 27 steps. Another went on from its file; a third never died. Their losses:\n");
  for (const std::size_t i : {20u, 21u, 59u}) std::printf("   step %zu: %.6f  %.6f\n", i, again[i - 20], losses[i]);
  claim(again == std::vector<double>(losses.begin() + saved_in, losses.end()), "all 40 losses are equal in every bit");
  claim(read_file(file("resumed"), 1 << 24) == read_file(file("undisturbed"), 1 << 24), "and so are their last files");
  look_inside(file("killed"), resumed.model);
  forget(file("killed"), losses);
  damage(file("resumed"), resumed);
  std::printf(
      "\nTry: kill -9 `train copy --out_dir run` and go on by `train --resume run`. What must SGD keep?\n"
      "Now read train/save_and_resume.md, and examples/lessons/19_fill_in.cpp: two more models, "
      "which read what a GPT may not.\n");
}

}  // namespace

int main(int, char** argv) { return run_lesson(argv, lesson, "checkpoint; dropout"); }
