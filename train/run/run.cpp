// The state machine of a run: fresh or resumed, trained step by step, evaluated and saved on the way, ended.
#include "train/run/run.h"

#include <algorithm>
#include <chrono>

#include "engine/base/number_text.h"
#include "engine/io/text/json.h"
#include "train/loop/evaluate.h"

namespace mote {
namespace {

double instant() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void check_options(const RunOptions& o) {
  const Index sequences = o.sequences.value_or(1);
  check(sequences >= 1 && sequences <= 10'000'000, "sequences ", sequences, " must be at least 1 and at most 10000000");
  check(o.samples >= 0 && o.samples <= 10'000, "samples ", o.samples, " must be at least 0 and at most 10000");
  check(o.keep >= 1, "keep ", o.keep, " must be at least 1");
  check(o.health >= 0, "health ", o.health, " must be at least 0");
  check(o.save_interval >= 0, "save_interval ", o.save_interval, " must be at least 0");
  check(o.seed >= 0 && o.seed <= 1'000'000'000'000'000'000, "seed ", o.seed, " must be 0 to 1000000000000000000");
}

/// Measures one step: from its first batch until it has been taken.
struct StepHealth {
  explicit StepHealth(const Module& model) {
    for (const NamedParameter& p : named_parameters(model)) before.emplace_back(p, p.parameter.value());
  }
  StepReport with(StepReport report) const {
    report.layers = health.layers();
    for (const auto& [p, was] : before)
      if (p.parameter.trainable()) report.updates.emplace_back(p.name, update_ratio(was, p.parameter.value()));
    return report;
  }
  Health health;
  std::vector<std::pair<NamedParameter, Array>> before;
};

/// How much of a log is whole lines within its first `most` bytes: half a one would spoil the next.
std::uint64_t whole_lines(const std::string& path, std::uint64_t most) {
  if (!file_exists(path)) return 0;
  const FileReader reader(path);
  std::string text(static_cast<std::size_t>(std::min(reader.size(), most)), '\0');
  if (!text.empty()) reader.read(0, text.data(), text.size());
  return text.rfind('\n') + 1;
}

}  // namespace

Run::Run(const Data& data, Subject subject, const Recipe& recipe, const RunOptions& options,
         const std::optional<RunState>& from)
    : data_(data),
      subject_(std::move(subject)),
      recipe_(recipe),
      options_(options),
      fit_(fit_options(recipe)),
      optimizer_(make_optimizer(recipe, *subject_.module)),
      random_(options.seed + recipe.data_seed) {
  check_options(options_);
  settings_ = {{"general", {{"task", data.name(), "", ""}}},
               {"task", data.settings()},
               {"model", subject_.config},
               {"training", fields(recipe)}};
  std::erase_if(settings_[2].fields, [](const Field& f) {  // they follow from the data
    return f.name == "vocab_size" || f.name == "block_size";
  });
  for (const Field& f : fields(options_)) settings_[0].fields.push_back(f);
  if (recipe.ema_decay != 0)
    ema_ = std::make_unique<EMA>(*subject_.module, EMAOptions{.decay = recipe.ema_decay, .warmup = true});
  evaluator_.emplace(data_, subject_, recipe_, options_, !options_.folder.empty());
  if (from) go_on_from(*from);
  if (!options_.folder.empty()) begin_or_resume(from ? from->best_score : std::nullopt);
}

void Run::go_on_from(const RunState& state) {
  check(state.steps <= recipe_.max_iters, "the run has taken ", state.steps, " steps, which is more than max_iters ",
        recipe_.max_iters);
  optimizer_->set_state(state.optimizer);
  if (state.steps > 0) optimizer_->set_learning_rate(fit_.schedule(state.steps - 1));
  random_.set_state(state.data);
  steps_ = state.steps;
  if (ema_ && !state.averages.empty()) ema_->set(state.averages, state.averaged);
}

void Run::begin_or_resume(std::optional<double> best_score) {
  const std::string& path = options_.folder;
  const std::string config = config_json(settings_);  // a path that is no UTF-8 is none for JSON
  folder_.emplace(path, options_.keep);
  const std::string newest = newest_checkpoint(path);
  const bool has_config = file_exists(folder_->file("config.json"));
  if (newest.empty())
    for (const char* const name :
         {"config.json", "log.jsonl", "evaluations.jsonl", "rates.jsonl", "report.html", "loss.svg", "heads.svg"})
      check(!file_exists(folder_->file(name)), path, " already has a ", name, ": choose another folder");
  else
    check_settings(SafetensorsFile(newest), settings_, path);
  folder_->best_score = best_score;
  checkpoint_.add("model", *subject_.module);
  checkpoint_.add("optimizer", *optimizer_);
  if (ema_) checkpoint_.add("ema", *ema_);
  checkpoint_.add("data", random_);
  checkpoint_.add("steps", steps_);
  checkpoint_.add("log_bytes", log_.bytes);
  checkpoint_.add("evaluation_bytes", evaluations_.bytes);
  checkpoint_.add("evaluated", evaluated_);
  checkpoint_.add("best_score", folder_->best_score);
  checkpoint_.note("data_state", {{"text", data_.state(), "", ""}});
  checkpoint_.note("task_state", {});  // its name in older checkpoints
  std::vector<Field> all;
  for (const SettingsGroup& group : settings_) all.insert(all.end(), group.fields.begin(), group.fields.end());
  checkpoint_.note("settings", all);
  checkpoint_.note("config", subject_.config);
  if (newest.empty()) {
    folder_->save(checkpoint_, steps_);  // before all else: what has a config.json can be resumed
  } else {
    checkpoint_.load(newest);
    saved_ = newest != best_checkpoint(path);
    check(!options_.fresh || (steps_ == 0 && !has_config), "there is a run in ", path, ": go on with it by --resume ",
          path, ", or choose another folder");
    check(steps_ <= recipe_.max_iters, "the run in ", path, " has taken ", steps_,
          " steps, which is more than max_iters ", recipe_.max_iters);
  }
  folder_->write("config.json", config);
  open(log_, "log.jsonl");
  open(evaluations_, "evaluations.jsonl");
  const std::string rates = folder_->file("rates.jsonl");
  rates_.emplace(rates, whole_lines(rates, ~std::uint64_t(0)));
  began_ = instant();
}

void Run::open(Log& log, const char* name) {
  const std::string path = folder_->file(name);
  const std::uint64_t wanted = static_cast<std::uint64_t>(log.bytes), whole = whole_lines(path, wanted);
  if (whole != wanted)
    warnings_.push_back({std::string(name) + " has " + std::to_string(whole) + " bytes of whole lines instead of " +
                         std::to_string(wanted) + ": it goes on from here without the steps that are missing"});
  log.file.emplace(path, whole);
}

const RunFolder& Run::folder() const {
  check(folder_.has_value(), "this run is not kept: it has no folder");
  return *folder_;
}

/// What `look` returns of the model with the weights that are evaluated.
template <class Look>
auto Run::evaluated(const Look& look) const {
  if (!ema_) return look();
  const AveragedWeights averaged(*ema_);
  return look();
}

EvaluationReport Run::evaluate(Index done) {
  EvaluationReport report = evaluated([&] { return (*evaluator_)(done); });
  if (!folder_) return report;
  evaluations_.file->append(log_line(report));
  evaluated_ = done;
  saved_ = false;
  if (done == 0) return report;  // the first weights are never best
  sync_logs(done);
  folder_->save_best(checkpoint_, report.loss, done);
  return report;
}

/// Logs are on the disk before a checkpoint says how long they are.
void Run::sync_logs(Index done) {
  steps_ = done;
  for (Log* const log : {&log_, &evaluations_}) {
    log->file->sync();
    log->bytes = static_cast<Index>(log->file->size());
  }
}

void Run::save(Index done) {
  sync_logs(done);
  folder_->save(checkpoint_, done);
  saved_ = true;
  rates_->append(text_of(Json::object({{"step", done}, {"seconds", instant() - began_}})));
}

bool Run::train(const See& see, Integer every) {
  FitOptions options = fit_;
  const Index first = steps_, eval_interval = recipe_.eval_interval;
  bool wanted = true;
  const auto tell = [&](const RunReport& report) { wanted = see(report) && wanted; };
  for (const RunWarning& warning : std::exchange(warnings_, {})) tell(warning);
  if (first > 0) {
    const double was = optimizer_->learning_rate(), is = options.schedule(first - 1);
    if (was != is)
      tell(RunWarning{"in a run of " + std::to_string(options.steps) + " steps the learning rate of step " +
                      std::to_string(first) + " would have been " + general_text(is, 4) + ", and it was " +
                      general_text(was, 4) +
                      ": the weights will not be those of a run that was so long from the start"});
  }
  std::optional<StepHealth> health;
  options.on_step = [&](const StepReport& report) {
    const StepReport measured = health ? health->with(report) : report;
    health.reset();
    const Index done = report.step + 1;
    steps_ = done;
    if (ema_) ema_->update();
    if (folder_) log_.file->append(log_line(measured));
    std::optional<EvaluationReport> evaluation;
    if (done == options.steps || (eval_interval > 0 && done % eval_interval == 0)) evaluation = evaluate(done);
    if (report.step == first || done == options.steps || every <= 1 || done % every == 0) tell(measured);
    if (evaluation) tell(*evaluation);
    return wanted;
  };
  options.on_warning = [&](const std::string& text) { tell(RunWarning{text}); };
  options.first_step = first;
  options.save_every = options_.save_interval;
  if (folder_) options.save = [&](Index done) { save(done); };
  const bool look_first = first == 0 ? eval_interval > 0 : first == options.steps;
  if (look_first && evaluated_ != first) tell(evaluate(first));
  if (folder_ && first == options.steps && !saved_) save(first);
  if (!wanted) return false;
  const auto loss = [&](Index step) {
    if (options_.health > 0 && (step + 1) % options_.health == 0 && !health) health.emplace(*subject_.module);
    return subject_.loss(data_.batch(recipe_.batch_size, Split::train, random_));
  };
  fit(*optimizer_, loss, options);
  if (steps_ < options.steps || !wanted) return false;
  ending_ = evaluated([&] { return evaluator_->ending(steps_); });
  return tell(*ending_), wanted;
}

}  // namespace mote
