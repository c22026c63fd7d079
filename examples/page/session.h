// A training session for the web page. Every request is a line of JSON, and so is every answer. The page's worker and
// a native program take the same requests, so a test can compare their answers.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/version.h"
#include "engine/io/text/json.h"
#include "engine/kernels/kernels.h"
#include "engine/watch/graph_picture.h"
#include "examples/lectures/nanogpt.h"
#include "examples/programs/open_model.h"
#include "models/inside.h"
#include "train/report/chart.h"

namespace mote {

/// FNV-1a over the bits of all parameters, in visit order: equal weights have equal hashes, on every machine.
inline std::string weights_hash(const Module& model) {
  std::uint64_t hash = 14695981039346656037u;
  for (const NamedParameter& p : named_parameters(model))
    for (const real x : p.parameter.value().to_vector()) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, &x, sizeof bits);
      hash = (hash ^ bits) * 1099511628211u;
    }
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

class Session {
 public:
  /// `folder` is where models are saved.
  explicit Session(std::string folder) : folder_(std::move(folder)) {}

  /// The answer to a request, both as JSON. If something goes wrong, the answer is {"error": "a sentence"}, and
  /// nothing has changed.
  std::string answer(const std::string& request) {
    try {
      const Json parsed = parse_json(request, "request");
      return text_of(answer_to(JsonPlace(parsed, "request")));
    } catch (const std::bad_alloc&) {
      return text_of(Json::object({{"error", "there is not enough memory for this: choose smaller sizes"}}));
    } catch (const std::exception& e) {
      return text_of(Json::object({{"error", e.what()}}));
    }
  }

 private:
  Json answer_to(const JsonPlace& q) {
    const std::string& what = q.at("do").as_string();
    if (what == "hello") return hello();
    if (what == "defaults") return defaults(q.at("task").as_string());
    if (what == "start") return start(q);
    if (what == "nanogpt") return start_nanogpt(q.at("path").as_string());
    if (what == "step") return nanogpt_ ? nanogpt_step(q.at("steps").as_integer()) : step(q.at("steps").as_integer());
    if (what == "back") return back(q.at("step").as_integer());
    if (what == "take_out") return take_out(q);
    if (what == "look") return look(q);
    if (what == "ask") return ask_model(q);
    if (what == "hash") return Json::object({{"hash", weights_hash(model())}, {"step", steps()}});
    if (what == "chart") return Json::object({{"svg", chart_svg(chart())}});
    if (what == "graph") return graph();
    if (what == "weights") return weights(q.at("name").as_string());
    if (what == "save") return save();
    if (what == "open") return open(q.at("path").as_string());
    if (what == "expression") return expression(q.at("a").as_number(), q.at("b").as_number());
    if (what == "softmax") return softmax_of(q);
    throw Error("there is no request '" + what + "'");
  }

  Json hello() const {
    Json tasks = Json::array();
    for (const std::string& name : task_names()) tasks.push_back(name);
    return Json::object({{"version", version()}, {"kernels", kernels::table().name}, {"tasks", std::move(tasks)}});
  }

  // ---- beginning a run

  static Json fields_json(const std::vector<Field>& all) {
    Json list = Json::array();
    for (const Field& f : all)
      list.push_back(Json::object({{"name", f.name}, {"value", f.value}, {"help", f.help}, {"words", f.words}}));
    return list;
  }

  Json defaults(const std::string& task) const {
    const RunSettings s(task, {});
    const OwnedTask made = s.make_task();
    return Json::object({{"description", made->description()},
                         {"outcome", text_of(made->outcome())},
                         {"task", fields_json(s.task_fields())},
                         {"model", fields_json(s.model_fields())},
                         {"training", fields_json(fields(s.recipe))}});
  }

