// The effect of single changes to `train text_llama`: a model is trained with one change, for the same number of steps.
#include "examples/figures/texts.h"

#include "examples/figures/record.h"
#include "train/tasks/list.h"
#include "train/train.h"

using namespace mote;

int main(int argc, char** argv) {
  return run_program(argv[0], [&] {
    std::string file = "made";
    Part part = Part::all;
    Seeds seeds{1, 1};
    std::optional<Index> steps;
    const std::string usage = "[FILE|made] [" + mote::detail::field_kind(part) + "] [SEEDS: 1 or 1-10] [STEPS]";
    read_words(argc, argv, usage, file, part, seeds, steps);
    const auto task = make_task("text_llama", file == "made" ? FieldValues{} : FieldValues{{"text", file}});
    Recipe recipe = task->recipe();
    recipe.max_iters = steps.value_or(recipe.max_iters);
    if (part == Part::adamw) {
      recipe.optimizer = OptimizerKind::adamw;
      recipe.learning_rate = 0.008;
    }
    if (part == Part::constant) recipe.schedule = ScheduleKind::constant;
    const FitOptions options = fit_options(recipe);
    const auto batch_size = [&](Index step) {
      return part != Part::ramp ? recipe.batch_size : recipe.batch_size * (step < options.steps / 2 ? 1 : 3) / 2;
    };
    std::printf("%s\n          part  seed  held-out loss  seconds  hash of the weights\n", task->description().c_str());
    const std::vector<double> losses = of_seeds(seeds, [&](Index seed) {
      const double begin = seconds_now();
      const Generator batches = run_stream(seed, Draws::batches);
      TextModel model(part, gpt_config(recipe.config, task->vocab_size(), task->block_size()),
                      Generator(static_cast<std::uint64_t>(seed)));
      const auto optimizer = make_optimizer(recipe, model);
      const auto loss = [&](const Batch& b) {
        return MeanLoss(cross_entropy(model(b.ids), b.targets, {.ignore_index = -1}), b.count());
      };
      const auto step = [&](Index i) { return loss(task->batch(batch_size(i), Split::train, batches)); };
      fit(*optimizer, step, options);
      const double seconds = seconds_now() - begin;
      const double held_out = mean_loss(model, task->held_out(recipe.batch_size), loss);
      std::printf("%14s %5d %14.4f %8.0f  %016llx\n", text_of(part).c_str(), static_cast<int>(seed), held_out, seconds,
                  hash_of(parameters(model)));
      return held_out;
    });
    std::printf("worst %.4f, median %.4f\n", largest(losses), median(losses));
    return 0;
  });
}
