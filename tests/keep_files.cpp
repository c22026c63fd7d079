// Writes into a folder what tests/keep.cmake lets the programs generate and inspect read.
#include <limits>

#include "engine/io/files/file.h"
#include "engine/io/files/safetensors.h"
#include "models/gpt_files.h"
#include "models/mlp.h"
#include "train/train.h"

using namespace mote;

namespace {
/// A model that is no GPT, on a task of the list.
struct Net : Layer<Net> {
  Embedding table;
  Linear out;
  explicit Net(const Init& init) : table(11, 8, init), out(8, 11, init) {}
  Tensor forward(const IntArray& ids) const { return out(table(ids)); }
  void visit(Visitor& v) override {
    v("table", table);
    v("out", out);
  }
};
}  // namespace

int main(int, char** argv) {
  const std::string to = std::string(argv[1]) + "/";
  make_folder(to);
  GPTConfig config = GPTConfig::gpt2();
  config.block_size = 8;
  config.vocab_size = 11;
  config.n_layer = 1;
  config.n_head = 2;
  config.n_embd = 8;
  save_huggingface(GPT(config, Generator(1)), to + "gpt2");

  const real nan = std::numeric_limits<real>::quiet_NaN(), infinity = std::numeric_limits<real>::infinity();
  const std::vector<real> x{3, -4, 0, 0}, y{3, -4, 0, real(-0.0)}, z{3, -5, 0, 0}, odd{nan, infinity, -infinity, 2};
  const std::vector<Index> n{1, 2, 9};
  const NamedArray counts{"counts", IntArray({3}, n)}, strange{"strange", Array({2, 2}, odd)};
  save_safetensors(to + "a.safetensors", {{"x", Array({4}, x)}, counts, strange}, {{"step", "1"}});
  save_safetensors(to + "zero.safetensors", {{"x", Array({4}, y)}, counts, strange}, {{"step", "1"}});
  save_safetensors(to + "b.safetensors", {{"x", Array({4}, z)}, counts, {"new", Array({2, 2}, odd)}}, {{"step", "2"}});
  save_safetensors(to + "shape.safetensors", {{"x", Array({2, 2}, x)}, counts, strange}, {{"step", "1"}});

  const Dataset circle(randn({40, 2}, Generator(1)).array(), randint(0, 2, {40}, Generator(2)), 0.2, "circle");
  MLP model({2, 4, 2}, Generator(1));
  Run(circle, subject_of(model), {.max_iters = 2, .batch_size = 4}, {.folder = to + "circle"})
      .train([](const RunEvent&) {});

  const auto copy = make_task("copy");
  Net net(Generator(1));
  Run(*copy, subject_of(net), {.max_iters = 2, .batch_size = 4}, {.folder = to + "net"}).train([](const RunEvent&) {});

  // No checksums, a type that mote does not read, and a half beside it.
  const std::string header = R"({"h":{"dtype":"F16","shape":[2],"data_offsets":[0,4]},)"
                             R"("q":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[4,6]}})";
  std::string file(8, '\0');
  file[0] = static_cast<char>(header.size());
  file += header + std::string("\x00\x3c\x00\xc0\x01\x02", 6);  // 1, -2 and two bytes
  write_file(to + "other.safetensors", file);
}