  /// The settings of a run from a request such as
  /// {"task": "copy", "seed": 1, "settings": {"model.n_layer": "2", "training.max_iters": "300", "task.length": "8"}}
  static RunSettings settings_of(const JsonPlace& q) {
    FieldValues of_task;
    const std::vector<JsonMember>& given = q.at("settings").members();
    const auto each = [&](const std::string& group, const auto& set) {
      for (const JsonMember& m : given)
        if (m.name.starts_with(group)) set(m.name.substr(group.size()), JsonPlace(m.value, m.name).as_string());
    };
    each("task.", [&](const std::string& name, const std::string& value) { of_task.emplace_back(name, value); });
    RunSettings s(q.at("task").as_string(), of_task);
    each("model.", [&](const std::string& name, const std::string& value) {
      if (name == "preset") s.set_model(name, value);
    });
    each("model.", [&](const std::string& name, const std::string& value) {
      if (name != "preset") s.set_model(name, value);
    });
    each("training.", [&](const std::string& name, const std::string& value) {
      check(set_field(s.recipe, name, value), "there is no setting training.", name);
    });
    s.run.seed = q.at("seed").as_integer();
    s.run.samples = 4;
    return s;
  }

  Json start(const JsonPlace& q) {
    RunSettings s = settings_of(q);
    OwnedTask task = s.make_task();
    auto model = std::make_unique<GPT>(s.new_model(*task, Generator(s.run.seed)));
    const double bytes = 16 * model->config.parameters();
    check(bytes < 1e9, "a model of ", model->config.parameters(), " parameters is too large for a page");
    auto run = std::make_unique<Run>(*task, s.subject(*model), s.recipe, s.run);
    begin(std::move(s), std::move(task), std::move(model), std::move(run));
    return about();
  }

  /// Starts nanoGPT's run for a computer without a GPU, on a text whose tokens are characters.
  Json start_nanogpt(const std::string& path) {
    RunSettings s("text", {{"text", path}});
    OwnedTask task = s.make_task();
    const Generator random(1337);
    auto model = std::make_unique<GPT>(NanoGPTRun::new_model(task->vocab_size(), random));
    auto run = std::make_unique<NanoGPTRun>(*model, task->ids(read_file(path, 100'000'000)), random);
    clear();
    settings_ = std::move(s);
    task_ = std::move(task);
    model_ = std::move(model);
    nanogpt_ = std::move(run);
    Json told = about();
    told.add("tokens_per_step", NanoGPTRun::batch_size * NanoGPTRun::block_size);
    told.add("max_iters", NanoGPTRun::max_iters);
    told.add("nanogpt", true);
    return told;
  }
  Json nanogpt_step(Index most) {
    Json losses = Json::array(), evaluations = Json::array();
    for (Index done = 0; done < most && nanogpt_->steps() <= NanoGPTRun::max_iters; ++done) {
      const NanoGPTRun::Step step = nanogpt_->step();
      const double at = static_cast<double>(nanogpt_->steps());
      losses_.emplace_back(at, step.loss);
      losses.push_back(step.loss);
      if (step.lines.empty()) continue;
      if (step.val_loss > 0) held_out_.emplace_back(at, step.val_loss);
      for (const std::string& line : step.lines) lines_.push_back(Json::object({{"question", line}, {"answer", ""}}));
      evaluations.push_back(
          Json::object({{"step", nanogpt_->steps()}, {"loss", step.loss}, {"samples", Json::array(lines_)}}));
    }
    return Json::object({{"step", nanogpt_->steps()},
                         {"losses", std::move(losses)},
                         {"evaluations", std::move(evaluations)},
                         {"kept", Json::array()},
                         {"done", nanogpt_->steps() > NanoGPTRun::max_iters}});
  }

  void clear() {
    run_.reset();
    nanogpt_.reset();
    opened_.reset();
    model_.reset();
    task_.reset();
    settings_.reset();
    out_.clear();
    losses_.clear();
    held_out_.clear();
    moments_.clear();
    lines_.clear();
  }

  void begin(RunSettings s, OwnedTask task, std::unique_ptr<GPT> model, std::unique_ptr<Run> run) {
    clear();
    settings_ = std::move(s);
    task_ = std::move(task);
    model_ = std::move(model);
    run_ = std::move(run);
    keep_moment();
  }

