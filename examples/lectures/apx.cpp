// ApX Machine Learning's page on multi-head attention: the shapes in each step of its example (8 heads, input (32,
// 100, 512)), the cost of eight heads compared with one, and the page's mask, in which 0 blocks.
#include <iostream>

#include "engine/engine.h"
#include "examples/lectures/tutorial.h"
#include "models/tutorials/apx.h"

using namespace mote;
using tutorials::apx::MultiHeadAttention;

namespace {

void lesson() {
  const NoGrad no_grad;
  const Index d_model = 512, num_heads = 8, seq_len = 100, batch_size = 32;
  const Generator random(123);
  const MultiHeadAttention multihead_attn(d_model, num_heads, random);
  const Tensor input_tensor = randn({batch_size, seq_len, d_model}, random);

  std::cout << "forward(), step by step\n1. Q = W_q(query)              " << size(multihead_attn.W_q(input_tensor));
  const Tensor Q = split_heads(multihead_attn.W_q(input_tensor), num_heads);
  const Tensor K = split_heads(multihead_attn.W_k(input_tensor), num_heads);
  const Tensor V = split_heads(multihead_attn.W_v(input_tensor), num_heads);
  std::cout << "\n2. .view().transpose(1, 2)     " << size(Q) << "   d_k = " << multihead_attn.d_k
            << "\n3. attn_scores                 " << size(matmul(Q, transpose(K, -2, -1)));
  const Tensor attn_output = multihead_attn.scaled_dot_product_attention(Q, K, V);
  std::cout << "\n   attn_output                 " << size(attn_output) << "\n4. .transpose().view()         "
            << size(join_heads(attn_output)) << "\n\nExample usage\n";
  Lines line("apx");
  const Tensor output = multihead_attn(input_tensor, input_tensor, input_tensor);
  line(size(output));
  claim(line.summary() == 0, "the shape that the page promises");
  std::cout << "\n" << summary(multihead_attn) << "\n";
  const Tensor by_steps = multihead_attn.W_o(join_heads(attn_output));
  claim(by_steps.to_vector() == output.to_vector(), "the steps above are the call, to the last bit");
  claim(parameter_count(multihead_attn) == 1'050'624,
        "four matrices of 512 x 512, and their biases: 1,050,624 numbers");

  const MultiHeadAttention single(d_model, 1, random);
  const Index eight = multiply_adds(multihead_attn, input_tensor), one = multiply_adds(single, input_tensor);
  std::cout << "\nMultiply-adds of 8 heads of width 64: " << eight << ", of 1 head of width 512: " << one << "\n";
  claim(eight == one, "the total cost is that of a single head with full dimensionality");

  std::cout << "\nA mask, \"e.g., for padding or future tokens in decoder\": 0 blocks, by a score of -1e9\n";
  const Tensor few = slice(slice(input_tensor, 0, 0, 2), 1, 0, 4);  // two rows of four tokens
  const Tensor future = tril(ones({4, 4})), padding = tensor({{{{1, 1, 1, 1}}}, {{{1, 1, 0, 0}}}});
  std::cout << future << "\n"
            << size(multihead_attn(few, few, few, future)) << "\n"
            << padding << "\n"
            << size(multihead_attn(few, few, few, padding)) << "\n";
  const Tensor last = multihead_attn(few, few, few, future), all = multihead_attn(few, few, few);
  claim(select(last, 1, 3).to_vector() == select(all, 1, 3).to_vector(), "the last token may see all, as without it");
  const Tensor nothing = multihead_attn(few, few, few, zeros({4, 4})), mean_v = mean(multihead_attn.W_v(few), {1});
  claim(number(max(abs(select(nothing, 1, 0) - multihead_attn.W_o(mean_v)))) < 1e-6,
        "where everything is blocked all scores are equal: the mean of the values");
}

}  // namespace

int main(int, char** argv) { return run_lesson(argv, lesson); }
