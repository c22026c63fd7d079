// How a Profile adds up, what it prints, and the one that MOTE_PROFILE=1 gives to every thread.
#include "engine/autograd/profile.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>

#include "engine/autograd/op.h"
#include "engine/base/number_text.h"
#include "engine/base/parallel.h"
#include "engine/kernels/limits.h"

namespace mote {
namespace {

double bytes_of(Index elements) { return static_cast<double>(elements) * sizeof(real); }

}  // namespace

/// Holds the sums, and stops the profile's clock; now() is the time it shows.
class Profile::Bookkeeping {
 public:
  explicit Bookkeeping(Profile& profile)
      : profile_(profile),
        start_(profile.clock_()),
        lock_(profile.totals_.mutex),
        now_(start_ - profile.own_seconds_) {}
  ~Bookkeeping() {
    const double took = profile_.clock_() - start_;
    profile_.own_seconds_ += took;
    profile_.totals_.own_seconds += took;
  }
  Bookkeeping(const Bookkeeping&) = delete;
  double now() const { return now_; }

 private:
  Profile& profile_;
  double start_;
  std::lock_guard<std::mutex> lock_;
  double now_;
};

Profile::Profile(ProfileTotals& totals, Clock* clock, double start) : totals_(totals), clock_(clock), start_(start) {
  const std::lock_guard lock(totals_.mutex);
  totals_.running.push_back(this);
}

Profile::~Profile() {
  const std::lock_guard lock(totals_.mutex);
  totals_.running.remove(this);
  totals_.seconds += seconds();
}

void Profile::layer_opened(const LayerScope& scope) {
  const Bookkeeping mine(*this);
  const auto line = totals_.layers.try_emplace(scope.type(scope)).first;
  const auto [number, fresh] =
      totals_.layer_numbers.try_emplace(line->first, static_cast<int>(totals_.layer_names.size()));
  if (fresh) totals_.layer_names.push_back(&line->first);
  ++line->second.calls;
  open_.push_back({&scope, nullptr, &line->second, mine.now(), 0, 0, number->second});
}

void Profile::op_opened(const Op& op) {
  const Bookkeeping mine(*this);
  ProfileLine& line = totals_.ops[op.name()];
  ++line.calls;
  open_.push_back({&op, &line, nullptr, mine.now()});
}

void Profile::op_recorded(const OpReport& op) {
  const Bookkeeping mine(*this);
  if (open_.empty() || !open_.back().op) return;
  bool fresh = !open_.back().composed;
  double bytes = bytes_of(op.result.numel());
  for (const Array* x : op.inputs) {
    if (!x->defined()) continue;
    bytes += bytes_of(x->numel());
    fresh = fresh && !x->shares_storage(op.result);
  }
  if (!fresh) bytes = 0;
  const double flops = static_cast<double>(op.flops >= 0 ? op.flops : fresh ? op.result.numel() : 0);
  ProfileLine* layer = nullptr;
  int number = -1;
  for (Frame& around : open_) {
    around.composed = around.composed || (around.op && &around != &open_.back());
    if (around.layer) layer = around.layer, number = around.number;
  }
  for (ProfileLine* line : {open_.back().op, layer})
    if (line) line->flops += flops, line->bytes += bytes;
  if (!op.node) return;
  op.node->recorded->layer_number = number;
  op.node->recorded->kept_bytes = fresh ? op.kept_bytes : 0;
  op.node->recorded->moves = fresh;
}

void Profile::layer_closed(const LayerScope& scope) noexcept {
  const Bookkeeping mine(*this);
  close(&scope, mine.now());
}

void Profile::op_closed(const Op& op) noexcept {
  const Bookkeeping mine(*this);
  close(&op, mine.now());
}

void Profile::rule_opened(const Node& node, const Array& dy) {
  const Bookkeeping mine(*this);
  ProfileLine* layer = nullptr;
  Frame frame{&node, &totals_.ops[node.op], nullptr, mine.now()};
  frame.rule = true;
  if (node.recorded && node.recorded->layer_number >= 0)
    layer = &totals_.layers[*totals_.layer_names[static_cast<std::size_t>(node.recorded->layer_number)]];
  frame.layer = layer;
  if (node.recorded && node.recorded->moves)
    for (ProfileLine* line : {frame.op, layer})
      if (line) line->bytes += bytes_of(dy.numel()) + static_cast<double>(node.recorded->kept_bytes);
  open_.push_back(frame);
}

void Profile::gradient_sent(const Node& node, std::size_t i, const Array& dx, const Array&) {
  const Bookkeeping mine(*this);
  if (open_.empty() || !open_.back().rule || !node.recorded) return;
  const std::vector<Index>& stated = node.recorded->gradient_flops;
  double flops = node.recorded->moves ? static_cast<double>(dx.numel()) : 0;
  if (!stated.empty()) flops = i < stated.size() ? static_cast<double>(stated[i]) : 0;
  for (ProfileLine* line : {open_.back().op, open_.back().layer})
    if (line) line->flops += flops, line->bytes += node.recorded->moves ? bytes_of(dx.numel()) : 0;
}

void Profile::rule_closed(const Node& node) noexcept {
  const Bookkeeping mine(*this);
  close(&node, mine.now());
}

/// Closes `scope` and whatever is still open inside it.
void Profile::close(const void* scope, double now) noexcept {
  const auto found = std::find_if(open_.rbegin(), open_.rend(), [&](const Frame& f) { return f.scope == scope; });
  if (found == open_.rend()) return;
  const Frame frame = *found;
  open_.resize(static_cast<std::size_t>(open_.rend() - found) - 1);
  const double seconds = now - frame.start;
  if (frame.op) (frame.rule ? frame.op->backward_seconds : frame.op->seconds) += seconds - frame.in_ops;
  if (frame.layer) (frame.rule ? frame.layer->backward_seconds : frame.layer->seconds) += seconds - frame.in_layers;
  if (open_.empty()) return;
  open_.back().in_ops += frame.op ? seconds : frame.in_ops;
  open_.back().in_layers += frame.layer ? seconds : frame.in_layers;
}

namespace {

double steady_clock_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The limits that a table needs, each measured once.
class Measured {
 public:
  double gflops() {
    if (gflops_ == 0) gflops_ = kernels::measure_multiply_adds(0.002);
    return gflops_;
  }
  double gbytes(double bytes) {
    double& known = gbytes_[kernels::level_of(bytes)];
    if (known == 0) known = kernels::ReadSpeed(kernels::typical_bytes(kernels::level_of(bytes))).measure(0.001);
    return known;
  }

