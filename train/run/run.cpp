// The life of a run: it begins or is resumed, takes steps, is evaluated and saved, and ends.
#include "train/run/run.h"

#include <algorithm>
#include <chrono>

#include "engine/base/number_text.h"
#include "engine/base/version.h"
#include "engine/io/text/json.h"
#include "train/loop/evaluate.h"
#include "train/loop/stop_signal.h"
#include "train/run/about.h"

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

/// Measures one step: the health of all layers, and how far the step moves each parameter.
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

/// The length in bytes of all complete lines within the first `most` bytes of a log. An incomplete line must be cut
/// off, because the next line would be appended to it.
std::uint64_t whole_lines(const std::string& path, std::uint64_t most) {
  if (!file_exists(path)) return 0;
  const FileReader reader(path);
  std::string text(static_cast<std::size_t>(std::min(reader.size(), most)), '\0');
  if (!text.empty()) reader.read(0, text.data(), text.size());
  return text.rfind('\n') + 1;
}

/// Returns the settings of a group that must be the same when a run is resumed. Settings that may change are only in
/// config.json.
std::vector<Field> fixed_fields(const SettingsGroup& group) {
  std::vector<Field> fixed = group.fields;
  std::erase_if(fixed, [](const Field& f) { return f.use.may_change; });
  return fixed;
}

void check_class(const SafetensorsFile& checkpoint, const Module& model, const std::string& folder) {
  const std::string* const saved = checkpoint.find_metadata("class.name");
  const std::string here = model.type_name();
  check(saved && *saved == here, "the run in ", folder, " is of class ", saved ? *saved : "unknown", ", not ", here,
        ": go on with the program that made it, or choose another folder");
}

Subject checked(Subject subject) {
  check_in("Run", subject.module && subject.loss, "the subject needs a module and a loss: subject_of(model) has both");
  return subject;
}

}  // namespace

Run::Run(const Data& data, Subject subject, const Recipe& recipe, const RunOptions& options,
         const std::optional<RunState>& from)
    : data_(data),
      subject_(checked(std::move(subject))),
      recipe_(recipe),
      options_(options),
      fit_(fit_options(recipe)),
      optimizer_(make_optimizer(recipe, *subject_.module)),
      random_(run_stream(options.seed, Draws::batches)) {
  check_options(options_);
  settings_ = {{"general", {{"task", data.name(), "", ""}}},
               {"task", data.settings()},
               {"model", subject_.config},
               {"training", fields(recipe)}};
  std::erase_if(settings_[2].fields, [](const Field& f) {  // these follow from the data
    return f.name == "vocab_size" || f.name == "block_size";
  });
  for (const Field& f : fields(options_)) settings_[0].fields.push_back(f);
  if (recipe.ema_decay != 0)
    ema_ = std::make_unique<EMA>(*subject_.module, EMAOptions{.decay = recipe.ema_decay, .warmup = true});
  evaluator_.emplace(data_, subject_, recipe_, options_, !options_.folder.empty());
  if (from) go_on_from(*from);
  if (!options_.folder.empty()) begin_or_resume(from ? from->best_score : std::nullopt);
  first_ = steps_;
  fit_.on_warning = [this](const std::string& text) { events_.push_back(RunWarning{text}); };
}

void Run::go_on_from(const RunState& state) {
  check(state.steps <= recipe_.max_iters, "the run has taken ", state.steps, " steps, which is more than max_iters ",
        recipe_.max_iters);
  optimizer_->set_state(state.optimizer);
  if (state.steps > 0) optimizer_->set_learning_rate(fit_.schedule(state.steps - 1));
  if (state.data) random_.set_state(*state.data);
  steps_ = state.steps;
  if (ema_ && !state.averages.empty()) ema_->set(state.averages, state.averaged);
}

RunState Run::state() const {
  RunState state{.steps = steps_, .data = random_.get_state(), .optimizer = optimizer_->state()};
  if (folder_) state.best_score = folder_->best_score;
  if (!ema_) return state;
  for (const NamedParameter& p : ema_->averages()) state.averages.push_back({p.name, p.parameter.value()});
  state.averaged = ema_->updates();
  return state;
}

