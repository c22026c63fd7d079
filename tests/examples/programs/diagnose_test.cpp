// diagnose(): a healthy model has nothing to look at; of each classic mistake one line says so, and all is put back.
#include "examples/programs/diagnose.h"

#include <doctest/doctest.h>

#include "models/gpt.h"
#include "train/loop/clip.h"
#include "train/optim/sgd.h"

namespace mote::test::diagnose_test {

const Index vocab = 7, length = 6;

struct Rows {
  IntArray ids, targets;
  explicit Rows(Index shift, Index T = length, Index symbols = vocab,
                Index count = 4) {  // target t is symbol t + shift
    const IntArray all = randint(0, symbols, {count, T + 2}, Generator(5));
    ids = all.slice(1, 1, T + 1).contiguous();
    targets = all.slice(1, 1 + shift, T + 1 + shift).contiguous();
  }
};

GPT gpt(double dropout = 0) {
  return GPT({.block_size = length, .vocab_size = vocab, .n_layer = 1, .n_head = 2, .n_embd = 16, .dropout = dropout},
             Generator(1));
}

/// The lines that have to be looked at.
std::string found(const Patient& patient, const Rows& rows = Rows(1)) {
  const std::string all = diagnose(patient, rows.ids, rows.targets);
  std::string look;
  for (std::size_t begin = 0, end; (end = all.find('\n', begin)) != all.npos; begin = end + 1)
    if (all.compare(begin, 4, "LOOK") == 0) look += all.substr(begin, end + 1 - begin);
  return look;
}

Patient of(GPT& model) {
  return {model, [&](const IntArray& ids) { return model(ids); }, {}, 0.01};
}

/// The one line that speaks of this.
void only(const std::string& look, const char* part) {
  CAPTURE(look);
  CHECK(look.find(part) != look.npos);
  CHECK(std::count(look.begin(), look.end(), '\n') == 1);
}

TEST_CASE("diagnose: a healthy model, with dropout or without, has nothing to look at, and is as it was") {
  for (const double dropout : {0.0, 0.2}) {
    GPT model = gpt(dropout);
    const GPT before = model.clone();
    CHECK(found(of(model)) == "");
    CHECK(model.training());
    const std::vector<Parameter> was = parameters(before), is = parameters(model);
    for (std::size_t i = 0; i < is.size(); ++i) {
      CHECK(is[i].value().to_vector() == was[i].value().to_vector());
      CHECK(!is[i].grad().defined());
    }
  }
}

TEST_CASE("diagnose: what is frozen need not change, and what draws goes on as if nothing had been") {
  GPT model = gpt(0.2);
  named_parameters(model).back().parameter.set_trainable(false);
  const NamedStream drawn = named_streams(model)[0];
  const GeneratorState before = drawn.stream.get_state();
  CHECK(found(of(model)) == "");
  CHECK(drawn.stream.get_state() == before);
}

TEST_CASE("diagnose: PyTorch's -100 does not count either, and an error of the training's own is a line") {
  GPT model = gpt();
  Rows rows(1);
  std::fill_n(rows.targets.mutate(), 3, -100);
  CHECK(found(of(model), rows) == "");
  Patient patient = of(model);
  patient.step = [](const IntArray&, const IntArray&) { throw Error("its own"); };
  only(found(patient), "a step of the training ends with an error: its own");
}

TEST_CASE("diagnose: a layer that visit() does not list") {
  struct Forgetful : Layer<Forgetful> {
    Embedding wte{vocab, 16, Generator(1)};
    Linear out{16, vocab, Generator(2)};
    Tensor forward(const IntArray& ids) const { return out(wte(ids)); }
    void visit(Visitor& v) override { v("out", out); }
  };
  Forgetful model;
  const std::string look = found({model, [&](const IntArray& ids) { return model(ids); }, {}, 0.01});
  CHECK(look.find("LOOK  visit() lists what the layers use: ") != look.npos);
  CHECK(look.find("does not list the Embedding that it calls") != look.npos);
}

TEST_CASE("diagnose: targets that are not shifted, or the wrong way") {
  GPT model = gpt();
  only(found(of(model), Rows(0)), "not shifted");
  only(found(of(model), Rows(-1)), "the wrong way");
  only(found(of(model), Rows(0, 2)), "not shifted");
  CHECK(found(of(model), Rows(0, 1)).find("not shifted") != std::string::npos);
  Rows none(1);
  none.targets = IntArray::full(none.ids.shape(), -1);
  only(found(of(model), none), "no target counts");
}

TEST_CASE("diagnose: rows that go on in different ways, weights of zero, or a first rate of 0 are no mistake") {
  GPT model = gpt();
  CHECK(found(of(model), Rows(1, length, 2, 24)) == "");
  for (const NamedParameter& p : named_parameters(model))
    if (p.name.find("c_proj.weight") != std::string::npos) p.parameter.set(Array::zeros(p.parameter.shape()));
  CHECK(found(of(model)) == "");

  GPT slow = gpt();
  Patient patient = of(slow);
  AdamW optimizer(all_parameters(slow), {.lr = 0});
  patient.step = [&](const IntArray& ids, const IntArray& targets) {
    optimizer.zero_grad();
    cross_entropy(slow(ids), targets).backward();
    optimizer.step();
    optimizer.set_learning_rate(std::min(0.01, optimizer.learning_rate() + 0.002));
  };
  CHECK(found(patient) == "");
}

TEST_CASE("diagnose: a weight that is no number") {
  GPT model = gpt();
  parameters(model)[0].set(Array::full(parameters(model)[0].shape(), NAN));
  only(found(of(model)), "MOTE_CHECK=finite");
}

TEST_CASE("diagnose: a loss of first weights that are too large") {
  GPT model = gpt();
  for (const NamedParameter& p : named_parameters(model))
    if (p.name == "lm_head.weight" || p.name == "transformer.wte.weight") p.parameter.set(p.parameter.value() * 100);
  const std::string look = found(of(model));
  CHECK(look.find("smaller first weights") != look.npos);
}

TEST_CASE("diagnose: steps that add gradients up, or leave parameters out") {
  GPT model = gpt();
  Patient patient = of(model);
  bool clears = true;
  SGD all(all_parameters(model), {.lr = 0.1});
  SGD* optimizer = &all;
  patient.step = [&](const IntArray& ids, const IntArray& targets) {
    if (clears) optimizer->zero_grad();
    cross_entropy(model(ids), targets).backward();
    optimizer->step();
  };
  CHECK(found(patient) == "");
  clears = false;
  CHECK(found(patient).find("zero_grad() is missing") != std::string::npos);
  patient.step = [&, plain = patient.step](const IntArray& ids, const IntArray& targets) {
    if (clears) return plain(ids, targets);
    cross_entropy(model(ids), targets).backward();
    clip_grad_norm(parameters(model), 1);
    optimizer->step();
  };
  CHECK(found(patient).find("zero_grad() is missing") != std::string::npos);
  clears = true;
  std::vector<ParameterGroup> groups = all_parameters(model);
  groups[0].parameters.pop_back();
  SGD some(groups, {.lr = 0.1});
  optimizer = &some;
  only(found(patient), "not in the optimizer");
}

TEST_CASE("diagnose: gradients that are cleared after a step are no mistake") {
  GPT model = gpt();
  Patient patient = of(model);
  SGD optimizer(all_parameters(model), {.lr = 0.1});
  patient.step = [&](const IntArray& ids, const IntArray& targets) {
    cross_entropy(model(ids), targets).backward();
    optimizer.step();
    optimizer.zero_grad();
  };
  CHECK(found(patient) == "");
}

}  // namespace mote::test::diagnose_test
