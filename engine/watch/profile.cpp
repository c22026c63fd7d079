// How a Profile adds up.
#include "engine/watch/profile.h"

#include <algorithm>
#include <utility>

namespace mote {
namespace {

double elements_bytes(Index elements) { return static_cast<double>(elements) * sizeof(real); }

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
  watch();
}

Profile::~Profile() {
  const std::lock_guard lock(totals_.mutex);
  totals_.seconds += clock_() - start_;
}

void Profile::layer_opened(const LayerScope& scope) {
  const Bookkeeping mine(*this);
  auto& [type, line] = *totals_.layers.try_emplace(scope.type(scope)).first;
  ++line.calls;
  open_.push_back({&scope, nullptr, &line, mine.now(), 0, 0, &type});
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
  double bytes = 0;
  if (!op.view && !op.composed) {
    bytes = elements_bytes(op.result.numel());
    for (const Array* x : op.inputs)
      if (x->defined()) bytes += elements_bytes(x->numel());
  }
  ProfileLine* layer = nullptr;
  const std::string* type = nullptr;
  for (const Frame& around : open_)
    if (around.layer) layer = around.layer, type = around.type;
  for (ProfileLine* line : {open_.back().op, layer})
    if (line) line->flops += static_cast<double>(op.flops), line->bytes += bytes;
  if (!op.node) return;
  Recorded& node = *recorded(*op.node);
  if (type) node.layer_type = *type;
  node.kept_bytes = op.view ? 0 : op.kept_bytes;
  node.moves = !op.view;  // the rule of a composed op is its own
}

void Profile::rule_opened(const Node& node, const Array& dy) {
  const Bookkeeping mine(*this);
  Frame frame{&node, &totals_.ops[node.op], nullptr, mine.now()};
  frame.rule = true;
  const Recorded* const r = recorded(node);
  if (r && !r->layer_type.empty()) frame.layer = &totals_.layers[r->layer_type];
  if (r && r->moves) frame.not_read_yet = elements_bytes(dy.numel()) + static_cast<double>(r->kept_bytes);
  open_.push_back(frame);
}

void Profile::gradient_sent(const Node& node, std::size_t i, const Array& dx, const Array& dy) {
  const Bookkeeping mine(*this);
  const Recorded* const r = recorded(node);
  if (open_.empty() || !open_.back().rule || !r) return;
  const std::vector<Index>& stated = r->gradient_flops;
  double flops = r->moves ? static_cast<double>(dx.numel()) : 0;
  if (!stated.empty()) flops = i < stated.size() ? static_cast<double>(stated[i]) : 0;
  double bytes = 0;
  if (r->moves && !dx.shares_storage(dy))
    bytes = elements_bytes(dx.numel()) + std::exchange(open_.back().not_read_yet, 0);
  for (ProfileLine* line : {open_.back().op, open_.back().layer})
    if (line) line->flops += flops, line->bytes += bytes;
}

/// Closes `scope` and whatever is still open inside it.
void Profile::close(const void* scope) noexcept {
  const Bookkeeping mine(*this);
  const auto found = std::find_if(open_.rbegin(), open_.rend(), [&](const Frame& f) { return f.scope == scope; });
  if (found == open_.rend()) return;
  const Frame frame = *found;
  open_.resize(static_cast<std::size_t>(open_.rend() - found) - 1);
  const double seconds = mine.now() - frame.start;
  if (frame.op) (frame.rule ? frame.op->backward_seconds : frame.op->seconds) += seconds - frame.in_ops;
  if (frame.layer) (frame.rule ? frame.layer->backward_seconds : frame.layer->seconds) += seconds - frame.in_layers;
  if (open_.empty()) return;
  open_.back().in_ops += frame.op ? seconds : frame.in_ops;
  open_.back().in_layers += frame.layer ? seconds : frame.in_layers;
}

}  // namespace mote
