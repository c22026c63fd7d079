// Reports to and from lines of JSON.
#include "train/run/log.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "engine/base/number_text.h"
#include "engine/io/files/file.h"
#include "engine/io/text/json.h"
#include "engine/io/text/utf8_stream.h"
#include "train/keep/folder.h"

namespace mote {
namespace {

constexpr std::string_view level_letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

Json number(double x) { return std::isfinite(x) ? Json(x) : Json(); }
Json spread(const Spread& s) {
  return Json::object({{"mean", number(s.mean)}, {"deviation", number(s.deviation)}, {"zeros", number(s.zeros)}});
}
Json fraction(const std::optional<double>& x) { return x ? number(*x) : Json(); }

double number_at(const JsonPlace& line, const char* name) {
  const JsonPlace value = line.at(name);
  return value.value().is(Json::Kind::null) ? std::numeric_limits<double>::quiet_NaN() : value.as_number();
}
std::optional<double> fraction_at(const JsonPlace& line, const char* name) {
  const JsonPlace value = line.at(name);
  if (value.value().is(Json::Kind::null)) return {};
  return value.as_number();
}

Spread spread_at(const JsonPlace& line) {
  return {number_at(line, "mean"), number_at(line, "deviation"), number_at(line, "zeros")};
}

StepReport step_from(const JsonPlace& line) {
  StepReport report{line.at("step").as_integer() - 1, 0, number_at(line, "loss"), number_at(line, "learning_rate"),
                    number_at(line, "grad_norm")};
  if (!line.find("layers")) return report;
  const JsonPlace layers = line.at("layers"), updates = line.at("updates");
  for (std::size_t i = 0; i < layers.items().size(); ++i)
    report.layers.push_back({layers.at(i).at("layer").as_string(), spread_at(layers.at(i).at("result")),
                             spread_at(layers.at(i).at("gradient"))});
  for (const JsonMember& m : updates.members()) report.updates.emplace_back(m.name, number_at(updates, m.name.c_str()));
  return report;
}

EvaluationReport evaluation_from(const JsonPlace& line) {
  EvaluationReport report{.step = line.at("step").as_integer(),
                          .loss = number_at(line, "loss"),
                          .exact_match = fraction_at(line, "exact_match"),
                          .train_exact_match = fraction_at(line, "train_exact_match")};
  const JsonPlace samples = line.at("samples"), heads = line.at("heads");
  for (std::size_t i = 0; i < samples.items().size(); ++i) {
    const JsonPlace sample = samples.at(i);
    report.samples.push_back({sample.at("question").as_string(), sample.at("answer").as_string()});
    if (const JsonPlace right = sample.at("right"); !right.value().is(Json::Kind::null))
      report.samples.back().right = right.as_bool();
  }
  for (std::size_t i = 0; i < heads.items().size(); ++i) {
    report.heads.emplace_back();
    if (heads.at(i).items().empty()) heads.at(i).fail("must have at least one head");
    for (std::size_t h = 0; h < heads.at(i).items().size(); ++h)
      report.heads.back().push_back(heads.at(i).at(h).as_string());
  }
  return report;
}

template <class Report>
std::vector<Report> read_lines(const std::string& path, Report (*from)(const JsonPlace&)) {
  std::vector<Report> all;
  if (!file_exists(path)) return all;
  const std::string text = read_file(path, std::uint64_t{1} << 32);
  for (std::size_t at = 0, number = 1; at < text.size(); ++number) {
    const std::size_t stop = text.find('\n', at);
    if (stop == std::string::npos) break;  // an incomplete line of a run that was killed or still trains
    const std::string where = path + " line " + std::to_string(number);
    const Json line = parse_json(std::string_view(text).substr(at, stop - at), where);
    all.push_back(from(JsonPlace(line, where)));
    at = stop + 1;
  }
  return all;
}

}  // namespace

std::string percent_text(double fraction, int digits) {
  const double units = std::pow(10, digits);
  return fixed_text(std::floor(100 * units * fraction + 1e-9) / units, digits) + " %";  // in double 0.29 * 100 < 29
}

std::string Answers::text() const {
  return std::to_string(exact) + " of " + std::to_string(total) + ", " + percent_text(fraction(), 1);
}

namespace {

std::string text_of(const StepReport& r) {
  return "step " + std::to_string(r.step + 1) + "/" + std::to_string(r.steps) + " | loss " + fixed_text(r.loss, 4) +
         " | lr " + general_text(r.learning_rate, 3) + " | norm " + fixed_text(r.grad_norm, 4);
}

std::string text_of(const EvaluationReport& r) {
  std::string text =
      "evaluation after " + std::to_string(r.step) + " steps: held-out loss " + fixed_text(r.loss, 4) + r.note;
  if (r.exact_match) text += ", exact match " + percent_text(*r.exact_match, 0);
  if (r.train_exact_match) text += " (of questions to train on " + percent_text(*r.train_exact_match, 0) + ")";
  for (const EvaluationReport::Sample& s : r.samples) {
    text += "\n  ";
    const std::string verdict = !s.right ? "" : *s.right ? "   right" : "   wrong";
    for (const char c : readable_text(s.question + (s.right ? "   " : "") + s.answer + verdict))
      text.append(1, c).append(c == '\n' ? "  " : "");
  }
  return text;
}

std::string text_of(const CheckpointReport& c) { return "saved " + c.path; }

std::string text_of(const RunWarning& w) { return "warning: " + w.text; }

std::string text_of(const RunEnding& e) {
  if (e.answers) return "exact match on " + std::to_string(e.answers->total) + " questions: " + e.answers->text();
  return "held-out loss on " + e.loss_of + ": " + fixed_text(e.loss, 4) + e.loss_note;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const RunEvent& event) {
  return out << std::visit([](const auto& e) { return text_of(e); }, event);
}

std::string attention_levels(const Array& weights) {
  check_in("attention_levels", weights.rank() == 2, "weights ", weights.shape(), " must be [queries, keys]");
  const Array w = weights.contiguous();
  const Index queries = w.shape()[0], keys = w.shape()[1];
  std::string text = std::to_string(keys) + ":";
  for (Index q = 0; q < queries; ++q) {
    std::string row;
    for (Index k = 0; k < keys; ++k) {
      const double weight = static_cast<double>(w.data()[q * keys + k]);
      row += level_letters[weight > 0 ? static_cast<std::size_t>(std::min(weight, 1.0) * 63 + 0.5) : 0];  // NaN: 0
    }
    text += (q > 0 ? " " : "") + row.substr(0, row.find_last_not_of(level_letters[0]) + 1);
  }
  return text;
}

std::string log_line(const StepReport& report) {
  std::vector<JsonMember> line{{"step", report.step + 1},
                               {"loss", number(report.loss)},
                               {"learning_rate", number(report.learning_rate)},
                               {"grad_norm", number(report.grad_norm)}};
  if (report.layers.empty() && report.updates.empty()) return text_of(Json::object(std::move(line)));
  Json layers = Json::array();
  for (const LayerHealth& h : report.layers)
    layers.push_back(
        Json::object({{"layer", h.layer}, {"result", spread(h.result)}, {"gradient", spread(h.gradient)}}));
  std::vector<JsonMember> updates;
  for (const auto& [name, ratio] : report.updates) updates.push_back({name, number(ratio)});
  line.push_back({"layers", std::move(layers)});
  line.push_back({"updates", Json::object(std::move(updates))});
  return text_of(Json::object(std::move(line)));
}

std::string log_line(const EvaluationReport& report) {
  Json samples = Json::array(), heads = Json::array();
  for (const EvaluationReport::Sample& s : report.samples)
    samples.push_back(Json::object({{"question", valid_utf8(s.question)},
                                    {"answer", valid_utf8(s.answer)},
                                    {"right", s.right ? Json(*s.right) : Json()}}));
  for (const std::vector<std::string>& layer : report.heads) heads.push_back(Json::array({layer.begin(), layer.end()}));
  return text_of(Json::object({{"step", report.step},
                               {"loss", number(report.loss)},
                               {"exact_match", fraction(report.exact_match)},
                               {"train_exact_match", fraction(report.train_exact_match)},
                               {"samples", std::move(samples)},
                               {"heads", std::move(heads)}}));
}

std::vector<StepReport> read_steps(const std::string& path) { return read_lines(path, step_from); }
std::vector<EvaluationReport> read_evaluations(const std::string& path) { return read_lines(path, evaluation_from); }

}  // namespace mote
