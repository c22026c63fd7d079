// A model of the layer in token_mix.h learns the task in neighbours.h.
#include <iostream>

#include "engine/engine.h"
#include "neighbours.h"
#include "nn/nn.h"
#include "token_mix.h"
#include "train/train.h"

namespace starter {

/// The logits of each position's label: ids [B, T] -> [B, T, V].
struct Adder : Layer<Adder> {
  Embedding wte;
  TokenMix mix;
  Linear lm_head;
  Adder(Index vocabulary, Index width, const Init& init)
      : wte(vocabulary, width, init), mix(width, 4 * width, init), lm_head(width, vocabulary, init) {}
  Tensor forward(const IntArray& ids) const { return lm_head(mix(wte(ids))); }
  void visit(Visitor& v) override {
    v("wte", wte);
    v("mix", mix);
    v("lm_head", lm_head);
  }
};

}  // namespace starter

int main() {
  return mote::run_main([] {
    const starter::NeighboursTask task;
    starter::Adder model(task.vocab_size(), 32, mote::Generator(1));
    mote::Run run(task, mote::subject_of(model), task.recipe());
    run.train([](const mote::RunEvent& report) { std::cout << report << "\n"; });
    return run.ending() && run.ending()->answers->fraction() >= task.outcome().least ? 0 : 1;
  });
}