void Run::begin_or_resume(std::optional<double> best_score) {
  const std::string& path = options_.folder;
  const std::string config = config_json(settings_);  // fails before the folder is made if a text is not UTF-8
  folder_.emplace(path, options_.keep, options_.save_interval);
  const std::string newest = newest_checkpoint(path);
  const bool has_config = file_exists(folder_->file("config.json"));
  if (newest.empty()) {
    for (const char* const name : {"config.json", "about.json", "log.jsonl", "evaluations.jsonl", "rates.jsonl",
                                   "report.html", "loss.svg", "learning.svg", "heads.svg"})
      check(!file_exists(folder_->file(name)), path, " already has a ", name, ": choose another folder");
  } else {
    const SafetensorsFile file = open_newest_checkpoint(path);
    check_class(file, *subject_.module, path);
    check_settings(file, settings_, path);
  }

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
  checkpoint_.add("loss_of_one_batch", loss_);
  checkpoint_.note("class", {{"name", subject_.module->type_name(), "", ""}});
  checkpoint_.note("data_state", {{"text", data_.state(), "", ""}});
  checkpoint_.note("config", subject_.config);
  for (const SettingsGroup& group : settings_) checkpoint_.note("settings." + group.title, fixed_fields(group));

  if (newest.empty()) {
    prepare_checkpoint();
    folder_->save(checkpoint_, steps_);  // before config.json, so that a folder with config.json can be resumed
    saved_ = steps_;
  } else {
    checkpoint_.load(newest);
    if (newest != best_checkpoint(path)) saved_ = steps_;
    check(!options_.fresh || (steps_ == 0 && !has_config), "there is a run in ", path, ": go on with it by --resume ",
          path, ", or choose another folder");
    check(steps_ <= recipe_.max_iters, "the run in ", path, " has taken ", steps_,
          " steps, which is more than max_iters ", recipe_.max_iters);
    if (!options_.accept_changes) check_same_loss(SafetensorsFile(newest));
    if (saved_ == steps_) folder_->remove_earlier(steps_);
  }

  folder_->write("config.json", config);
  const std::string heads = folder_->file("heads.svg");
  // A heads.svg from an earlier end of the run is removed, because the run now goes on.
  if (steps_ < recipe_.max_iters && file_exists(heads)) remove_file(heads);
  folder_->write("about.json", about_json(data_, *subject_.module, *optimizer_, *evaluator_, {}));
  open(log_, "log.jsonl");
  open(evaluations_, "evaluations.jsonl");
  const std::string rates = folder_->file("rates.jsonl");
  rates_.emplace(rates, whole_lines(rates, ~std::uint64_t(0)));
  rates_->append(text_of(Json::object({{"step", steps_}, {"seconds", 0.0}})));
  began_ = instant();
}

/// Checks that the loss on a fixed batch is the loss in the checkpoint, bit for bit. The two losses are equal if the
/// weights, the data and the computation are the same.
void Run::check_same_loss(const SafetensorsFile& checkpoint) const {
  const double now = loss_of_one_batch();
  const std::string was = exact_text(loss_), is = exact_text(now);
  const std::string* const version = checkpoint.find_metadata("mote.version");
  check(was == is, checkpoint.name(), " had the loss ", was, " on a fixed batch, and now it is ", is,
        ": the model or the data has changed since, or mote (", version ? *version : "another", " then, ",
        mote::version(), " now); go on all the same with accept_changes");
}

void Run::open(Log& log, const char* name) {
  const std::string path = folder_->file(name);
  const std::uint64_t wanted = static_cast<std::uint64_t>(log.bytes), whole = whole_lines(path, wanted);
  if (whole != wanted)
    events_.push_back(RunWarning{std::string(name) + " has " + std::to_string(whole) +
                                 " bytes of whole lines instead of " + std::to_string(wanted) +
                                 ": it goes on from here without the steps that are missing"});
  log.file.emplace(path, whole);
}

const RunFolder& Run::folder() const {
  check(folder_.has_value(), "this run has no folder: RunOptions::folder gives one");
  return *folder_;
}

/// Calls `look` and returns its result. If there is an EMA, the model has the averaged weights during the call.
template <class Look>
auto Run::evaluated(const Look& look) const {
  if (!ema_) return look();
  const AveragedWeights averaged(*ema_);
  return look();
}

/// Evaluates the model. The evaluations every eval_interval steps belong to the state of the run. An extra evaluation
/// at the end of a run does not, because the run may be resumed with more steps, and a longer run has no evaluation
/// there.
void Run::evaluate() {
  const bool regular = recipe_.eval_interval > 0 && steps_ % recipe_.eval_interval == 0;
  failed_ = true;
  const EvaluationReport report = evaluated([&] { return (*evaluator_)(steps_); });
  events_.push_back(report);
  if (folder_) evaluations_.file->append(log_line(report));
  failed_ = false;
  if (!regular) return;

  evaluated_ = steps_;
  if (!folder_ || steps_ == 0) return;  // the initial weights never count as best
  prepare_checkpoint();
  if (const std::string path = folder_->save_best(checkpoint_, report.loss, steps_); !path.empty())
    events_.push_back(CheckpointReport{steps_, path});
}

void Run::check_not_failed() const {
  check(!failed_, "a step of this run has failed",
        folder_ ? ": make a new Run, which goes on from the newest checkpoint of its folder" : "");
}

