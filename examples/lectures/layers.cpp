// RNN, LSTM and Conv1d of layers.h beside PyTorch's: outputs and gradients for the same seed.
#include "examples/lectures/layers.h"
#include "examples/lectures/lecture.h"

using namespace mote;

namespace {

/// Prints y, and the gradients of x and of some weights. The loss is a weighted sum of the elements of y, in which
/// each element has a different weight.
void show(const Tensor& y, Tensor x, const std::vector<Parameter>& weights, Lines& line) {
  line.text(plain(y));
  sum(y * reshape(linspace(0, 1, y.numel()), y.shape())).backward();
  line.text(to_text(x.grad()));
  x.zero_grad();
  for (const Parameter& weight : weights) line.text(to_text(weight.grad()));
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argv[0], [&] {
    read_words(argc, argv, "none");
    Lines line("layers");
    const Generator random(123);
    const Tensor x = reshape(linspace(-1, 1, 24), {2, 3, 4}).requires_grad_();
    const lectures::RNN rnn(4, 3, random);
    show(rnn(x), x, {rnn.weight_ih_l0, rnn.weight_hh_l0, rnn.bias_hh_l0}, line);
    const lectures::LSTM lstm(4, 3, random);
    show(lstm(x), x, {lstm.weight_hh_l0, lstm.bias_ih_l0}, line);
    const lectures::Conv1d conv(4, 3, 2, random);
    show(conv(transpose(x, 1, 2)), x, {conv.weight, conv.bias}, line);
    return line.summary();
  });
}
