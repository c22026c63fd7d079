// Fit: what it tells and when, early stop, broken losses, schedule, clipping; memory.
#include "train/loop/fit.h"

#include "engine/base/env.h"
#include "engine/ops/ops.h"
#include "models/gpt.h"
#include "tests/process.h"
#include "tests/sentences.h"
#include "tests/tools.h"
#include "train/loop/schedule.h"
#include "train/optim/adamw.h"
#include "train/optim/sgd.h"
#include "train/tasks/copy.h"

namespace mote::test::fit_test {
namespace {

/// w - target, squared: the gradient is 2 (w - target).
struct Valley : Layer<Valley> {
  Parameter w{Array::full({1}, 0)};
  Tensor forward(double target) const {
    const Tensor away = Tensor(w) - static_cast<real>(target);
    return sum(away * away);
  }
  void visit(Visitor& v) override { v("w", w); }
};

/// A valley and the way down it.
struct Descent {
  Valley m;
  SGD optimizer;
  std::vector<StepReport> told;
  explicit Descent(double lr = 0.25) : optimizer(all_parameters(m), {.lr = lr}) {}
  /// Notes what is told; o.on_step may end it.
  double go(FitOptions o, const std::function<Tensor(Index)>& loss) {
    o.on_step = [this, ends = o.on_step](const StepReport& r) {
      told.push_back(r);
      return !ends || ends(r);
    };
    return fit(optimizer, loss, o);
  }
  double go(const FitOptions& o) {
    return go(o, [this](Index) { return m(8); });
  }
};

/// a x + b, of which visit() may forget b.
struct Line : Layer<Line> {
  Parameter a{Array::full({1}, 1)}, b{Array::full({1}, 1)};
  bool lists_b;
  explicit Line(bool all) : lists_b(all) {}
  Tensor forward(const Tensor& x) const {
    const Tensor y = a * x;
    return sum(y + b);
  }
  void visit(Visitor& v) override {
    v("a", a);
    if (lists_b) v("b", b);
  }
};

TEST_CASE("fit: the first step finds a parameter that visit() forgot, and leaves the weights as they were") {
  const Line m(false), complete(true);
  const auto train = [](const Line& line, Optimizer& o) {
    return error_of([&] { fit(o, [&](Index) { return line(Tensor(2)); }, {.steps = 2, .grad_clip = 0}); });
  };
  SGD optimizer(all_parameters(m), {.lr = 0.25});
  CHECK(train(m, optimizer) ==
        "fit: visit() of Line does not list a parameter that it uses, of shape [1]: no optimizer would train it; list "
        "every field in visit(), or freeze what is not to be trained");
  CHECK(m.a.value().item() == 1);
  CHECK(optimizer.steps() == 0);
  m.b.set_trainable(false);  // on purpose
  CHECK(train(m, optimizer) == "(no error)");
  m.b.set_trainable(true);
  SGD both({{{{"a", m.a}, {"b", m.b}}}}, {.lr = 0.25});  // it is updated all the same
  CHECK(train(m, both) == "(no error)");
  CHECK(train(m, optimizer) != "(no error)");
  SGD half({{{{"a", complete.a}}}}, {.lr = 0.25});  // in no optimizer, but visit() lists it: the caller's choice
  CHECK(train(complete, half) == "(no error)");
}

TEST_CASE("fit: tells of every step in order, after its update") {
  Descent d;
  d.m.w.set_grad(Array::full({1}, 100));  // whatever is there is cleared
  std::vector<Index> computed;
  const FitOptions o{
      .steps = 3, .grad_clip = 0, .on_step = [&](const StepReport& r) {
        CHECK(static_cast<double>(d.m.w.value().item()) == 8 - 8 / std::exp2(r.step + 1));  // half the way
        return true;
      }};
  const double last = d.go(o, [&](Index step) {
    computed.push_back(step);
    return d.m(8);
  });
  CHECK(computed == std::vector<Index>{0, 1, 2});
  REQUIRE(d.told.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    const StepReport& r = d.told[i];
    CHECK((r.step == static_cast<Index>(i) && r.steps == 3 && r.learning_rate == 0.25));
    CHECK(r.loss == 64 / std::pow(4.0, i));   // before the update
    CHECK(r.grad_norm == 16 / std::exp2(i));  // of 2 (w - target)
  }
  CHECK((last == 4 && d.optimizer.steps() == 3));
}

TEST_CASE("fit: on_step ends the training early; no steps are no steps, nor is a first step at the end") {
  Descent d;
  CHECK(d.go({.steps = 100, .grad_clip = 0, .on_step = [](const StepReport& r) { return r.step < 1; }}) == 16);
  CHECK((d.go({.steps = 0}) == 0 && d.go({.steps = 5, .first_step = 5}) == 0));
  CHECK(d.optimizer.steps() == 2);
  REFUSES(d.go({.steps = -1}));
  for (const Index first : {6, -1})
    CHECK(error_of([&] { d.go({.steps = 5, .first_step = first}); }) ==
          "fit: first_step " + std::to_string(first) + " must be 0 to steps 5");
}

TEST_CASE("fit: saves after every n steps and at the end, also where on_step ended it") {
  const auto saved = [](Index steps, Index every, Index stop) {
    std::vector<Index> all;
    Descent().go({.steps = steps,
                  .on_step = [=](const StepReport& r) { return r.step + 1 != stop; },
                  .save = [&](Index n) { all.push_back(n); },
                  .save_every = every});
    return all;
  };
  using Steps = std::vector<Index>;
  CHECK((saved(7, 3, 0) == Steps{3, 6, 7} && saved(6, 3, 0) == Steps{3, 6} && saved(6, 0, 0) == Steps{6}));
  CHECK((saved(6, 4, 2) == Steps{2} && saved(6, 2, 2) == Steps{2} && saved(0, 2, 0).empty()));
  REFUSES(saved(2, -1, 0));
}

TEST_CASE("fit: a loss or a gradient that is not finite is an error and leaves the weights of the step before") {
  for (const real bad : {nan, inf}) {
    Descent d;
    const std::string text = error_of(
        [&] { d.go({.steps = 5, .grad_clip = 0}, [&](Index step) { return step == 2 ? d.m(8) * bad : d.m(8); }); });
    CHECK(text.rfind("fit: the loss of step 2 is ", 0) == 0);
    CHECK((d.m.w.value().item() == 6 && d.optimizer.steps() == 2));
  }
  Descent d;
  const std::string text = error_of([&] { d.go({.steps = 5}, [&](Index) { return sum(sqrt(d.m.w)); }); });
  CHECK(text.rfind("fit: the gradient of step 0 is not finite (norm inf)", 0) == 0);
  CHECK((d.m.w.value().item() == 0 && d.optimizer.steps() == 0));
}

TEST_CASE("fit: a loss that is no number is refused, and what it may come from named") {
  Linear m(2, 3, Generator(1));
  SGD optimizer(all_parameters(m), {.lr = 0.25});
  const std::string why =
      "fit: the loss of step 0 is nan: an empty batch, targets that are all ignored, or a learning ";
  const auto error_with = [&](const auto& compute) {
    return error_of([&] { fit(optimizer, [&](Index) { return compute(); }, {.steps = 1}); });
  };
  CHECK(error_with([&] { return cross_entropy(m(zeros({0, 2})), IntArray({0})); }).starts_with(why));
  CHECK(error_with([&] { return mean(m(ones({2, 2})) * nan); }).starts_with(why));
  CHECK(error_with([&] { return Tensor(nan); }).starts_with(why));
  CHECK(error_with([&] { return Tensor(); }) == std::string("fit: ") + Array::not_defined);
  CHECK(optimizer.steps() == 0);
  CHECK_FALSE(m.weight.grad().defined());
}

TEST_CASE("fit: a step that fails leaves the learning rate of the step before") {
  Descent d;
  CHECK_THROWS_AS(d.go({.steps = 5, .schedule = [](Index step) { return step == 2 ? -1 : 0.1; }}), Error);
  CHECK((d.optimizer.learning_rate() == 0.1 && d.optimizer.steps() == 2));
}

TEST_CASE("fit: what on_step throws comes after the step") {
  const Valley m;
  SGD optimizer(all_parameters(m), {.lr = 0.1});
  const auto refuse = [](const StepReport&) -> bool { throw Error("from on_step"); };
  REFUSES(fit(optimizer, [&](Index) { return m(1); }, {.steps = 1, .on_step = refuse}));
  CHECK(optimizer.steps() == 1);
}

TEST_CASE("fit: uses the schedule for each step, and says so") {
  Descent d(99);
  d.go({.steps = 3, .grad_clip = 0, .schedule = [](Index step) { return 0.5 / std::exp2(step); }});
  for (std::size_t i = 0; i < 3; ++i) CHECK(d.told.at(i).learning_rate == 0.5 / std::exp2(i));
  CHECK(d.m.w.value().item() == 8);  // the first step, with 0.5, goes all the way
}

TEST_CASE("fit: clips, and reports the norm before") {
  Descent d(1);
  d.go({.steps = 1, .grad_clip = 0.5});
  CHECK(d.told.at(0).grad_norm == doctest::Approx(16));
  CHECK(static_cast<double>(d.m.w.value().item()) == doctest::Approx(0.5).epsilon(1e-5));
}

/// A Valley beside parameters that its loss does not use.
struct Lonely : Layer<Lonely> {
  Valley used;
  std::vector<Valley> unused;
  explicit Lonely(std::size_t count) : unused(count) {}
  Tensor forward(double target) const { return used(target); }
  void visit(Visitor& v) override {
    v("used", used);
    v("unused", unused);
  }
};

TEST_CASE("fit: warns once of parameters that receive no gradient, by name") {
  const auto warnings = [](const Lonely& m, Index first_step = 0) {
    std::vector<std::string> texts;
    SGD optimizer(all_parameters(m), {.lr = 0.25});
    fit(optimizer, [&](Index) { return m(8); },
        {.steps = 3, .first_step = first_step, .on_warning = [&](const std::string& text) { texts.push_back(text); }});
    return texts;
  };
  CHECK(warnings(Lonely(0)).empty());
  const Lonely one(1), eight(8), many(10);
  CHECK(warnings(one) == std::vector<std::string>{"no gradient reached unused.0.w: the loss does not depend on it (a "
                                                  "layer that forward does not call, or a detached result?)"});
  CHECK(warnings(one, 1).size() == 1);   // the first step of this call
  REQUIRE(warnings(eight).size() == 1);  // as many as it names
  CHECK(warnings(eight)[0].find("unused.6.w, unused.7.w: the loss does not depend on them") != std::string::npos);
  REQUIRE(warnings(many).size() == 1);
  CHECK(warnings(many)[0].find("unused.6.w, unused.7.w and 2 more: the loss does not depend on them") !=
        std::string::npos);
  one.unused[0].w.set_trainable(false);
  CHECK(warnings(one).empty());  // frozen on purpose
}

TEST_CASE("fit: an optimizer of another model is an error; a loss that needs parameters of no optimizer is told") {
  const Lonely m(1), other(0);
  SGD wrong(all_parameters(other), {.lr = 0.25});
  REFUSES(fit(wrong, [&](Index) { return m(8); }, {.steps = 1}));
  SGD right(all_parameters(m), {.lr = 0.25});
  const Parameter gain(Array::full({1}, 2));
  std::vector<std::string> texts;
  FitOptions options{.steps = 2, .on_warning = [&](const std::string& text) { texts.push_back(text); }};
  m.unused[0].w.set_trainable(false);
  fit(
      right, [&](Index) { return m(8) * sum(gain); }, options);
  CHECK(texts == std::vector<std::string>{
                     "the optimizer does not update 1 parameters that the loss depends on, of shape [1]: add "
                     "them to it, or freeze them by set_trainable(), unless another optimizer updates "
                     "them"});
  texts.clear();
  gain.set_trainable(false);
  fit(
      right, [&](Index) { return m(8) * sum(gain); }, options);
  CHECK(texts.empty());
}

/// A small GPT and its optimizer, for copying three of four symbols.
struct Copying {
  CopyTask task{{.symbols = 4, .length = 3}};
  Generator weights{1}, data{2};
  GPT model{{.block_size = 6, .vocab_size = 5, .n_layer = 2, .n_head = 2, .n_embd = 32}, weights};
  AdamW optimizer{decay_groups(model, 0.01), {.lr = 3e-3}};