bool Run::saves_at(Index steps) const {
  const bool interval = options_.save_interval > 0 && steps % options_.save_interval == 0;
  return folder_ && (interval || steps == recipe_.max_iters);
}

/// The loss of the trained weights, not their averages, on a fixed batch in evaluation mode.
double Run::loss_of_one_batch() const {
  const Batch batch = data_.batch(std::min<Index>(recipe_.batch_size, 4), Split::validation,
                                  run_stream(options_.seed, Draws::one_batch));
  const InferenceMode inference(*subject_.module);
  return static_cast<double>(subject_.loss(batch).loss.item());
}

/// Syncs the logs to the disk before a checkpoint notes their lengths, and computes the loss that the checkpoint
/// notes.
void Run::prepare_checkpoint() {
  for (Log* const log : {&log_, &evaluations_}) {
    if (!log->file) continue;
    log->file->sync();
    log->bytes = static_cast<Index>(log->file->size());
  }
  loss_ = loss_of_one_batch();
}

void Run::save() {
  check_not_failed();
  if (!folder_ || saved_ == steps_) return;
  prepare_checkpoint();
  events_.push_back(CheckpointReport{steps_, folder_->save(checkpoint_, steps_)});
  saved_ = steps_;
  rates_->append(text_of(Json::object({{"step", steps_}, {"seconds", instant() - began_}})));
}

/// Called once, before the first training step of this process. Warns if the schedule has another learning rate for the
/// last step than the run had, as after a change of max_iters. Evaluates the initial model, and saves a checkpoint if
/// it is due.
void Run::look() {
  if (steps_ > 0) {
    const double was = optimizer_->learning_rate(), is = fit_.schedule(steps_ - 1);
    if (was != is)
      events_.push_back(RunWarning{"in a run of " + std::to_string(recipe_.max_iters) +
                                   " steps the learning rate of step " + std::to_string(steps_) + " would have been " +
                                   general_text(is, 4) + ", and it was " + general_text(was, 4) +
                                   ": the weights will not be those of a run that was so long from the start"});
  }
  if (steps_ == 0 && recipe_.eval_interval > 0 && evaluated_ < 0) evaluate();
  if (saves_at(steps_)) save();  // an earlier process may have been killed after saving only best.safetensors
}

void Run::train_step() {
  failed_ = true;
  std::optional<StepHealth> health;
  if (options_.health > 0 && (steps_ + 1) % options_.health == 0) health.emplace(*subject_.module);
  const auto loss = [&](Index) { return subject_.loss(data_.batch(recipe_.batch_size, Split::train, random_)); };
  StepReport report = fit_step(*optimizer_, loss, fit_, steps_, steps_ == first_);
  if (health) report = health->with(std::move(report));
  health.reset();

  ++steps_;
  if (ema_) ema_->update();
  if (folder_) log_.file->append(log_line(report));
  failed_ = false;
  events_.push_back(std::move(report));
  if (recipe_.eval_interval > 0 && steps_ % recipe_.eval_interval == 0) evaluate();
  if (saves_at(steps_)) save();
}

void Run::end() {
  if (evaluated_ != steps_ && !std::exchange(evaluated_at_end_, true)) evaluate();
  ending_ = evaluated([&] { return evaluator_->ending_unless_stopped(steps_); });
  if (!ending_) return;
  if (folder_) {
    folder_->write("about.json", about_json(data_, *subject_.module, *optimizer_, *evaluator_, ending_));
    if (const std::string svg = heads_svg(*ending_, data_); !svg.empty()) folder_->write("heads.svg", svg);
  }
  events_.push_back(*ending_);
}

bool Run::step() {
  check_not_failed();
  if (looked_) events_.clear();
  if (!std::exchange(looked_, true)) {
    look();
    if (!events_.empty()) return true;
  }
  if (ending_) return false;
  steps_ < recipe_.max_iters ? train_step() : end();
  return true;
}

bool Run::train(const std::function<bool(const RunEvent&)>& see, Integer every) {
  check_in("Run", see != nullptr, "train() needs a function to call");
  const auto told = [&](const RunEvent& event) {
    const auto* const step = std::get_if<StepReport>(&event);
    if (!step) return !std::holds_alternative<CheckpointReport>(event);
    const Index done = step->step + 1;
    return step->step == first_ || done == recipe_.max_iters || every <= 1 || done % every == 0;
  };
  while (step()) {
    bool wanted = true;
    for (const RunEvent& event : events_)
      if (told(event)) wanted = see(event) && wanted;
    const bool stopped = events_.empty() && StopSignal::received() != 0;  // stopped during the final evaluation
    if (wanted && !stopped) continue;
    save();
    return false;
  }
  return true;
}

}  // namespace mote
