// Appendix A of "Build a Large Language Model (From Scratch)": PyTorch in an hour, in mote.
#include "examples/lectures/lecture.h"
#include "nn/nn.h"
#include "train/loop/data_loader.h"
#include "train/optim/sgd.h"

using namespace mote;

namespace {

void integers(Lines& line) {
  const IntArray tensor3d = ints({{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}});
  line.text(to_text(tensor3d));
  const IntArray tensor2d = ints({{1, 2, 3}, {4, 5, 6}}), turned = tensor2d.transpose(0, 1);
  line.text(to_text(tensor2d));
  line(size_text(tensor2d.shape()));
  line.text(to_text(tensor2d.reshape({3, 2})));
  line.text(to_text(turned));
  line.text(to_text(sum(tensor2d.reshape({2, 1, 3}) * tensor2d.reshape({1, 2, 3}), -1)));  // tensor2d @ tensor2d.T
}

void one_neuron(Lines& line) {
  const Tensor y = tensor({1.0}), x1 = tensor({1.1});
  const Tensor w1 = tensor({2.2}).requires_grad_(), b = tensor({0.0}).requires_grad_();
  const Tensor loss = binary_cross_entropy_with_logits(x1 * w1 + b, y);
  line(plain(loss));
  loss.backward();
  line(to_text(w1.grad()));
  line(to_text(b.grad()));
}

Sequential neural_network(Index inputs, Index outputs, const Generator& random) {
  return Sequential{Linear(inputs, 30, random), ReLU(), Linear(30, 20, random), ReLU(), Linear(20, outputs, random)};
}

void forward(Lines& line) {
  const Sequential model = neural_network(50, 3, Generator(123));
  line("Total number of trainable model parameters: " + std::to_string(parameter_count(model)));
  line.text(to_text(model.at<Linear>(0).weight));
  line(size_text(model.at<Linear>(0).weight.shape()));
  const NoGrad no_grad;
  const Tensor out = model(rand({1, 50}, Generator(123)));
  line(plain(out));
  line(plain(softmax(out, 1)));
}

void loaders_and_training(Lines& line) {
  const Tensor X_train = tensor({{-1.2, 3.1}, {-0.9, 2.9}, {-0.5, 2.6}, {2.3, -1.1}, {2.7, -1.5}});
  const IntArray y_train = ints({0, 0, 0, 1, 1});
  line(std::to_string(y_train.numel()));
  Generator random(123);
  for (const bool drop_last : {false, true}) {
    int batch = 0;
    for (const std::vector<Index>& rows :
         DataLoader(5, {.batch_size = 2, .shuffle = true, .drop_last = drop_last}, random))
      line.text(formatted("Batch %d: ", ++batch) + plain(take_rows(X_train, rows)) + " " +
                to_text(take_rows(y_train, rows)));
  }

  random.manual_seed(123);
  Sequential model = neural_network(2, 2, random);
  const DataLoader train_loader(5, {.batch_size = 2, .shuffle = true, .drop_last = true}, random);
  SGD optimizer(all_parameters(model), {.lr = 0.5});
  for (int epoch = 1; epoch <= 3; ++epoch) {
    int batch = 0;
    for (const std::vector<Index>& rows : train_loader) {
      const Tensor loss = cross_entropy(model(take_rows(X_train, rows)), take_rows(y_train, rows));
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      line(formatted("Epoch: %03d/003 | Batch %03d/002 | Train/Val Loss: %.2f", epoch, ++batch,
                     static_cast<double>(loss.item())));
    }
  }
  const NoGrad no_grad;
  model.eval();
  const Tensor outputs = model(X_train);
  line.text(plain(outputs));
  line.text(to_text(softmax(outputs, 1).array(), {.scientific = Scientific::off, .version = 209}));
  const IntArray predictions = argmax(outputs, 1);
  line(to_text(predictions));
  line(to_text(predictions == y_train));
  line(to_text(sum(predictions == y_train)));
  line(repr(static_cast<double>(mean(tensor(predictions == y_train)).item())));
  const IntArray test = argmax(model(tensor({{-0.8, 2.8}, {2.6, -1.6}})), 1);
  line(repr(static_cast<double>(mean(tensor(test == ints({0, 1}))).item())));
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argv[0], [&] {
    read_words(argc, argv, "none");
    Lines line("book_a");
    integers(line);
    one_neuron(line);
    forward(line);
    loaders_and_training(line);
    return line.summary();
  });
}
