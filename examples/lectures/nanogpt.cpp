// The run for a computer without a GPU in nanoGPT's README. A GPT of 0.8 million parameters learns tiny Shakespeare,
// character by character, in 2,000 steps. nanoGPT draws weights and batches from one stream, that of
// torch.manual_seed(1337).
#include "examples/lectures/nanogpt.h"
#include "examples/lectures/characters.h"
#include "examples/lectures/nanogpt_picture.h"
#include "models/models.h"
#include "nn/nn.h"
#include "train/train.h"

using namespace mote;

namespace {

/// Changes one weight, to show how much the printed lines depend on it.
void add_to_first_weight(const GPT& model, double added) {
  const Parameter weight = parameters(model).front();
  std::vector<real> values = weight.value().to_vector();
  values.front() += static_cast<real>(added);
  weight.set(Array(weight.shape(), values));
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argv[0], [&] {
    std::string path, picture;
    Index seed = 1337, max_iters = 2000;
    double added = 0;
    read_data_words(
        argc, argv,
        "FILE: tiny Shakespeare, 1,115,394 bytes [SEED] [STEPS] [ADDED to the first weight] [PICTURE.svg of the lines]",
        path, seed, max_iters, added, picture);
    const Characters text(lecture_file(path, 1'115'394));

    const Generator random(seed);
    GPT model = NanoGPTRun::new_model(65, random);
    if (added != 0) add_to_first_weight(model, added);

    NanoGPTRun run(model, text.ids, random);
    Lines line("nanogpt");
    while (run.steps() <= max_iters)
      for (const std::string& printed : run.step().lines) line(printed);
    if (!picture.empty()) write_file(picture, nanogpt_picture(line.pairs()));
    return line.summary(max_iters >= 2000);
  });
}