  Tensor loss() {
    const Batch batch = task.batch(32, Split::train, data);
    return model.loss(batch.ids, batch.targets);
  }
};

TEST_CASE("fit: warm steps ask the system for no memory, and none stays in use" *
          doctest::skip(settings().system_alloc)) {
  Copying run;
  std::vector<Index> requests, bytes;
  requests.reserve(30);
  bytes.reserve(30);
  fit(run.optimizer, [&](Index) { return run.loss(); }, {.steps = 30, .on_step = [&](const StepReport&) {
                                                           requests.push_back(memory_stats().system_requests);
                                                           bytes.push_back(memory_stats().live_bytes);
                                                           return true;
                                                         }});
  CHECK(requests.back() == requests[4]);
  CHECK(bytes.back() == bytes[4]);
}

std::string error_of_nothing(Index batches) {
  Descent d;
  return error_of([&] {
    fit(d.optimizer, [&](Index) { return MeanLoss(d.m(8), 0); }, {.steps = 1, .gradient_accumulation_steps = batches});
  });
}

/// What a step of SGD with learning rate 1 takes from a model's weights, which is its gradient: of rows of 6 tokens,
/// some of whose targets are ignored, in batches of `rows`.
std::vector<Array> gradient_of(Index rows, Index batches, StepReport* told = nullptr, double clip = 0) {
  const Index T = 6;
  GPT model({.block_size = T, .vocab_size = 7, .n_layer = 1, .n_head = 2, .n_embd = 16}, Generator(1));
  const IntArray ids = randint(0, 7, {8, T}, Generator(2)), kept = randint(0, 3, {8, T}, Generator(3));
  IntArray targets = randint(0, 7, {8, T}, Generator(4));
  for (Index i = 0; i < 8 * T; ++i)
    if (kept.data()[i] != 0 || i < 2 * T) targets.mutate()[i] = -1;  // the first two rows have none
  std::vector<Array> steps;
  for (const Parameter& p : parameters(model)) steps.push_back(copy_of(p.value()));
  SGD optimizer(all_parameters(model), {.lr = 1});
  Index next = 0;
  fit(optimizer,
      [&](Index) {
        const IntArray x = ids.slice(0, next, next + rows), y = targets.slice(0, next, next + rows);
        next += rows;
        Index count = 0;
        for (const Index target : y.values()) count += target >= 0;
        return MeanLoss(model.loss(x, y), count);
      },
      {.steps = 1, .grad_clip = clip, .gradient_accumulation_steps = batches, .on_step = [&](const StepReport& r) {
         if (told) *told = r;
         return true;
       }});
  for (std::size_t i = 0; i < steps.size(); ++i) steps[i] = steps[i] - parameters(model)[i].value();
  return steps;
}

TEST_CASE("fit: batches of different sizes make the mean of all terms, which a plain loss cannot") {
  const auto fitted = [](bool counts) {
    const Array all = array({4}, {1, 1, 1, 9});
    Parameter w(Array::zeros({}));
    SGD optimizer({{{{"w", w}}, {}, 1}}, {.lr = 0.5});
    Index next = 0;
    fit(optimizer,
        [&](Index) -> MeanLoss {
          const Tensor x = next++ == 0 ? all.slice(0, 0, 3) : all.slice(0, 3, 4);
          const Tensor off = w - x;
          const Tensor loss = mean(off * off);
          if (counts) return {loss, x.numel()};
          return loss;
        },
        {.steps = 1, .grad_clip = 0, .gradient_accumulation_steps = 2});
    return w.value().item();
  };
  CHECK(fitted(true) == 3);
  REFUSES(fitted(false));
}

TEST_CASE("fit: a gradient of 1e20 is finite, and clipped") {
  Parameter w(Array::zeros({2}));
  SGD optimizer({{{{"w", w}}, {}, 1}}, {.lr = 1});
  const Array slopes = array({2}, {sizeof(real) == 8 ? 3e200 : 3e20, sizeof(real) == 8 ? 4e200 : 4e20});
  double norm = 0;
  fit(optimizer, [&](Index) { return sum(w * slopes); }, {.steps = 1, .on_step = [&](const StepReport& r) {
                                                            norm = r.grad_norm;
                                                            return true;
                                                          }});
  CHECK(norm == doctest::Approx(sizeof(real) == 8 ? 5e200 : 5e20));
  CHECK(static_cast<double>(w.value().at({1})) == doctest::Approx(-0.8));
}

TEST_CASE("fit: the gradient of several batches is that of all of them as one, whatever targets are ignored") {
  for (const double clip : {0.0, 0.01}) {
    StepReport whole, parts;
    const std::vector<Array> full = gradient_of(8, 1, &whole, clip);
    for (const Index rows : {1, 2, 4}) {
      const std::vector<Array> summed = gradient_of(rows, 8 / rows, &parts, clip);
      CHECK(parts.loss == doctest::Approx(whole.loss).epsilon(1e-6));
      CHECK(parts.grad_norm == doctest::Approx(whole.grad_norm).epsilon(1e-6));
      for (std::size_t i = 0; i < full.size(); ++i) {
        const std::vector<real> a = full[i].to_vector(), b = summed[i].to_vector();
        for (std::size_t k = 0; k < a.size(); ++k) CHECK(std::abs(static_cast<double>(a[k] - b[k])) <= 1e-6);
      }
    }
  }
  CHECK(error_of_nothing(2) ==
        "fit: the loss of step 0 is a mean over nothing: every batch is empty, or every target ignored");
  CHECK(error_of_nothing(0) == "fit: gradient_accumulation_steps 0 must be at least 1");
}

/// Two layers, of which the second divides 0 by 0, or sends NaN back, at step 37.
struct Bad : Layer<Bad> {
  struct Part : Layer<Part> {
    Parameter w{Array::full({2}, 1)};
    Index* step = nullptr;
    bool backward = false;
    Tensor forward(const Tensor& x) const {
      const Tensor h = tanh(x * w);
      const real zero = step && *step == 37 ? real(0) : real(1);
      if (!backward) return (h * zero) / Tensor(zero);
      return sqrt(exp(h) * zero) + h;
    }
    void visit(Visitor& v) override { v("w", w); }
  };
  std::vector<Part> h{2};
  Tensor forward(const Tensor& x) const { return sum(h[1](h[0](x))); }
  void visit(Visitor& v) override { v("h", h); }
};

std::string first_nan(bool backward) {
  Bad model;
  Index now = 0;
  model.h[1].step = &now;
  for (Bad::Part& part : model.h) part.backward = backward;
  SGD optimizer(all_parameters(model), {.lr = 0.01});
  return error_of([&] {
    fit(optimizer, [&](Index step) { return now = step, model(array({2}, {1, -1})); }, {.steps = 50});
  });
}

TEST_CASE("fit: the first NaN names op, layer and step, forward and backward, and on request what led to it") {
  {
    const Setting on("MOTE_CHECK", "finite");
    CHECK(first_nan(false) ==
          "div: the result has a NaN, but no input has one: shapes ([2], []) -> [2] (in h.1) at step 37");
    CHECK(first_nan(true) ==
          "sqrt: backward: the gradient for input 0 of shape [2] has an infinity (dy, the gradient of the result, has "
          "shape [2]) (in h.1) at step 37");
  }
  const Setting on("MOTE_DEBUG", "origin");
  CHECK(
      first_nan(false) ==
      "div: the result has a NaN, but no input has one: shapes ([2], []) -> [2]; input 0 is from mul (in h.1) <- tanh "
      "(in h.1) <- mul (in h.1) <- div (in h.0) (in h.1) at step 37");
  CHECK(first_nan(true) ==
        "sqrt: backward: the gradient for input 0 of shape [2] has an infinity (dy, the gradient of the result, has "
        "shape [2]) (in h.1); input 0 is from mul "
        "(in h.1) <- exp (in h.1) <- tanh (in h.1) <- mul (in h.1); dy is from add (in h.1) <- sum (in Bad) at step "
        "37");
}

}  // namespace
}  // namespace mote::test::fit_test
