// Recipes: the optimizers and schedules they name, what they refuse.
#include "train/loop/recipe.h"

#include "tests/sentences.h"
#include "tests/tools.h"
#include "tests/train/optim/optimizer_cases.h"

namespace mote::test::recipe_test {
namespace {

std::vector<ScheduleKind> all_kinds() {
  std::vector<ScheduleKind> kinds;
  for (const auto& [kind, word] : words(ScheduleKind())) kinds.push_back(kind);
  return kinds;
}

TEST_CASE("recipe: the optimizer it names, with its betas; AdamW decays matrices only, the others everything") {
  for (const OptimizerKind kind : {OptimizerKind::adamw, OptimizerKind::adam, OptimizerKind::sgd})
    for (const double decay : {0.5, 0.0}) {
      const Linear m(3, 2, Generator(1));
      const std::unique_ptr<Optimizer> o = make_optimizer(
          {.optimizer = kind, .learning_rate = 0.25, .beta1 = 0.5, .beta2 = 0.75, .weight_decay = decay}, m);
      CHECK(o->learning_rate() == 0.25);
      REQUIRE(o->groups().size() == (kind == OptimizerKind::adamw ? 2 : 1));
      CHECK(o->groups()[0].weight_decay == decay);
      CHECK(o->groups().back().weight_decay == (kind == OptimizerKind::adamw ? 0 : decay));
      for (const real g : {real(1), real(2)}) {
        for (const Parameter& p : parameters(m)) p.set_grad(Array::full(p.shape(), g));
        CHECK(o->step() == 2);
      }
      const OptimizerState state = o->state();
      CHECK(state.arrays.size() == (kind == OptimizerKind::sgd ? 0 : 4));
      if (kind == OptimizerKind::sgd || decay > 0) continue;  // Adam's decay is part of its moments
      CHECK(state.arrays.at("bias.exp_avg").at({0}) == real(0.5 * 0.5 * 1 + 0.5 * 2));
      CHECK(state.arrays.at("bias.exp_avg_sq").at({0}) == real(0.75 * 0.25 * 1 + 0.25 * 4));
    }
}

TEST_CASE("recipe: muon orthogonalizes hidden matrices and has the betas for the rest") {
  const GPT m(least_gpt(), Generator(1));
  Recipe r;
  CHECK(set_field(r, "optimizer", "muon"));
  r.beta1 = 0.5;
  r.beta2 = 0.75;
  r.weight_decay = 0.25;
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

TEST_CASE("recipe: cosine falls to a tenth, constant stays, both after the warm-up") {
  Recipe r;
  r.max_iters = 100;
  r.warmup_iters = 9;
  r.learning_rate = 1;
  r.grad_clip = 0.5;
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
  r.max_iters = 40;
  r.warmup_iters = 20;
  r.learning_rate = 1;
  r.min_lr = 0.5;
  r.lr_decay_iters = 100;
  CHECK(fit_options(r).steps == 40);
  CHECK(fit_options(r).schedule(60) == doctest::Approx(0.75));
  r.schedule = ScheduleKind::linear;
  CHECK(fit_options(r).schedule(40) == doctest::Approx(0.875));
  r.schedule = ScheduleKind::wsd;
  CHECK(fit_options(r).schedule(80) == 1);
  CHECK(fit_options(r).schedule(85) == doctest::Approx(0.75));
  for (const ScheduleKind kind : {ScheduleKind::cosine, ScheduleKind::linear, ScheduleKind::wsd}) {
    r.schedule = kind;
    r.warmup_iters = 20;
    r.lr_decay_iters = 100;
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
    r.max_iters = shorter;
    other.max_iters = longer;
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
  REFUSES(set_field(r, "schedule", "square"));
  CHECK(set_field(r, "lr_decay_iters", "7"));
  CHECK(r.lr_decay_iters == 7);
  CHECK(fit_options({.gradient_accumulation_steps = 3}).gradient_accumulation_steps == 3);
  const std::pair<Recipe, std::string> refused[] = {
      {{.max_iters = -1}, "max_iters -1 must be at least 0"},
      {{.batch_size = 0}, "batch_size 0 must be 1 to 1000000"},
      {{.gradient_accumulation_steps = 0}, "gradient_accumulation_steps 0 must be at least 1"},
      {{.min_lr = 1}, "min_lr 1 must be 0 to learning_rate 0.001"},
      {{.warmup_iters = -1}, "warmup_iters -1 must be at least 0"},
      {{.lr_decay_iters = -2}, "lr_decay_iters -2 must be at least 0"},
      {{.grad_clip = -1}, "grad_clip -1 must be at least 0"},
      {{.eval_interval = -1}, "eval_interval -1 must be at least 0"},
      {{.eval_iters = 0}, "eval_iters 0 must be 1 to 156250: at most 10000000 sequences, in batches of 64"}};
  for (const auto& [recipe, text] : refused)
    CHECK(error_of([&, wrong = recipe] { fit_options(wrong); }) == "recipe: " + text);
}

}  // namespace
}  // namespace mote::test::recipe_test