  /// A copy of everything that the next training step depends on. A copied array shares its memory with the original
  /// until the original changes. So a Moment costs only the memory of the arrays that have changed since.
  struct Moment {
    RunState run;
    std::vector<Array> weights;
    std::vector<GeneratorState> streams;
  };
  void keep_moment() {
    Moment now;
    now.run = run_->state();
    for (const Parameter& p : parameters(*model_)) now.weights.push_back(p.value());
    for (const NamedStream& s : named_streams(*model_)) now.streams.push_back(s.stream.get_state());
    moments_[run_->steps()] = std::move(now);
    if (moments_.size() <= 24) return;
    bool drop = false;  // more than 24 moments: every second one is dropped, but neither the first nor the newest
    for (auto at = std::next(moments_.begin()); at != std::prev(moments_.end()); drop = !drop)
      at = drop ? moments_.erase(at) : std::next(at);
  }

  Json about() const {
    const GPTConfig& c = model().config;
    Json words = Json::array();
    if (const Task* const t = task())
      for (Index i = 0; i < std::min<Index>(t->vocab_size(), 256); ++i) words.push_back(t->word(i));
    Json names = Json::array();
    for (const NamedParameter& p : named_parameters(model()))
      if (p.parameter.shape().rank() == 2) names.push_back(p.name);
    Json told = Json::object({{"parameters", parameter_count(model())},
                              {"layers", c.n_layer},
                              {"heads", c.n_head},
                              {"block", c.block_size},
                              {"guess", math::log(static_cast<double>(c.vocab_size))},
                              {"words", std::move(words)},
                              {"matrices", std::move(names)},
                              {"step", steps()}});
    if (task()) told.add("description", task()->description());
    if (task()) told.add("outcome", text_of(task()->outcome()));
    if (run_) {
      const Index per_step = settings_->recipe.batch_size * settings_->recipe.gradient_accumulation_steps;
      told.add("tokens_per_step", task_->batch(1, Split::train, Generator(0)).ids.numel() * per_step);
      told.add("max_iters", settings_->recipe.max_iters);
    }
    if (task()) told.add("question", example_question());
    return told;
  }

  std::string example_question() const {
    const Questions some = task()->evaluation(1);
    return some.prompts.defined() && some.prompts.numel() > 0 ? task()->text(row_of(some.prompts, 0)) : "";
  }

  // ---- training

  Json step(Index most) {
    check(run_ != nullptr, "nothing is being trained");
    Json losses = Json::array(), evaluations = Json::array(), warnings = Json::array();
    bool more = true;
    Json ending;
    for (Index done = 0; done < most && more; ++done) {
      more = run_->step();
      for (const RunEvent& event : run_->events()) {
        if (const auto* const r = std::get_if<StepReport>(&event)) {
          losses_.emplace_back(static_cast<double>(r->step + 1), r->loss);
          losses.push_back(r->loss);
        } else if (const auto* const e = std::get_if<EvaluationReport>(&event)) {
          held_out_.emplace_back(static_cast<double>(e->step), e->loss);
          keep_moment();
          evaluations.push_back(evaluation_json(*e));
        } else if (const auto* const w = std::get_if<RunWarning>(&event)) {
          warnings.push_back(w->text);
        } else if (const auto* const end = std::get_if<RunEnding>(&event)) {
          ending = Json::object({{"text", end->answers ? end->answers->text() : ""}});
          if (end->answers) ending.add("exact", end->answers->fraction());
        }
      }
    }
    Json told = Json::object({{"step", steps()},
                              {"losses", std::move(losses)},
                              {"evaluations", std::move(evaluations)},
                              {"kept", kept()},
                              {"done", !more}});
    told.add("warnings", std::move(warnings));
    if (!ending.is(Json::Kind::null)) told.add("end", std::move(ending));
    return told;
  }

