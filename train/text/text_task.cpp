// Batches of windows or documents of a text, and the tokenizer as the task's state.
#include "train/text/text_task.h"

#include <algorithm>
#include <cmath>

#include "engine/base/math.h"
#include "engine/base/number_text.h"
#include "engine/io/text/json.h"
#include "engine/io/text/utf8.h"
#include "engine/io/text/utf8_stream.h"

namespace mote {
namespace {

Index drawn_below(std::size_t n, const Generator& random) { return random_ids(1, 0, static_cast<Index>(n), random)[0]; }

/// Windows as the rows of a batch. Shorter windows are padded, and padding has no targets.
Batch rows_of(const std::vector<std::vector<Index>>& windows) {
  std::size_t T = 1;
  for (const std::vector<Index>& w : windows) T = std::max(T, w.size() - 1);
  auto w = windows.begin();
  return batch_of(std::ssize(windows), static_cast<Index>(T), [&](Index* ids, Index* targets) {
    std::fill(std::copy(w->begin(), w->end() - 1, ids), ids + T, w->back());
    std::copy(w->begin() + 1, w->end(), targets);
    ++w;
  });
}

}  // namespace

std::optional<TokenizerKind> TextOptions::kind() const {
  for (const Word<TokenizerKind>& word : words(TokenizerKind()))
    if (tokenizer == word.name) return word.value;
  return {};
}

TextTask::TextTask(const Options& o, const std::string& state) : Task("TextTask"), options(o) {
  if (state.empty()) {
    data_ = std::make_unique<const TextData>(read_text(o, tokenizer_));
    identity_ = data_->identity;
    return;
  }
  const Json document = parse_json(state, "the state of the text in the checkpoint");
  const JsonPlace kept(document, "the state of the text in the checkpoint");
  const auto number = [&](const char* name) { return kept.find(name) ? kept.at(name).as_integer() : 0; };
  identity_ = {kept.at("bytes").as_integer(), number("val_bytes"),
               static_cast<std::uint32_t>(kept.at("crc32").as_integer()),
               static_cast<std::uint32_t>(number("val_crc32"))};
  tokenizer_ = tokenizer_from(kept.at("tokenizer").as_string());
  const bool same_kind = tokenizer_->kind() == o.kind().value_or(tokenizer_->kind());
  check_in("text", same_kind && (!o.documents() || tokenizer_->special(end_of_text) >= 0),
           "the option tokenizer or lines asks for another tokenizer than that of the run: leave both out");
}

Index TextTask::vocab_size() const {
  const Index tokens = tokenizer_->vocab_size();
  return options.kind() ? tokens : std::max(tokens, options.vocab_size.value_or(0));
}

const TextData& TextTask::data() const {
  if (!data_) {
    std::unique_ptr<Tokenizer> same = tokenizer_from(tokenizer_->json_text());
    data_ = std::make_unique<const TextData>(read_text(options, same, identity_));
  }
  return *data_;
}

std::string TextTask::state() const {
  Json all = Json::object({{"bytes", identity_.bytes}, {"crc32", identity_.crc}});
  if (identity_.val_bytes > 0) all.add("val_bytes", identity_.val_bytes).add("val_crc32", identity_.val_crc);
  return text_of(all.add("tokenizer", tokenizer_->json_text()));
}

std::string TextTask::description() const {
  const TextData& d = data();
  const Index V = vocab_size();
  std::string text = options.text.empty() ? "a text of mote's own" : readable_text(options.text, "");
  text += ", " + std::to_string(d.identity.bytes) + " bytes, " + std::to_string(V) + " tokens (" +
          readable_text(options.tokenizer, "") + "), ";
  if (options.documents())
    text +=
        std::to_string(d.held_out.starts.size() - 1) + " of its " + std::to_string(d.documents) + " documents held out";
  else
    text += identity_.val_bytes == 0 ? "the last tenth held out"
                                     : readable_text(options.val.empty() ? "val.bin" : options.val, "") + " held out";
  if (const std::optional<double> loss = d.bigram_loss(V))
    text += "; a bigram model's loss there is " + fixed_text(*loss, 4) + loss_note(*loss);
  if (d.entropy && !options.documents() && identity_.val_bytes == 0)
    text += "; the least possible is " + general_text(*d.entropy / math::log(2.0), 3) + " bits per byte";
  return text;
}

std::string TextTask::loss_note(double loss) const {
  const TextPart& held_out = data().held_out;
  const double bits =
      loss * static_cast<double>(held_out.predicted()) / static_cast<double>(held_out.bytes) / math::log(2.0);
  return " (" + fixed_text(bits, 3) + " bits per byte)";
}

Recipe TextTask::recipe_of(const Options& options) {
  Recipe r;
  r.config = {{"preset", "nanogpt"}, {"n_layer", "4"}, {"n_head", "4"}, {"n_embd", "128"}};
  r.max_iters = 2000;
  r.batch_size = options.lines ? 64 : 12;
  r.learning_rate = 1e-3;
  r.warmup_iters = 100;
  r.beta2 = 0.99;
  r.ema_decay = 0.99;  // not in nanoGPT; the loss is 0.01 lower after 2,000 steps, and equal after 100 steps
  r.eval_interval = 250;
  r.eval_iters = 20;
  return r;
}

Outcome TextTask::outcome() const {
  Outcome o;
  o.loss = HUGE_VAL;
  if (options.text.empty()) {
    o.loss = 0.36;
    o.seconds = 45;
  }
  return o;
}

std::vector<Index> TextTask::window(const TextPart& part, const Generator& random) const {
  std::size_t first = 0, last = part.ids.size();
  if (!part.starts.empty()) {
    const auto document = static_cast<std::size_t>(drawn_below(part.starts.size() - 1, random));
    first = part.starts[document];
    last = part.starts[document + 1];
  }
  const std::size_t length = std::min(static_cast<std::size_t>(options.block_size) + 1, last - first);
  if (part.starts.empty() || length < last - first)
    first += static_cast<std::size_t>(drawn_below(last - first - length + 1, random));
  const auto from = part.ids.begin() + static_cast<std::ptrdiff_t>(first);
  return {from, from + static_cast<std::ptrdiff_t>(length)};
}

Batch TextTask::batch(Index size, Split split, const Generator& random) const {
  std::vector<std::vector<Index>> windows;
  for (Index b = 0; b < size; ++b) windows.push_back(window(data().part(split), random));
  return rows_of(windows);
}

std::vector<Batch> TextTask::held_out(Index size) const {
  const TextPart& part = data().held_out;
  if (part.predicted() > 1'000'000) return {};
  std::vector<std::size_t> starts = part.starts;
  if (starts.empty()) starts = {0, part.ids.size()};
  std::vector<Batch> batches;
  std::vector<std::vector<Index>> windows;
  const auto T = static_cast<std::size_t>(options.block_size);
  for (std::size_t document = 0; document + 1 < starts.size(); ++document)
    for (std::size_t at = starts[document], last = starts[document + 1]; at + 1 < last; at += T) {
      const auto from = part.ids.begin() + static_cast<std::ptrdiff_t>(at);
      windows.emplace_back(from, from + static_cast<std::ptrdiff_t>(std::min(T + 1, last - at)));
      if (static_cast<Index>(windows.size()) < size) continue;
      batches.push_back(rows_of(windows));
      windows.clear();
    }
  if (!windows.empty()) batches.push_back(rows_of(windows));
  return batches;
}

Questions TextTask::questions(Index count, Split split, const Generator& random) const {
  const auto length = static_cast<std::size_t>(options.block_size);
  const Index begin = ids("").front();
  std::vector<std::vector<Index>> answers;
  for (Index n = 0; n < count; ++n) {
    std::vector<Index> w = window(data().part(split), random);
    w.erase(w.begin());
    w.resize(length, w.back());
    answers.push_back(std::move(w));
  }
  return {IntArray({count, 1}, begin), stack_rows(answers, options.block_size)};
}

std::string TextTask::word(Index id) const {
  const std::string token = bytes_of(id);
  const bool shows = valid_utf8(token) == token;
  std::string word;
  for (const char c : token) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\\')
      word += "\\\\";
    else if (c == '\n')
      word += "\\n";
    else if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !shows))
      (word += "\\x") += detail::hex_text(byte, 2);
    else
      word += c;
  }
  return word;
}

std::string TextTask::text(std::span<const Index> ids) const {
  const Index separator = options.documents() ? tokenizer_->special(end_of_text) : -1;
  std::string bytes;
  for (const Index id : ids)
    if (id != separator)
      bytes += bytes_of(id);
    else if (!bytes.empty() && bytes.back() != '\n')
      bytes += '\n';

  std::string shown;  // CRLF and CR become \n
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != '\r')
      shown += bytes[i];
    else if (i + 1 == bytes.size() || bytes[i + 1] != '\n')
      shown += '\n';
  }
  return valid_utf8(shown);
}

std::vector<Index> TextTask::ids(const std::string& text) const {
  std::vector<Index> ids;
  if (options.documents()) ids.push_back(tokenizer_->special(end_of_text));
  const std::vector<Index> rest = tokenizer_->encode(text);
  ids.insert(ids.end(), rest.begin(), rest.end());
  if (!ids.empty()) return ids;
  for (Index id = 0; id < vocab_size(); ++id)
    if (tokenizer_->token(id) == "\n") return {id};
  return {0};
}

}  // namespace mote