 private:
  double gflops_ = 0;
  std::map<kernels::Level, double> gbytes_;
};

std::string padded(const std::string& text, std::size_t width, bool left = false) {
  const std::string blank(width - std::min(width, text.size()), ' ');
  return left ? text + blank : blank + text;
}

void print_table(std::ostream& out, const char* what, const std::map<std::string, ProfileLine>& lines, double all,
                 double own, Measured& limits) {
  std::vector<std::pair<std::string, ProfileLine>> sorted(lines.begin(), lines.end());
  const auto total = [](const ProfileLine& line) { return line.seconds + line.backward_seconds; };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const auto& a, const auto& b) { return total(a.second) > total(b.second); });
  std::size_t width = 19;
  for (const auto& [name, line] : sorted) width = std::max(width, name.size());
  const auto row = [&](const std::string& name, const std::vector<std::string>& cells) {
    std::string text = padded(name, width, true);
    for (const std::string& cell : cells) text += padded(cell, 13);
    out << text << "\n";
  };
  const auto share = [&](double seconds) { return fixed_text(100 * seconds / all, 1) + " %"; };
  row(what, {"calls", "forward ms", "backward ms", "of the time", "GFLOP/s", "GB/s", "of the limit"});
  double inside = 0;
  for (const auto& [name, line] : sorted) {
    const double seconds = total(line);
    inside += seconds;
    std::vector<std::string> cells{std::to_string(line.calls), fixed_text(line.seconds * 1e3, 2),
                                   fixed_text(line.backward_seconds * 1e3, 2), share(seconds)};
    if (seconds > 0 && line.bytes > 0) {
      const double gflops = line.flops / seconds * 1e-9, gbytes = line.bytes / seconds * 1e-9;
      const double calls = static_cast<double>(std::max<Index>(1, line.calls)) * (line.backward_seconds > 0 ? 2 : 1);
      const double reached = std::max(gflops / limits.gflops(), gbytes / limits.gbytes(line.bytes / calls));
      cells.insert(cells.end(), {fixed_text(gflops, 1), fixed_text(gbytes, 1), fixed_text(100 * reached, 1) + " %"});
    }
    row(name, cells);
  }
  const auto rest = [&](const std::string& name, double seconds) {
    row(name, {"", fixed_text(seconds * 1e3, 2), "", share(seconds)});
  };
  rest(std::string("outside any ") + what, all - own - inside);
  rest("MOTE_PROFILE itself", own);
  rest("all", all);
}

}  // namespace

void ProfileTotals::print(std::ostream& out) {
  const std::lock_guard lock(mutex);
  double all = seconds;
  for (const Profile* p : running) all += p->seconds();
  Measured limits;
  out << "MOTE_PROFILE: " << fixed_text(all, 3) << " s of all threads that ran ops. The limit is what " << threads()
      << (threads() == 1 ? " thread does" : " threads do") << " now: " << fixed_text(limits.gflops(), 1)
      << " GFLOP/s, or reading as many bytes from the cache that holds them.\n\n";
  print_table(out, "op", ops, all, own_seconds, limits);
  if (layers.empty()) return;
  out << "\n";
  print_table(out, "layer", layers, all, own_seconds, limits);
}

namespace {

const double program_start = steady_clock_now();

ProfileTotals& environment_totals() {
  static ProfileTotals* const totals = [] {
    std::atexit([] { environment_totals().print(std::cerr); });
    return new ProfileTotals;  // never destroyed: other threads may still run when the program ends
  }();
  return *totals;
}

}  // namespace

Observer* detail::environment_profile() {
  static thread_local bool ended = false;
  struct Mine {
    Profile profile;
    ~Mine() { ended = true; }
  };
  if (ended) return nullptr;
  static std::atomic<bool> first{true};
  static thread_local Mine mine{
      {environment_totals(), steady_clock_now, first.exchange(false) ? program_start : steady_clock_now()}};
  return &mine.profile;
}

}  // namespace mote
