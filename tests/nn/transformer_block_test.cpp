// TransformerBlock, norms first and norms last: check_module, PyTorch's numbers, switches.
#include "nn/transformer_block.h"

#include "tests/nn/oracles.h"

namespace mote::test::transformer_block_test {
namespace {

const std::vector<std::string> all_names{
    "ln_1.weight", "ln_1.bias", "attn.c_attn.weight", "attn.c_attn.bias", "attn.c_proj.weight", "attn.c_proj.bias",
    "ln_2.weight", "ln_2.bias", "mlp.c_fc.weight",    "mlp.c_fc.bias",    "mlp.c_proj.weight",  "mlp.c_proj.bias"};

std::vector<std::string> names_without(const std::string& part) {
  std::vector<std::string> names = all_names;
  std::erase_if(names, [&](const std::string& n) { return n.rfind(part, 0) == 0 && n.ends_with("bias"); });
  return names;
}

TEST_CASE("TransformerBlock") {
  const Shape shape{2, 3, 4};
  for (const NormOrder order : {NormOrder::pre, NormOrder::post})
    for (const bool is_causal : {true, false})
      check_module(
          "TransformerBlock",
          [=](Generator& random) {
            return TransformerBlock(4, 2, random, {.causal = is_causal, .order = order, .hidden = 5});
          },
          [](const TransformerBlock& m, In x) { return m(x[0]); },
          {.names = all_names,
           .inputs = {random_array(shape, 1)},
           .oracle =
               [=](const Weights& w, const std::vector<Value>& x) {
                 return transformer_block_oracle(w, "", x[0].x, shape, 2, is_causal ? causal() : May(),
                                                 order == NormOrder::pre);
               },
           .error =
               [](const TransformerBlock& m) {
                 m(Tensor(Array::zeros({2, 3, 5})));
               },
           .error_text = order == NormOrder::pre
                             ? "layer_norm: weight [4] does not fit the last axis of x [2, 3, 5] (in ln_1)"
                             : "MultiHeadAttention: x [2, 3, 5] must be [B, T, 4] (in attn)"});
}

TEST_CASE("TransformerBlock: each switch of biases takes its own away") {
  const std::vector<std::pair<std::string, TransformerBlockOptions>> switches{
      {"ln_", {.bias = false}}, {"attn", {.attention_bias = false}}, {"mlp", {.mlp_bias = false}}};
  for (const auto& [part, options] : switches)
    check_module(
        "TransformerBlock", [o = options](Generator& random) { return TransformerBlock(4, 2, random, o); },
        [](const TransformerBlock& m, In x) { return m(x[0]); },
        {.names = names_without(part), .inputs = {random_array({1, 2, 4}, 1)}});
}

TEST_CASE("TransformerBlock with dropout, an activation and a mask") {
  const Mask keep = mask({{true, true, false}, {true, false, true}, {false, false, true}});
  check_module(
      "TransformerBlock",
      [](Generator& random) {
        return TransformerBlock(
            4, 2, random,
            {.causal = false, .dropout = 0.3, .activation = Activation::silu, .hidden = 3, .block_size = 3});
      },
      [&](const TransformerBlock& m, In x) { return m(x[0], keep); },
      {.names = all_names,
       .inputs = {random_array({2, 3, 4}, 1)},
       .error =
           [](const TransformerBlock& m) {
             m(Tensor(Array::zeros({1, 4, 4})));
           },
       .error_text = "MultiHeadAttention: T = 4 is above block_size 3 (in attn)"});
  Generator random(1);
  const TransformerBlock m(4, 2, random, {.causal = false});
  const Array x = random_array({1, 3, 4}, 1);
  CHECK(!same_bits(m(x).array(), m(x, keep).array()));
  CHECK(error_of([&] { TransformerBlock(4, 3, random); }) == "MultiHeadAttention: width 4 is not divisible by 3 heads");
}

/// Weights that are easily made again in PyTorch.
TransformerBlock wavy_block(Index width, Index heads, const TransformerBlockOptions& options) {
  Generator random(1);
  TransformerBlock m(width, heads, random, options);
  const std::vector<Parameter> p = parameters(m);  // in the order of all_names
  const double a[12] = {1, 2, 0.7, 0.3, 1.3, 0.9, 1, 2, 0.6, 0.5, 0.8, 1.1};
  const double b[12] = {0, 0, 0.1, 0.2, 0.4, 0.6, 1, 1, 0.3, 0.7, 0.9, 0.2};
  for (std::size_t i = 0; i < 12; ++i) p.at(i).set(wave(p[i].shape(), a[i], b[i]));
  for (const std::size_t gain : {0u, 6u}) p[gain].set(p[gain].value() * real(0.5) + real(1));
  return m;
}

TEST_CASE("TransformerBlock gives what PyTorch's TransformerEncoderLayer gives") {
  // l = nn.TransformerEncoderLayer(4, 2, 8, dropout=0., activation=F.gelu, batch_first=True, norm_first=first), with
  // the weights below, s(n, a, b) = torch.tensor([math.sin(a * i + b) for i in range(n)]); l(s(12, 1, .5).view(1, 3,
  // 4)) [float64]
  const std::vector<double> expected[2] = {
      {1.76862629166743, 1.96266659556053, -1.64691988020443, -0.127571999969456, -1.11778192890666, 1.09849331684926,
       -1.47033874770807, 1.40203567274895, 1.93850800617712, 1.86182304336836, -1.77411044673726, -0.0849555301879249},
      {4.66882020589025, 5.15268273010101, 2.19676895563776, -1.386732143516, 0.15852431797593, 0.544650649356591,
       1.0733461761878, 1.00053345812297, 4.75142779042137, 3.81504188942951, 0.52195071823794, -2.01572987991902}};
  for (const std::size_t first : {0u, 1u}) {
    const TransformerBlock m =
        wavy_block(4, 2, {.causal = false, .order = first ? NormOrder::pre : NormOrder::post, .hidden = 8});
    CHECK(distance(m(wave({1, 3, 4}, 1, 0.5)).to_vector(), expected[first]) < (f64 ? 1e-13 : 1e-5));
  }
}

TEST_CASE("TransformerBlock gives what PyTorch gives, with a mask and backward, too") {
  // As above, but l = nn.TransformerEncoderLayer(6, 3, 5, ...), x = s(18, 1, .5).view(1, 3, 6) and, norms last,
  // src_mask = triu(ones(3, 3), 1), norms first, that of `keep`; the gradient of x for dy = s(18, .4, .3) [float64]
  const std::vector<double> expected[2] = {
      {2.62730019686682, -0.104888716246839, -1.25512620399927, 1.45866692130489, -0.380118199953299, -1.49803574264596,
       2.59516657357809, -0.170674055831141, -1.17766472632989, 1.44807055772303, -0.413754329380697, -1.4316635502522,
       2.56242513301707, -0.240322575915727, -1.10148642679618, 1.43557197333796, -0.442452401426418,
       -1.36713588772509},
      {2.41486361316784, 1.0015839296363, 0.530357154774949, 5.70506172977409, -6.90304369006924, -5.85605590359673,
       1.91515670435164, 0.67017436521205, 1.4817558012976, 5.76651093822481, -7.38356347062929, -5.56342982845536,
       0.497125944027251, 0.639939583467294, 3.65809070273012, 5.2401581326818, -9.02679488965175, -4.54002199076115}};
  const std::vector<double> expected_dx[2] = {
      {-0.0634049981547142, 0.098308546777399, 0.177501288207496, 0.151349463737937, 0.0769408613827644,
       -0.0116483103217797, 0.282721062584533, 0.230968043251133, 0.0434584879202166, -0.102899533585257,
       -0.0968806130860028, -0.179698855824372, -0.250946694403705, -0.332235140525843, -0.167899064916887,
       0.00550891106947515, 0.00542933256272463, 0.17154639171832},
      {0.462973421512728, 0.553140312174477, 0.66895411841887, 0.851803022773972, 0.812827289243964, 1.17074737630464,
       0.572881475243242, 0.23448314515882, -0.31300319637939, -0.746250164042966, -0.956868105079506,
       -1.27692119342023, -0.999437348733669, -0.767140546023778, -0.40470614660055, -0.119740886778933,
       0.467794592554927, 0.968631524080469}};
  const Mask keep = mask({{true, false, true}, {true, true, false}, {false, false, true}});
  for (const std::size_t first : {0u, 1u}) {
    const TransformerBlock m =
        wavy_block(6, 3, {.causal = first == 0, .order = first ? NormOrder::pre : NormOrder::post, .hidden = 5});
    const Tensor x = Tensor(wave({1, 3, 6}, 1, 0.5)).requires_grad_();
    const Tensor y = m(x, first ? keep : Mask());
    y.backward(wave({1, 3, 6}, 0.4, 0.3));
    CHECK(distance(y.to_vector(), expected[first]) < (f64 ? 1e-13 : 1e-5));
    CHECK(distance(x.grad().to_vector(), expected_dx[first]) < (f64 ? 1e-13 : 1e-5));
  }
}

TEST_CASE("TransformerBlock: hidden is four times the width unless told otherwise") {
  Generator random(1);
  CHECK(TransformerBlock(4, 2, random).mlp->c_fc.weight.shape() == Shape{16, 4});
  CHECK(TransformerBlock(4, 2, random, {.hidden = 7}).mlp->c_proj.weight.shape() == Shape{4, 7});
}

}  // namespace
}  // namespace mote::test::transformer_block_test
