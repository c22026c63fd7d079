// Runs that leave and come back through nanoGPT's file in every bit; its settings here, and ours there.
#include "train/run/nanogpt.h"

#include "engine/io/files/file.h"
#include "models/gpt_files.h"
#include "models/names.h"
#include "tests/sentences.h"
#include "tests/state_tools.h"
#include "tests/temp_folder.h"
#include "tests/tools.h"
#include "train/run/run.h"
#include "train/run/settings.h"
#include "train/text/text_task.h"

namespace mote::test::nanogpt_test {
namespace {

TextOptions options() {
  TextOptions o;
  o.block_size = 9;
  return o;
}

Recipe recipe(Index steps) {
  Recipe r;
  r.max_iters = steps, r.lr_decay_iters = 20, r.batch_size = 4, r.warmup_iters = 3, r.eval_interval = 0,
  r.eval_iters = 2;
  r.ema_decay = 0.9;
  return r;
}

GPTConfig config(const TextTask& task, bool bias) {
  GPTConfig c = GPTConfig::nanogpt().resized(1, 2, 8);
  c.block_size = task.block_size();
  c.vocab_size = task.vocab_size();
  c.bias = bias;
  return c;
}

void train(const TextTask& task, GPT& model, Index steps, const std::string& folder,
           const std::optional<RunState>& from = {}) {
  Run run(task, subject_of(model), recipe(steps), {.folder = folder}, from);
  run.train([](const RunEvent&) {});
}

RunState state_of(const std::string& folder, GPT& model, const Recipe& r) {
  const std::unique_ptr<Optimizer> optimizer = make_optimizer(r, model);
  return read_run_state(newest_checkpoint(folder), model, *optimizer);
}

TEST_CASE("run: its checkpoint alone says how to build the model that load_weights() fills") {
  const TextTask task(options());
  const TempFolder folder;
  GPT trained(config(task, true), Generator(1));
  train(task, trained, 3, folder.path("run"));
  GPTConfig again;
  read_fields(SafetensorsFile(newest_checkpoint(folder.path("run"))), "config", again);
  GPT model(again, Init::none(Generator(2)));
  load_weights(model, newest_checkpoint(folder.path("run")));
  CHECK(bits_of(model) == bits_of(trained));
}

TEST_CASE("run state: out to nanoGPT's file and back, a run ends in the bits of one that never left") {
  const TextTask task(options());
  for (const bool bias : {true, false}) {
    const TempFolder folder;
    GPT straight(config(task, bias), Generator(1)), first(config(task, bias), Generator(1));
    train(task, straight, 12, folder.path("straight"));
    train(task, first, 7, folder.path("first"));

    GPT out(config(task, bias), Generator(5));
    const RunState left = state_of(folder.path("first"), out, recipe(7));
    CHECK((left.steps == 7 && left.averaged == 7 && left.averages.size() == named_parameters(out).size()));
    const FieldValues settings = saved_settings(SafetensorsFile(newest_checkpoint(folder.path("first"))));
    save_torch(folder.path("ckpt.pt"),
               nanogpt_checkpoint(out, nanogpt_names(out), nanogpt_args(out.config), recipe(7), left, settings));

    const TorchValue file = load_torch(folder.path("ckpt.pt"));
    CHECK((nanogpt_settings(file).own && nanogpt_settings(file).all == settings));
    GPT back(config(task, bias), Generator(6));
    const std::unique_ptr<Optimizer> optimizer = make_optimizer(recipe(12), back);
    const RunState came = nanogpt_state(file, back, nanogpt_names(back), *optimizer);
    CHECK((came.steps == 7 && came.best_score == left.best_score && came.data == left.data));
    train(task, back, 12, folder.path("back"), came);
    CHECK(bits_of(back) == bits_of(straight));
    CHECK(get_file(newest_checkpoint(folder.path("back"))).size() > 0);
    const std::vector<StepReport> a = read_steps(folder.path("straight") + "/log.jsonl"),
                                  b = read_steps(folder.path("back") + "/log.jsonl");
    REQUIRE((a.size() == 12 && b.size() == 5));
    for (std::size_t i = 0; i < 5; ++i) CHECK((a[i + 7].loss == b[i].loss && a[i + 7].step == b[i].step));
    GPT averaged(config(task, bias), Generator(7)), other(config(task, bias), Generator(7));
    load_weights(averaged, newest_checkpoint(folder.path("straight")), "ema");
    load_weights(other, newest_checkpoint(folder.path("back")), "ema");
    CHECK(bits_of(averaged) == bits_of(other));
  }
}

TEST_CASE("run state: nanoGPT's file as its trainer reads it, and one that its trainer wrote") {
  const TempFolder folder;
  const TextTask task(options());
  GPT model(config(task, false), Generator(1));
  train(task, model, 7, folder.path("run"));
  const RunState state = state_of(folder.path("run"), model, recipe(7));
  TorchValue file = nanogpt_checkpoint(model, nanogpt_names(model), nanogpt_args(model.config), recipe(7), state, {});
  CHECK(std::get<Index>(detail::at(file, "iter_num").value) == 7);
  const TorchValue& settings = detail::at(file, "config");
  CHECK(std::get<double>(detail::at(settings, "learning_rate").value) == 1e-3);
  CHECK(std::get<double>(detail::at(settings, "min_lr").value) == 1e-4);
  CHECK(std::get<Index>(detail::at(settings, "lr_decay_iters").value) == 20);
  CHECK(std::get<bool>(detail::at(settings, "bias").value) == false);
  CHECK(std::get<TorchDict>(detail::at(file, "model").value).find("lm_head.weight"));
  std::erase_if(std::get<TorchDict>(file.value).items,
                [](const TorchItem& i) { return i.key == decltype(i.key)("mote"); });
  const FieldValues its = nanogpt_settings(file).all;
  CHECK(std::find(its.begin(), its.end(), std::pair<std::string, std::string>("model.n_embd", "8")) != its.end());
  CHECK(std::find(its.begin(), its.end(), std::pair<std::string, std::string>("training.warmup_iters", "3")) !=
        its.end());
  GPT back(config(task, false), Generator(6));
  const std::unique_ptr<Optimizer> optimizer = make_optimizer(recipe(12), back);
  const RunState came = nanogpt_state(file, back, nanogpt_names(back), *optimizer);
  CHECK((came.steps == 7 && came.averages.empty() && !came.data));
  CHECK(bits_of(back) == bits_of(model));
  GPT wider(config(task, true), Generator(6));
  const std::unique_ptr<Optimizer> its_own = make_optimizer(recipe(12), wider);
  REFUSES(nanogpt_state(file, wider, nanogpt_names(wider), *its_own));
  // Options of its optimizer that differ from mote's, or from its own config.
  const auto with_option = [&](const std::string& option, const TorchValue& value) {
    TorchValue copy = file;
    auto& optimizer_there = std::get<TorchDict>(std::get<TorchDict>(copy.value).items[1].value.value).items;
    for (TorchValue& group : std::get<TorchList>(optimizer_there[1].value.value).items)
      for (TorchItem& item : std::get<TorchDict>(group.value).items)
        if (item.key == decltype(item.key)(option)) item.value = value;
    GPT again(config(task, false), Generator(6));
    const std::unique_ptr<Optimizer> fresh = make_optimizer(recipe(12), again);
    return error_of([&] { nanogpt_state(copy, again, nanogpt_names(again), *fresh); });
  };
  CHECK(with_option("eps", {1e-8}) == "(no error)");
  CHECK(with_option("eps", {1e-6}) ==
        "torch: the checkpoint's optimizer has eps 1e-06, but that of a run of mote is 1e-08");
  CHECK(with_option("betas", {TorchList{{{0.5}, {0.999}}, true}})
            .starts_with("torch: the checkpoint's optimizer has beta1 0.5, but its config 0.9"));
  CHECK(with_option("weight_decay", {0.25})
            .starts_with("torch: the checkpoint's optimizer has weight_decay 0.25, but its config "));

  Recipe sgd = recipe(7);
  sgd.optimizer = OptimizerKind::sgd;
  REFUSES(nanogpt_checkpoint(model, {}, {}, sgd, state, {}));
}

/// A file as nanoGPT writes it, with its config and model_args.
TorchValue its_file(const TorchDict& config) {
  const TorchDict args{{{"n_layer", {Index{1}}}, {"vocab_size", {Index{65}}}, {"block_size", {Index{16}}}}};
  return {TorchDict{{{"config", {config}}, {"model_args", {args}}}}};
}
std::string setting(const NanogptSettings& of, const std::string& name) {
  std::string value = "(none)";
  for (const auto& [key, text] : of.all)
    if (key == name) value = text;
  return value;
}

TEST_CASE("nanoGPT's settings: each is taken, has no effect, or is named") {
  TorchDict config{{{"out_dir", {std::string("out")}},
                    {"dataset", {std::string("shakespeare_char")}},
                    {"learning_rate", {3e-5}},
                    {"decay_lr", {true}},
                    {"warmup_iters", {Index{5}}},
                    {"lr_decay_iters", {Index{40}}},
                    {"min_lr", {1e-5}},
                    {"compile", {false}},
                    {"label_smoothing", {0.1}},
                    {"n_layer", {Index{12}}}}};
  NanogptSettings its = nanogpt_settings(its_file(config));
  CHECK(setting(its, "model.n_layer") == "1");  // model_args say how the model is
  CHECK(setting(its, "task.block_size") == "16");
  CHECK(setting(its, "training.schedule") == "cosine");
  CHECK(setting(its, "training.warmup_iters") == "5");
  CHECK(setting(its, "training.min_lr") == "1e-05");
  CHECK(setting(its, "training.ema_decay") == "0");
  CHECK((its.dataset == "shakespeare_char" && its.vocab_size == 65 && !its.own));
  CHECK(its.unknown == std::vector<std::string>{"label_smoothing = 0.1"});
  for (const char* const nothing : {"training.out_dir", "model.vocab_size", "training.compile", "training.decay_lr"})
    CHECK(setting(its, nothing) == "(none)");

  // Its finetune_shakespeare.py: no decay, and the three settings of the decay as they were.
  config.items[3].value = {false};
  config.items[6].value = {6e-5};
  its = nanogpt_settings(its_file(config));
  CHECK(setting(its, "training.schedule") == "constant");
  CHECK(setting(its, "training.warmup_iters") == "0");
  CHECK(setting(its, "training.min_lr") == "(none)");
  CHECK(setting(its, "training.lr_decay_iters") == "(none)");

  config.items[3].value = {true};
  config.items[4].value = {Index{100}};
  REFUSES(nanogpt_settings(its_file(config)));
}

TEST_CASE("nanoGPT's config file: all settings of a run in its words; what it would do otherwise has a name") {
  Recipe r = recipe(7);
  r.eval_interval = 0;
  r.warmup_iters = 30;
  const std::string text = nanogpt_config_file({{"n_layer", "1"}, {"bias", "false"}, {"vocab_size", "65"}}, r, "/a'b");
  const auto has = [&](const std::string& line) { return text.find("\n" + line + "\n") != std::string::npos; };
  CHECK(has("out_dir = '/a\\'b'"));
  CHECK(has("dataset = '/a\\'b'"));
  CHECK(has("init_from = 'resume'"));
  CHECK(has("bias = False"));
  CHECK(has("n_layer = 1"));
  CHECK(has("decay_lr = True"));
  CHECK(has("warmup_iters = 20"));  // it ends with the decay here
  CHECK(has("lr_decay_iters = 20"));
  CHECK(has("min_lr = 0.0001"));
  CHECK(has("eval_interval = 7"));
  CHECK(has("grad_clip = 1.0"));
  CHECK(has("beta1 = 0.9"));
  for (const char* const unknown : {"vocab_size", "schedule", "ema_decay", "optimizer"})
    CHECK(text.find(std::string("\n") + unknown) == std::string::npos);

  CHECK(nanogpt_difference(r, 7) == "");
  r.schedule = ScheduleKind::constant;
  CHECK(nanogpt_difference(r, 7) == "a warm-up before a constant learning rate");
  CHECK(nanogpt_difference(r, 30) == "");
  r.schedule = ScheduleKind::wsd;
  CHECK(nanogpt_difference(r, 30) == "schedule wsd");
}

}  // namespace
}  // namespace mote::test::nanogpt_test