  static Json samples_json(const std::vector<EvaluationReport::Sample>& all) {
    Json samples = Json::array();
    for (const EvaluationReport::Sample& s : all) {
      Json one = Json::object({{"question", s.question}, {"answer", s.answer}});
      if (s.right) one.add("right", *s.right);
      samples.push_back(std::move(one));
    }
    return samples;
  }
  static Json evaluation_json(const EvaluationReport& e) {
    Json told = Json::object({{"step", e.step}, {"loss", e.loss}, {"samples", samples_json(e.samples)}});
    if (e.exact_match) told.add("exact", *e.exact_match);
    return told;
  }

  /// The steps that a run can go back to. They are the steps whose Moment is still in moments_.
  Json kept() const {
    Json steps = Json::array();
    for (const auto& [step, moment] : moments_) steps.push_back(step);
    return steps;
  }

  Json back(Index to) {
    check(run_ != nullptr, "nothing is being trained");
    const auto at = moments_.find(to);
    check(at != moments_.end(), "step ", to, " was not kept");
    const Moment& then = at->second;
    auto run = std::make_unique<Run>(*task_, settings_->subject(*model_), settings_->recipe, settings_->run, then.run);
    const std::vector<Parameter> weights = parameters(*model_);
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i].set(then.weights[i]);
    const std::vector<NamedStream> streams = named_streams(*model_);
    for (std::size_t i = 0; i < streams.size(); ++i) streams[i].stream.set_state(then.streams[i]);
    run_ = std::move(run);
    moments_.erase(std::next(at), moments_.end());
    const auto later = [&](const auto& point) { return point.first > static_cast<double>(to); };
    std::erase_if(losses_, later);
    std::erase_if(held_out_, later);
    return about();
  }

  Chart chart() const {
    Chart c{.title = "loss", .lines = {{"training", losses_}, {"held out", held_out_, true}}, .low = 0.0};
    if (model_) {
      c.mark = math::log(static_cast<double>(model_->config.vocab_size));
      c.mark_label = "guessing";
    }
    return c;
  }

  // ---- looking inside

  /// Takes heads out of the model. {"heads": ["0.1"]} means head 1 of layer 0, whose output is 0 from now on. This
  /// changes the answers to the requests `ask` and `look`, but it does not change training.
  Json take_out(const JsonPlace& q) {
    std::vector<std::string> names;
    for (const Json& item : q.at("heads").items()) {
      const std::string head = JsonPlace(item, "heads").as_string();
      const std::size_t dot = head.find('.');
      check(dot != head.npos, "a head is named layer.head, not '", head, "'");
      names.push_back("transformer.h." + head.substr(0, dot) + ".attn heads " + head.substr(dot + 1));
    }
    for (const std::string& name : names) {
      const Ablate tried(model(), name);  // a wrong name throws here, before anything changes
    }
    out_ = std::move(names);
    Json told = Json::object({{"out", static_cast<Index>(out_.size())}});
    if (!run_ || !task_->graded()) return told;
    const auto asked = [&] { return mote::ask(settings_->subject(*model_), *task_, task_->evaluation(200), 4); };
    const Answers answers = without_heads(asked);
    told.add("exact", answers.fraction());
    told.add("samples", samples_json(answers.first));
    return told;
  }

  /// Returns f(). While f runs, the heads in out_ are ablated, from index i on.
  template <class F>
  auto without_heads(const F& f, std::size_t i = 0) const -> decltype(f()) {
    if (i == out_.size()) return f();
    const Ablate out(model(), out_[i]);
    return without_heads(f, i + 1);
  }

  /// The numbers of a matrix, rounded to three decimals; null for numbers that are not finite.
  static Json numbers(const Array& x) {
    Json rows = Json::array();
    for (Index i = 0; i < x.shape()[0]; ++i) {
      Json row = Json::array();
      for (Index j = 0; j < x.shape()[1]; ++j) {
        const double v = static_cast<double>(x.at({i, j}));
        row.push_back(std::isfinite(v) ? Json(std::round(v * 1000) / 1000) : Json());
      }
      rows.push_back(std::move(row));
    }
    return rows;
  }

  IntArray example(const JsonPlace& q) const {
    if (const Json* const text = q.find("text"); text && text->is(Json::Kind::string))
      return one_row(ids_of(JsonPlace(*text, "text").as_string()));
    check(task_ != nullptr, "type a text to look at");
    const Batch one = task_->batch(1, Split::validation, run_stream(settings_->run.seed, Draws::example));
    const Index T = std::min<Index>(one.ids.shape()[1], 48);
    return one.ids.slice(1, 0, T);
  }
  static IntArray one_row(const std::vector<Index>& ids) {
    check(!ids.empty(), "the text is empty");
    return IntArray({1, static_cast<Index>(ids.size())}, ids);
  }
  std::vector<Index> ids_of(const std::string& text) const {
    if (task()) return task()->ids(text);
    if (opened_->tokenizer) return opened_->tokenizer->encode(text);
    throw Error("this file has no vocabulary: only its weights can be looked at");
  }
  std::string word(Index id) const {
    if (task()) return task()->word(id);
    return opened_->tokenizer ? opened_->tokenizer->decode({&id, 1}) : std::to_string(id);
  }

  /// Looks inside the model on one example, for a request such as {"layer": 1, "head": 0}. The answer has the attention
  /// of all heads of all layers. For the requested head it has the scores, the weights, the values, and the gradient of
  /// the loss with respect to the weights. It also has the logit lens: the likeliest next word at each position after
  /// each layer.
  Json look(const JsonPlace& q) {
    GPT& m = model();
    const IntArray ids = example(q);
    check(ids.shape()[1] <= m.config.block_size, "the text has ", ids.shape()[1], " tokens, the model reads ",
          m.config.block_size);
    const Index T = ids.shape()[1];
    const std::string block = "transformer.h." + std::to_string(q.at("layer").as_integer()) + ".attn";
    const Index head = q.at("head").as_integer();
    const Evaluation evaluation(m);
    Json tokens = Json::array(), layers = Json::array();
    for (Index t = 0; t < T; ++t) tokens.push_back(word(ids.at({0, t})));
    const Record seen(m, {"*.attn weights", "*.attn scores", "*.attn.c_attn"});
    const Tensor logits = without_heads([&] { return m(ids); });
    for (Index layer = 0; layer < m.config.n_layer; ++layer) {
      const Array all = seen["transformer.h." + std::to_string(layer) + ".attn weights"].array().select(0, 0);
      Json heads = Json::array();
      for (Index h = 0; h < all.shape()[0]; ++h) heads.push_back(attention_levels(all.select(0, h)));
      layers.push_back(std::move(heads));
    }
    Tensor w = seen[block + " weights"];
    check(head >= 0 && head < w.size(1), "there is no head ", head);
    Tensor scores = seen[block + " scores"];
    w.retain_grad();
    if (T > 1) {
      const Tensor loss = cross_entropy(slice(logits, 1, 0, T - 1), ids.slice(1, 1, T));
      loss.backward();
    }
    Json told = Json::object({{"tokens", std::move(tokens)}, {"layers", std::move(layers)}});
    told.add("scores", numbers(scores.array().select(0, 0).select(0, head)));
    told.add("weights", numbers(w.array().select(0, 0).select(0, head)));
    if (T > 1) told.add("gradient", numbers(w.grad().select(0, 0).select(0, head)));
    told.add("values", numbers(values_of(seen[block + ".c_attn"].array().select(0, 0), head)));
    zero_grad(m);
    told.add("lens", without_heads([&] { return lens(m, ids); }));
    if (task()) {
      std::vector<Array> maps;
      for (Index layer = 0; layer < m.config.n_layer; ++layer)
        maps.push_back(seen["transformer.h." + std::to_string(layer) + ".attn weights"].array().select(0, 0));
      told.add("best", task()->best_head_text(ids.to_vector(), maps));
    }
    return told;
  }

  /// The values of a head, [T, d], cut out of the output of c_attn, whose columns are queries | keys | values.
  Array values_of(const Array& projected, Index head) const {
    const GPTConfig& c = model().config;
    const Index d = c.n_embd / c.n_head, given = c.block.projections.n_kv_head, shared = given > 0 ? given : c.n_head;
    const Index begin = c.n_embd + shared * d + head / (c.n_head / shared) * d;
    return projected.slice(1, begin, begin + d);
  }

  /// The logit lens: the likeliest next word at each position and its probability, before the first block and after
  /// each block. The list is empty for models that are not pre-norm.
  Json lens(const GPT& m, const IntArray& ids) const {
    Json layers = Json::array();
    if (m.config.block.norm_order != NormOrder::pre) return layers;
    const NoGrad no_grad;
    const Tensor all = softmax(Decomposition(m, ids).lens());  // [n_layer + 1, 1, T, V]
    const IntArray top = argmax(all);
    const Tensor p = max(all, {-1});
    for (Index layer = 0; layer < all.size(0); ++layer) {
      Json row = Json::array();
      for (Index t = 0; t < all.size(2); ++t)
        row.push_back(Json::array(
            {word(top.at({layer, 0, t})), std::round(1000 * static_cast<double>(p.array().at({layer, 0, t}))) / 1000}));
      layers.push_back(std::move(row));
    }
    return layers;
  }

  Json ask_model(const JsonPlace& q) {
    const std::vector<Index> ids = ids_of(q.at("text").as_string());
    const IntArray prompt = one_row(ids);
    Index count = 40;
    if (task_ && task_->graded()) count = std::max<Index>(1, task_->evaluation(1).answers.shape()[1]);
    count = std::min(count, std::max<Index>(1, model().config.block_size + 1 - static_cast<Index>(ids.size())));
    const IntArray all = without_heads([&] { return model().generate(prompt, count); });
    Json words = Json::array();
    std::vector<Index> said;
    for (Index t = prompt.numel(); t < all.numel(); ++t) {
      said.push_back(all.at({0, t}));
      words.push_back(word(said.back()));
    }
    Json told = Json::object({{"words", std::move(words)}});
    if (task()) told.add("answer", task()->text(said));
    return told;
  }

  Json graph() {
    GPT& m = model();
    check(run_ != nullptr, "nothing is being trained");
    const Batch one = task_->batch(1, Split::validation, run_stream(settings_->run.seed, Draws::example));
    const Evaluation evaluation(m);
    GraphRecorder seen;
    const Tensor loss = m.loss(one.ids, one.targets);
    const std::string svg = graph_svg(loss, seen);
    return Json::object({{"svg", svg}});
  }

  /// The elements of a matrix as letters, and during training also the letters of its gradient on four validation
  /// sequences. A stands for minus the largest absolute value, g for 0, and _ for plus the largest absolute value.
  Json weights(const std::string& name) {
    for (const NamedParameter& p : named_parameters(model())) {
      if (p.name != name) continue;
      Json told = Json::object({{"rows", p.parameter.shape()[0]}, {"columns", p.parameter.shape()[1]}});
      told.add("weights", letters(p.parameter.value()));
      if (run_) {
        const Batch some = task_->batch(4, Split::validation, run_stream(settings_->run.seed, Draws::example));
        const Evaluation evaluation(model());
        zero_grad(model());
        model().loss(some.ids, some.targets).backward();
        if (p.parameter.grad().defined()) told.add("gradient", letters(p.parameter.grad()));
        zero_grad(model());
      }
      return told;
    }
    throw Error("there is no matrix '" + name + "'");
  }
  static Json letters(const Array& x) {
    static const char* const all = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const std::vector<real> v = x.to_vector();
    real most = 0;
    for (const real y : v) most = std::max(most, std::abs(y));
    std::string text;
    for (const real y : v) {
      const double at = most > 0 ? (static_cast<double>(y / most) + 1) / 2 : 0.5;
      text += all[std::clamp(static_cast<int>(std::lround(63 * at)), 0, 63)];
    }
    return Json::object({{"most", static_cast<double>(most)}, {"letters", text}});
  }

  // ---- files

  /// Saves a checkpoint of the current step. The checkpoint that was saved before is removed first.
  Json save() {
    check(run_ != nullptr, "nothing is being trained");
    RunOptions kept = settings_->run;
    kept.folder = folder_ + "/saved";
    if (file_exists(kept.folder))
      for (const std::string& name : list_folder(kept.folder)) remove_file(kept.folder + "/" + name);
    const Run saved(*task_, settings_->subject(*model_), settings_->recipe, kept, run_->state());
    return Json::object({{"path", newest_checkpoint(kept.folder)}, {"step", steps()}});
  }

  Json open(const std::string& path) {
    auto opened = std::make_unique<OpenedModel>([&]() -> OpenedModel {
      const SafetensorsFile file(path);
      if (saved_setting(file, "general.task")) return open_checkpoint(path);
      GPT model(config_in(file), Init::none(Generator(0)));
      take_weights_alone(model, path);
      return {std::move(model)};
    }());
    clear();
    opened_ = std::move(opened);
    return about();
  }

  /// The sizes of a GPT-2 model, from the shapes of its tensors. No shape tells the number of heads, so heads are
  /// taken to be 64 wide, as GPT-2's heads are.
  static GPTConfig config_in(const SafetensorsFile& file) {
    GPTConfig c = GPTConfig::gpt2();
    c.n_layer = 0;
    for (const TensorEntry& t : file.tensors()) {
      if (t.name.ends_with("wte.weight")) c.vocab_size = t.shape[0], c.n_embd = t.shape[1];
      if (t.name.ends_with("wpe.weight")) c.block_size = t.shape[0];
      if (t.name.ends_with(".ln_1.weight")) ++c.n_layer;
    }
    check(c.n_layer > 0, file.name(), " does not have GPT-2's names: wte.weight, h.0.ln_1.weight and so on");
    c.n_head = std::max<Index>(1, c.n_embd / 64);
    return c;
  }

  // ---- requests of the page's first stations

  static Json expression(double a_is, double b_is) {
    const Tensor a = tensor(a_is).requires_grad_(), b = tensor(b_is).requires_grad_();
    GraphRecorder seen;
    const Tensor c = a * b, d = c + a, e = c * d;
    e.backward();
    seen.name(a, "a").name(b, "b").name(c, "c").name(d, "d").name(e, "e");
    const auto number = [](const Tensor& x) { return static_cast<double>(x.item()); };
    return Json::object(
        {{"value", number(e)}, {"da", number(a.grad())}, {"db", number(b.grad())}, {"svg", graph_svg(e, seen)}});
  }

  static Json softmax_of(const JsonPlace& q) {
    std::vector<double> scores;
    for (const Json& item : q.at("scores").items()) scores.push_back(JsonPlace(item, "scores").as_number());
    check(!scores.empty(), "give some scores");
    Json all = Json::array();
    for (const real p : softmax(tensor(scores)).to_vector()) all.push_back(static_cast<double>(p));
    return Json::object({{"weights", std::move(all)}});
  }

  GPT& model() const {
    check(model_ || opened_, "there is no model yet: press Train, or drop a file");
    return model_ ? *model_ : opened_->model;
  }
  const Task* task() const { return task_ ? task_.get() : opened_ ? opened_->task.get() : nullptr; }
  Index steps() const { return run_ ? run_->steps() : nanogpt_ ? nanogpt_->steps() : 0; }

  std::string folder_;
  std::optional<RunSettings> settings_;
  OwnedTask task_;
  std::unique_ptr<GPT> model_;
  std::unique_ptr<OpenedModel> opened_;
  std::unique_ptr<Run> run_;  // refers to the task and the model
  std::unique_ptr<NanoGPTRun> nanogpt_;
  std::vector<Json> lines_;  // the lines that nanoGPT prints
  std::vector<std::string> out_;
  std::map<Index, Moment> moments_;  // by step
  std::vector<std::pair<double, double>> losses_, held_out_;
};

}  // namespace mote
