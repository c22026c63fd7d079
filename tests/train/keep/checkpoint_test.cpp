// Checkpoint: every kind of field comes back in every bit, what differs is named and nothing changes. That a run goes
// on as if never stopped, resume_test says.
#include "train/keep/checkpoint.h"

#include "engine/io/files/file.h"
#include "models/gpt.h"
#include "nn/state_dict.h"
#include "tests/check_module.h"
#include "tests/sentences.h"
#include "tests/state_tools.h"
#include "tests/temp_folder.h"
#include "train/keep/folder.h"
#include "train/optim/adamw.h"
#include "train/optim/sgd.h"

namespace mote::test::checkpoint_test {
namespace {

GPTConfig small(double dropout = 0.2) {
  GPTConfig c;
  c.block_size = 6;
  c.vocab_size = 5;
  c.n_layer = 1;
  c.n_head = 2;
  c.n_embd = 8;
  c.dropout = dropout;
  return c;
}

/// A whole run: model, optimizer, batches, where it stands.
struct Run {
  Generator data{7};
  GPT model;
  AdamW optimizer;
  Index step = 0;
  Checkpoint checkpoint;

  explicit Run(const GPTConfig& config = small(), Index seed = 1)
      : model(config, Generator(seed)), optimizer(decay_groups(model, 0.1), {.lr = 1e-2}) {
    checkpoint.add("model", model);
    checkpoint.add("optimizer", optimizer);
    checkpoint.add("data", data);
    checkpoint.add("step", step);
    checkpoint.require("config", model.config);
  }
  void train(Index steps) {
    for (; step < steps; ++step) {
      optimizer.zero_grad();
      const IntArray ids = randint(0, 5, {3, 6}, data);
      model.loss(ids.slice(1, 0, 5), ids.slice(1, 1, 6)).backward();
      optimizer.step();
    }
  }
};

/// Everything that two runs could differ in.
bool equal(const Run& a, const Run& b) {
  if (bits_of(a.model) != bits_of(b.model)) return false;
  const OptimizerState s = a.optimizer.state(), t = b.optimizer.state();
  if (s.counts != t.counts || s.arrays.size() != t.arrays.size()) return false;
  for (const auto& [name, array] : s.arrays)
    if (!same_bits(array, t.arrays.at(name))) return false;
  const std::vector<NamedStream> u = named_streams(a.model), v = named_streams(b.model);
  for (std::size_t i = 0; i < u.size(); ++i)
    if (!(u[i].stream.get_state() == v[i].stream.get_state())) return false;
  return a.data.get_state() == b.data.get_state() && a.step == b.step &&
         a.optimizer.learning_rate() == b.optimizer.learning_rate();
}

enum class Mood { calm, wild };
constexpr auto words(Mood) { return std::to_array<Word<Mood>>({{Mood::calm, "calm"}, {Mood::wild, "wild"}}); }

/// A part of somebody's own: a scheduler that looks at the losses, say.
struct Plateau {
  Index waited = 0;
  double best = 1e300, rate = 0.1;
  bool reduced = false;
  Mood mood = Mood::calm;
  std::string note;
  std::optional<double> limit;
  std::vector<Index> order;
  IntArray counts = ints({{1, 2}});
  Array history = Array::full({2, 2}, 1);
  Generator noise{3};
  template <class V>
  void visit(V& v) {
    v("waited", waited, "steps without a better loss");
    v("best", best, "loss");
    v("rate", rate, "");
    v("reduced", reduced, "");
    v("mood", mood, "");
    v("note", note, "");
    v("limit", limit, "");
    v("order", order, "");
    v("counts", counts, "");
    v("history", history, "");
    v("noise", noise, "");
  }
};

TEST_CASE("checkpoint: a part of one's own takes part by its list, with every kind of field") {
  const TempFolder folder;
  const std::string path = folder.path("own.safetensors");
  Plateau a;
  a.waited = (Index(1) << 62) + 1;
  a.best = 0.1 + 0.2;
  a.rate = 5e-324;
  a.reduced = true;
  a.mood = Mood::wild;
  a.note = "half \"way\"\n\xE2\x82\xAC";
  a.limit = -0.0;
  a.order = {3, 1, 2};
  a.counts = ints({{7}, {8}});
  a.history = random_array({3}, 1);
  std::vector<float> drawn(3);
  a.noise.normal(drawn);  // half a pair stays behind
  a.noise.set_build({.mkl = true, .version = 113});
  Checkpoint save;
  save.add("plateau", a);
  save.save(path);
  Plateau b;
  Checkpoint load;
  load.add("plateau", b);
  load.load(path);
  CHECK((b.waited == a.waited && b.best == a.best && b.rate == a.rate && b.reduced && b.mood == Mood::wild));
  CHECK((b.note == a.note && b.limit == 0.0 && std::signbit(*b.limit) && b.order == a.order));
  CHECK(equal(b.counts, a.counts));
  CHECK(same_bits(b.history, a.history));
  CHECK(b.noise.get_state() == a.noise.get_state());
  Plateau empty;
  Checkpoint again;
  again.add("plateau", empty);
  again.save(path);
  load.load(path);
  CHECK((!b.limit && b.order.empty() && b.note.empty()));
}

/// What load() says, and that it changed nothing.
std::string refused(Run& run, const std::string& path) {
  const Run untouched(run.model.config);
  const std::string error = error_of([&] { run.checkpoint.load(path); });
  CHECK(equal(run, untouched));
  return error;
}

TEST_CASE("checkpoint: all differences are named at once, and nothing has changed") {
  const TempFolder folder;
  const std::string path = folder.path("run.safetensors");
  Run saved;
  saved.train(3);
  saved.checkpoint.save(path);
  GPTConfig wider = small();
  wider.n_embd = 12;
  Run other(wider);
  const std::string error = refused(other, path);
  for (const char* const part :
       {"does not fit this run:", "'model.transformer.wte.weight' is [5, 8] in the file, but [5, 12] in this run",
        "'model.lm_head.weight'", "'config.n_embd' is 8 in the file, but 12 in this run",
        "optimizer: AdamW: this state does not fit"})
    CHECK_MESSAGE((error.find(part) != std::string::npos) == (std::string(part) != "'model.lm_head.weight'"), error);

  Run fewer;
  Checkpoint list;
  list.add("model", fewer.model);
  list.add("speed", fewer.step);
  const std::string names = error_of([&] { list.load(path); });
  CHECK(names.find("'speed' is missing in the file") != std::string::npos);
  CHECK(names.find("'step' is in the file, but not in this run") != std::string::npos);
  CHECK(names.find("'optimizer.steps' is in the file, but not in this run") != std::string::npos);
  REFUSES(list.add("model", fewer.step));
  REFUSES(list.add("", fewer.step));
  for (const char* const name : {"model.x", "speed.limit", "speed"}) REFUSES(list.add(name, fewer.step));
  REFUSES(list.add("model.x", fewer.step));
  for (const char* const name : {"mote", "mote.version", "format"})
    CHECK(error_of([&] { list.add(name, fewer.step); }) ==
          "checkpoint: '" + std::string(name) + "' is a name that mote's files use themselves");
  Checkpoint reversed;
  reversed.add("a.b", fewer.step);
  REFUSES(reversed.require("a", small()));
  reversed.add("a.bc", fewer.step);
}

TEST_CASE("checkpoint: numbers that are none come back, a learning rate that cannot be is refused") {
  const TempFolder folder;
  const std::string path = folder.path("numbers");
  const double inf = std::numeric_limits<double>::infinity();
  for (const double x : {inf, -inf, std::nan(""), 1e308, -0.0}) {
    double a = x, b = 1;
    std::optional<double> c = x, d, e, f = 2.0;
    Checkpoint save, load;
    save.add("a", a);
    save.add("c", c);
    save.add("e", e);
    save.save(path);
    load.add("a", b);
    load.add("c", d);
    load.add("e", f);
    load.load(path);
    for (const double y : {b, *d}) CHECK(((y == x && std::signbit(y) == std::signbit(x)) || (y != y && x != x)));
    CHECK(!f);
  }
  Run run;
  run.checkpoint.save(path);
  const SafetensorsFile file(path);
  std::vector<NamedArray> tensors;
  for (const TensorEntry& t : file.tensors())
    tensors.push_back({t.name, t.dtype == DType::i64 ? AnyArray(file.int_array(t)) : AnyArray(file.array(t))});
  for (const char* const rate : {"-1", "nan", "1e60", "fast"}) {
    Metadata texts;
    for (const auto& [name, text] : file.metadata())
      if (name != "format") texts.emplace_back(name, name == "optimizer.learning_rate" ? rate : text);
    save_safetensors(folder.path("changed"), tensors, texts);
    Run other;
    other.train(1);
    other.data.manual_seed(1);
    const double before = other.optimizer.learning_rate();
    if (sizeof(real) == sizeof(double) && rate == std::string("1e60")) continue;
    const std::string error = error_of([&] { other.checkpoint.load(folder.path("changed")); });
    CHECK_MESSAGE(error.find("does not fit this run:\n  ") != std::string::npos, error);
    CHECK((other.optimizer.learning_rate() == before && other.step == 1 && other.optimizer.steps() == 1));
  }
}

TEST_CASE("checkpoint: the file says which mote wrote it, and one over the other kind of number is refused") {
  const TempFolder folder;
  const std::string path = folder.path("run.safetensors");
  Index step = 4;
  Checkpoint run;
  run.add("step", step);
  run.save(path);
  const SafetensorsFile file(path);
  const bool wide = sizeof(real) == sizeof(double);
  const std::string release = "project(mote VERSION " + *file.find_metadata("mote.version") + " ";
  CHECK(get_file(MOTE_SOURCE_DIR "/CMakeLists.txt").find(release) != std::string::npos);
  CHECK(*file.find_metadata("mote.real") == (wide ? "double" : "float"));
  save_safetensors(path, {}, {{"mote.checkpoint", "1"}, {"mote.real", wide ? "float" : "double"}, {"step", "5"}});
  CHECK(error_of([&] { run.load(path); }) == "checkpoint: " + path + " was saved in numbers of type " +
                                                 (wide ? "float" : "double") + ", but this mote computes in " +
                                                 (wide ? "double" : "float"));
  CHECK(step == 4);
}

TEST_CASE("checkpoint: other files, newer versions, and files that were cut or changed are refused") {
  const TempFolder folder;
  const std::string path = folder.path("run.safetensors"), broken = folder.path("broken.safetensors");
  Run run;
  CHECK(error_of([&] { run.checkpoint.load(path); }).find(path) != std::string::npos);
  save_safetensors(path, {{"x", Array::zeros({2})}});
  CHECK(refused(run, path) ==
        "checkpoint: " + path + " is not a checkpoint (load() reads the weights of any safetensors file)");
  save_safetensors(path, {}, {{"mote.checkpoint", "2"}});
  CHECK(refused(run, path) == "checkpoint: " + path + " has version 2, and this mote reads versions up to 1");
  Run trained;
  trained.train(2);
  trained.checkpoint.save(path);
  const std::string bytes = read_file(path, 1 << 20);
  for (std::size_t at = 0; at < bytes.size(); at += 97) {
    write_file(broken, bytes.substr(0, at));
    CHECK(refused(run, broken) != "(no error)");
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ (1 << (at % 8)));
    write_file(broken, changed);
    CHECK_MESSAGE(refused(run, broken) != "(no error)", "byte " << at);
  }
}

TEST_CASE("checkpoint: a config can be read from the file before there is a model") {
  const TempFolder folder;
  const std::string path = folder.path("run.safetensors");
  Run run;
  run.checkpoint.save(path);
  GPTConfig c;
  read_fields(SafetensorsFile(path), "config", c);
  CHECK(fields(c) == fields(run.model.config));
  CHECK(error_of([&] { read_fields(SafetensorsFile(path), "cfg", c); }) ==
        "checkpoint: " + path + ": has no 'cfg.block_size'");
}

TEST_CASE("checkpoint: load_weights takes a module's weights alone; what does not fit is named, and nothing changes") {
  const TempFolder folder;
  const std::string path = folder.path("run.safetensors"), weights = folder.path("weights.safetensors");
  Run run;
  run.train(3);
  run.checkpoint.save(path);
  GPT model(small(), Generator(9));
  const GeneratorState stream = named_streams(model)[0].stream.get_state();
  load_weights(model, path);
  CHECK(bits_of(model) == bits_of(run.model));
  CHECK(named_streams(model)[0].stream.get_state() == stream);

  GPTConfig wide = small();
  wide.n_embd = 10;
  GPT other(wide, Generator(9));
  const Array before = other.lm_head.weight.value();
  REFUSES(load_weights(other, path));
  REFUSES(load_weights(other, path, "net"));
  save(run.model, weights);
  REFUSES(load_weights(other, weights));
  CHECK(same_bits(before, other.lm_head.weight.value()));
}

TEST_CASE("checkpoint: the bytes of a tensor can be read where its checksum is wrong") {
  const TempFolder folder;
  const std::string path = folder.path("x.safetensors");
  save_safetensors(path, {{"n", IntArray({2}, std::vector<Index>{1, 2})}});
  std::string bytes = read_file(path, 1 << 20);
  const auto read = [&](std::string& all) {
    const SafetensorsFile file(path);
    return file.read_bytes(file.tensors()[0],
                           [&](const void* data, std::size_t n) { all.append(static_cast<const char*>(data), n); });
  };
  std::string whole, changed;
  CHECK(read(whole));
  CHECK(whole == bytes.substr(bytes.size() - 16));
  bytes.back() = 7;
  write_file(path, bytes);
  CHECK_FALSE(read(changed));
  CHECK(changed == bytes.substr(bytes.size() - 16));
}

TEST_CASE("checkpoint: a model that was moved from, and a text that means 'not given', are errors, not files") {
  const TempFolder folder;
  const std::string path = folder.path("run.safetensors");
  Run run;
  run.checkpoint.save(path);
  const std::string before = read_file(path, 1 << 20);
  const GPT taken = std::move(run.model);
  REFUSES(run.checkpoint.save(path));
  REFUSES(run.checkpoint.load(path));
  REFUSES(save(run.model, path));
  REFUSES(parameters(run.model));
  CHECK(read_file(path, 1 << 20) == before);
  std::optional<std::string> note = "default";
  Checkpoint text;
  text.add("note", note);
  REFUSES(text.save(path));
  note = "other";
  text.save(path);
  note.reset();
  text.load(path);
  CHECK(note == "other");
}

}  // namespace
}  // namespace mote::test::checkpoint_test
