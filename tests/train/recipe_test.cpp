// Recipes: the optimizers and schedules they name, what they refuse.
#include "train/recipe.h"

#include "models/gpt.h"
#include "tests/tools.h"

namespace mote::test::recipe_test {
namespace {

std::vector<ScheduleKind> all_kinds() {
  std::vector<ScheduleKind> kinds;
  for (const auto& [kind, word] : words(ScheduleKind())) kinds.push_back(kind);
  return kinds;
}

TEST_CASE("recipe: the optimizer it names; AdamW decays matrices only, the others everything") {
  const Linear m(3, 2, Generator(1));
  Recipe r;
  r.learning_rate = 0.25;
  r.weight_decay = 0.5;
  const std::unique_ptr<Optimizer> adamw = make_optimizer(r, m);
  REQUIRE(adamw->groups().size() == 2);
  CHECK(adamw->groups()[0].weight_decay == 0.5);
  CHECK(adamw->groups()[1].weight_decay == 0.0);
  CHECK(adamw->learning_rate() == 0.25);
  CHECK(adamw->state().arrays.empty());
  for (const OptimizerKind kind : {OptimizerKind::adam, OptimizerKind::sgd}) {
    r.optimizer = kind;
    const std::unique_ptr<Optimizer> other = make_optimizer(r, m);
    REQUIRE(other->groups().size() == 1);
    CHECK(other->groups()[0].weight_decay == 0.5);
    CHECK(other->groups()[0].parameters.size() == 2);
    for (const Parameter& p : parameters(m)) p.set_grad(Array::full(p.shape(), 1));
    other->step();
    CHECK(other->state().arrays.size() == (kind == OptimizerKind::adam ? 4u : 0u));
  }
}

TEST_CASE("recipe: muon orthogonalizes hidden matrices and has the betas for the rest") {
  GPTConfig config;
  config.vocab_size = 5, config.block_size = 4, config.n_layer = 1, config.n_head = 1, config.n_embd = 4;
  const GPT m(config, Generator(1));
  Recipe r;
  CHECK(set_field(r, "optimizer", "muon"));
  r.beta1 = 0.5, r.beta2 = 0.75, r.weight_decay = 0.25;
  const std::unique_ptr<Optimizer> o = make_optimizer(r, m);
  REQUIRE(o->groups().size() == 3);
  for (const std::size_t i : {0u, 1u, 2u}) CHECK(o->groups()[i].weight_decay == (i < 2 ? 0.25 : 0));
  for (const Parameter& p : parameters(m)) p.set_grad(Array::full(p.shape(), 1));
  o->step();
  const OptimizerState state = o->state();
  CHECK(state.arrays.contains("transformer.h.0.attn.c_attn.weight.momentum_buffer"));
  CHECK(state.arrays.at("transformer.wte.weight.exp_avg").at({0, 0}) == real(0.5));
  CHECK(state.arrays.at("transformer.ln_f.bias.exp_avg_sq").at({0}) == real(0.25));
}

TEST_CASE("recipe: beta1 and beta2 are the optimizer's") {
  const auto weight_after = [](OptimizerKind kind, double beta1, double beta2) {
    const Linear m(3, 2, Generator(1));
    Recipe r;
    r.optimizer = kind, r.beta1 = beta1, r.beta2 = beta2, r.weight_decay = 0;
    const std::unique_ptr<Optimizer> o = make_optimizer(r, m);
    for (const real g : {real(1), real(2)}) {
      for (const Parameter& p : parameters(m)) p.set_grad(Array::full(p.shape(), g));
      o->step();
    }
    const OptimizerState state = o->state();
    CHECK(state.arrays.at("bias.exp_avg").at({0}) == doctest::Approx((1 - beta1) * (beta1 + 2)));
    CHECK(state.arrays.at("bias.exp_avg_sq").at({0}) == doctest::Approx((1 - beta2) * (beta2 + 4)));
  };
  for (const OptimizerKind kind : {OptimizerKind::adam, OptimizerKind::adamw}) {
    weight_after(kind, 0.9, 0.999);
    weight_after(kind, 0.5, 0.75);
  }
}

TEST_CASE("recipe: cosine falls to a tenth, constant stays, both after the warm-up") {
  Recipe r;
  r.max_iters = 100, r.warmup_iters = 9, r.learning_rate = 1, r.grad_clip = 0.5;
  const FitOptions cosine = fit_options(r);
  CHECK(cosine.steps == 100);
  CHECK(cosine.grad_clip == 0.5);
  CHECK(cosine.schedule(0) == 0.1);
  CHECK(cosine.schedule(9) == 1);
  CHECK(cosine.schedule(100) == 0.1);
  r.schedule = ScheduleKind::constant;
  CHECK(fit_options(r).schedule(0) == 0.1);
  CHECK(fit_options(r).schedule(99) == 1);
  r.warmup_iters = 500;
  CHECK(fit_options(r).schedule(99) == doctest::Approx(100.0 / 501));
  r.schedule = ScheduleKind::cosine;  // the warm-up ends with the training
  CHECK(fit_options(r).schedule(99) == doctest::Approx(100.0 / 101));
  r.schedule = ScheduleKind::wsd;  // and leaves nothing for the decay
  CHECK(fit_options(r).schedule(99) == doctest::Approx(100.0 / 101));
}

TEST_CASE("recipe: lr_decay_iters is where the learning rate has come down, whatever max_iters is") {
  Recipe r;
  r.max_iters = 40, r.warmup_iters = 20, r.learning_rate = 1, r.min_lr = 0.5, r.lr_decay_iters = 100;
  CHECK(fit_options(r).steps == 40);
  CHECK(fit_options(r).schedule(60) == doctest::Approx(0.75));
  r.schedule = ScheduleKind::linear;
  CHECK(fit_options(r).schedule(40) == doctest::Approx(0.875));
  r.schedule = ScheduleKind::wsd;
  CHECK(fit_options(r).schedule(80) == 1);
  CHECK(fit_options(r).schedule(85) == doctest::Approx(0.75));
  for (const ScheduleKind kind : {ScheduleKind::cosine, ScheduleKind::linear, ScheduleKind::wsd}) {
    r.schedule = kind, r.warmup_iters = 20, r.lr_decay_iters = 100;
    for (const Index step : {100, 101, 5000}) CHECK(fit_options(r).schedule(step) == 0.5);
    r.warmup_iters = 500;  // ends there, and nothing is left to come down in
    CHECK(fit_options(r).schedule(99) == doctest::Approx(100.0 / 101));
    CHECK(fit_options(r).schedule(100) == 0.5);
    r.lr_decay_iters = 0;
    CHECK(fit_options(r).schedule(0) == 0.5);
  }
}

TEST_CASE("recipe: a longer training begins with the learning rates of a shorter one") {
  const auto same = [](Recipe r, Index shorter, Index longer) {
    Recipe other = r;
    r.max_iters = shorter, other.max_iters = longer;
    const FitOptions a = fit_options(r), b = fit_options(other);
    bool all = true;
    for (Index step = 0; step < longer; ++step) all = all && a.schedule(step) == b.schedule(step);
    return all;
  };
  Recipe r;
  CHECK(!same(r, 10, 200));  // a cosine has come down at another step
  r.schedule = ScheduleKind::constant;
  for (const Index shorter : {0, 10, 50, 60}) CHECK(same(r, shorter, 200));
  r.lr_decay_iters = 100;
  for (const ScheduleKind kind : all_kinds()) {
    r.schedule = kind;
    for (const Index shorter : {0, 10, 50, 60, 100, 150}) CHECK(same(r, shorter, 200));
  }
}

TEST_CASE("recipe: the most steps there can be") {
  constexpr Index most = std::numeric_limits<Index>::max();
  for (const ScheduleKind kind : all_kinds()) {
    const FitOptions o =
        fit_options({.schedule = kind, .max_iters = most, .learning_rate = 1, .min_lr = 0.5, .warmup_iters = 0});
    CHECK(o.steps == most);
    CHECK((o.schedule(0) == 1 && o.schedule(most / 2) >= 0.5 && o.schedule(most / 2) <= 1));
  }
  const FitOptions down = fit_options(
      {.schedule = ScheduleKind::wsd, .max_iters = most, .learning_rate = 1, .min_lr = 0, .warmup_iters = 0});
  CHECK(down.schedule(most / 20 * 17) == doctest::Approx(0.5).epsilon(0.01));
}

TEST_CASE("recipe: fields by name; what cannot be is refused") {
  Recipe r;
  CHECK(set_field(r, "optimizer", "sgd"));
  CHECK(r.optimizer == OptimizerKind::sgd);
  CHECK(fields_text(Recipe()) ==
        "optimizer = adamw\nschedule = cosine\nmax_iters = 600\nbatch_size = 64\ngradient_accumulation_steps = 1\n"
        "learning_rate = 0.001\nmin_lr = default\nwarmup_iters = 50\nlr_decay_iters = default\n"
        "beta1 = 0.9\nbeta2 = 0.999\n"
        "weight_decay = 0.1\ngrad_clip = 1\nema_decay = 0\neval_interval = 100\neval_iters = 4\n");
  CHECK(Recipe().data_seed == 1);
  CHECK(error_of([&] { set_field(r, "schedule", "square"); }) ==
        "schedule 'square' is none of cosine, linear, wsd, constant");
  CHECK(error_of([] { fit_options({.max_iters = -1}); }) == "recipe: max_iters -1 must be at least 0");
  CHECK(error_of([] { fit_options({.gradient_accumulation_steps = 0}); }) ==
        "recipe: gradient_accumulation_steps 0 must be at least 1");
  CHECK(error_of([] { fit_options({.grad_clip = -1}); }) == "recipe: grad_clip -1 must be at least 0");
  CHECK(error_of([] { fit_options({.eval_interval = -1}); }) == "recipe: eval_interval -1 must be at least 0");
  CHECK(error_of([] { fit_options({.eval_iters = 0}); }) ==
        "recipe: eval_iters 0 must be at least 1, and at most 10000000 sequences in batches of 64");
  CHECK(fit_options({.gradient_accumulation_steps = 3}).gradient_accumulation_steps == 3);
  CHECK(error_of([] { fit_options({.batch_size = 0}); }) == "recipe: batch_size 0 must be 1 to 1000000");
  CHECK(error_of([] { fit_options({.warmup_iters = -1}); }) == "recipe: warmup_iters -1 must be at least 0");
  CHECK(error_of([] { fit_options({.lr_decay_iters = -2}); }) == "recipe: lr_decay_iters -2 must be at least 0");
  CHECK(set_field(r, "lr_decay_iters", "7"));
  CHECK(r.lr_decay_iters == 7);
  CHECK(error_of([] { fit_options({.min_lr = 1}); }) == "recipe: min_lr 1 must be 0 to learning_rate 0.001");
}

}  // namespace
}  // namespace mote::test::recipe_test
