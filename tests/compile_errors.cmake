# Wrong programs, and the sentence that each must get from the compiler within its first eight lines. Run by ctest with
# cmake -DSOURCE_DIR=... -DCOMPILER=... -DWORK_DIR=... -P compile_errors.cmake
cmake_minimum_required(VERSION 3.22)
file(MAKE_DIRECTORY ${WORK_DIR})

set(mask "a Tensor is not a Mask: of 0 and 1 write m > 0, or from_blocked(m) where 1 means blocked; of 0 and -infinity write m == 0")
set(ids "this layer takes ids, an IntArray: write ints({{1, 2}})")
set(floats "this layer takes a Tensor: write tensor(ids), or put an Embedding before it")
set(forward "a Layer needs a public `forward(...) const` that takes these arguments")
set(failed)
set(count 0)

# The headers that `code` needs, and the sentence; then flags for the compiler, if any.
function(refuses headers code sentence)
  math(EXPR count "${count} + 1")
  set(program)
  foreach(header IN LISTS headers ITEMS engine/array/random.h engine/ops/create.h)
    string(APPEND program "#include \"${header}\"\n")
  endforeach()
  string(APPEND program "using namespace mote;\nint main() {\n  const Generator random(1);\n"
    "  const Tensor x = zeros({1, 2, 4});\n  ${code};\n}\n")
  file(WRITE ${WORK_DIR}/refused_${count}.cpp "${program}")
  execute_process(COMMAND ${COMPILER} -std=c++20 -fsyntax-only ${ARGN} -I${SOURCE_DIR} ${WORK_DIR}/refused_${count}.cpp
    RESULT_VARIABLE result ERROR_VARIABLE errors)
  set(line "([^\n]*\n)?")
  string(REGEX MATCH "^${line}${line}${line}${line}${line}${line}${line}${line}" start "${errors}")
  string(FIND "${start}" "${sentence}" place)
  if(result EQUAL 0 OR place EQUAL -1)
    set(failed "${failed}\n${code}\nshould not compile, and say '${sentence}', but:\n${start}" PARENT_SCOPE)
  endif()
  set(count ${count} PARENT_SCOPE)
endfunction()

set(no_limit -fmax-errors=0)
execute_process(COMMAND ${COMPILER} --version OUTPUT_VARIABLE version)
if(version MATCHES "clang")
  set(no_limit -ferror-limit=0)
endif()

# The headers, and pairs: a statement, and the sentence of an error in its line. One program for all of them.
function(refuses_each headers)
  math(EXPR count "${count} + 1")
  set(program)
  foreach(header IN LISTS headers ITEMS engine/array/random.h engine/ops/create.h)
    string(APPEND program "#include \"${header}\"\n")
  endforeach()
  string(APPEND program "using namespace mote;\nint main() {\n  const Generator random(1);\n"
    "  const Tensor x = zeros({1, 2, 4});\n  const IntArray ids = ints({{0, 1}});\n  Parameter p(Array::zeros({2}));\n"
    "  double number = 0;\n")
  list(LENGTH headers line)
  math(EXPR line "${line} + 9")
  set(checks)
  while(ARGN)
    list(POP_FRONT ARGN code sentence)
    math(EXPR line "${line} + 1")
    string(APPEND program "  { ${code}; }\n")
    list(APPEND checks "${line}" "${code}" "${sentence}")
  endwhile()
  string(APPEND program "}\n")
  file(WRITE ${WORK_DIR}/refused_${count}.cpp "${program}")
  execute_process(COMMAND ${COMPILER} -std=c++20 -fsyntax-only ${no_limit} -I${SOURCE_DIR} ${WORK_DIR}/refused_${count}.cpp
    ERROR_VARIABLE errors)
  string(REPLACE ";" "," errors "${errors}")
  string(REPLACE "[" "(" errors "${errors}")
  string(REPLACE "]" ")" errors "${errors}")
  string(REPLACE "\n" ";" errors "${errors}")
  while(checks)
    list(POP_FRONT checks line code sentence)
    set(said FALSE)
    set(got)
    foreach(error IN LISTS errors)
      if(error MATCHES "refused_${count}.cpp:${line}:[0-9]+: error: ")
        string(APPEND got "${error}\n")
        string(FIND "${error}" "${sentence}" place)
        if(NOT place EQUAL -1)
          set(said TRUE)
        endif()
      endif()
    endforeach()
    if(NOT said)
      string(APPEND failed "\n${code}\nshould not compile, and say '${sentence}', but:\n${got}")
    endif()
  endwhile()
  set(failed "${failed}" PARENT_SCOPE)
  set(count ${count} PARENT_SCOPE)
endfunction()

# The headers, and statements that users type every day.
function(accepts headers)
  math(EXPR count "${count} + 1")
  set(program)
  foreach(header IN LISTS headers ITEMS engine/array/random.h engine/ops/create.h)
    string(APPEND program "#include \"${header}\"\n")
  endforeach()
  string(APPEND program "using namespace mote;\nint main() {\n  const Generator random(1);\n"
    "  const Tensor x = zeros({1, 2, 4});\n  const IntArray ids = ints({{0, 1}});\n  const std::size_t size = 2;\n"
    "  const long long wide = 2;\n  const unsigned natural = 2;\n  const float small = 1e-5f;\n")
  foreach(code IN LISTS ARGN)
    string(REPLACE "@@" ";" code "${code}")  # a list's elements have no semicolons
    string(APPEND program "  { ${code}; }\n")
  endforeach()
  string(APPEND program "}\n")
  file(WRITE ${WORK_DIR}/accepted_${count}.cpp "${program}")
  execute_process(COMMAND ${COMPILER} -std=c++20 -fsyntax-only -I${SOURCE_DIR} ${WORK_DIR}/accepted_${count}.cpp
    RESULT_VARIABLE result ERROR_VARIABLE errors)
  if(NOT result EQUAL 0)
    set(failed "${failed}\nshould compile:\n${errors}" PARENT_SCOPE)
  endif()
  set(count ${count} PARENT_SCOPE)
endfunction()

# A bool is only a bool, a fraction is no integer, and a count is no eps.
set(axes "axes stand before the flag: write sum(x, -1, true), or sum(x, {}, true) for all axes")
set(axis "an axis is an integer: write max(x, 0), or maximum(x, 0.0) for the larger of two numbers")
set(whole "an integer stands here, not a fraction: write 1, not 1.0")
set(no_bool "an integer stands here, no bool or letter: flags follow it, as in sum(x, 1, true)")
set(flag "a flag is true or false, no number: several axes stand in braces, mean(x, {0, 1})")
set(number "a number stands here, no bool: flags follow it, as in var(x, axes, correction, true)")
set(eps "an eps stands here, not an integer or a bool: write LayerNorm(4, 1e-5, true)")
set(kind "a list has one kind: ints({1, 2}) of integers, tensor({1.5, 2}) of numbers, mask({true}) of bools")
refuses_each("engine/engine.h"
  "sum(x, true)" "${axes}" "sum(x, 1.0)" "${axis}" "sum(x, {0, true})" "${no_bool}" "sum(x, {0.5})" "${whole}"
  "sum(x, 0, 1)" "${flag}" "sum(x, 'a')" "${axes}" "sum(x.array(), true)" "${axes}" "sum(x.array(), 0, 1)" "${flag}"
  "mean(x, true)" "${axes}" "mean(x, 0, 1)" "${flag}" "mean(x, 0, 0.5)" "${flag}" "mean(p, 0, 1)" "${flag}"
  "max(x, 0.)" "${axis}" "max(x, true)" "${axes}" "max(x, 1, 1)" "${flag}" "max(x, {1}, 0)" "${flag}"
  "min(x, 0.f)" "${axis}" "min(x, false)" "${axes}" "max(x.array(), 0.)" "${axis}"
  "var(x, -1, true)" "${number}" "var(x, -1, 1, 1)" "${flag}" "var(x, true)" "${axes}"
  "argmax(x, true)" "${no_bool}" "argmax(x, 0.0)" "${whole}" "argmax(x, 1, 1)" "${flag}"
  "softmax(x, true)" "${no_bool}" "softmax(x, 1.0)" "${whole}" "log_softmax(x, false)" "${no_bool}"
  "transpose(x, 0, true)" "${no_bool}" "transpose(x, 0.0, 1)" "${whole}" "permute(x, {0, true, 2})" "${no_bool}"
  "unsqueeze(x, 1.5)" "${whole}" "squeeze(x, true)" "${no_bool}" "select(x, 0, true)" "${no_bool}"
  "slice(x, 0, 0.5, 1)" "${whole}" "slice(x, 0, 0, 1, true)" "${no_bool}" "gather(x, true, ids)" "${no_bool}"
  "split(x, 2.0)" "${whole}" "split(x, 2, true)" "${no_bool}" "chunk(x, true)" "${no_bool}" "unbind(x, 1.)" "${whole}"
  "cat({x, x}, true)" "${no_bool}" "concat({x, x}, 1.0)" "${whole}" "stack({x, x}, true)" "${no_bool}"
  "tril(x, true)" "${no_bool}" "triu(x, 1.0)" "${whole}" "x.size(true)" "${no_bool}" "x.size(1.0)" "${whole}"
  "x.shape()[true]" "${no_bool}" "x.array().slice(0, true, 1)" "${no_bool}" "x.array().at({0, true, 0})" "${no_bool}"
  "x.array().transpose(0., 1)" "${whole}" "x.array().unsqueeze(true)" "${no_bool}" "Shape{2, true}" "${no_bool}"
  "zeros({2, true})" "${no_bool}" "ones({2.0})" "${whole}" "reshape(x, {true, -1})" "${no_bool}"
  "view(x, {8.0})" "${whole}" "full({2}, true)" "${number}" "arange(true)" "${number}" "arange(0, 4, true)" "${number}"
  "linspace(0, 1, 2.0)" "${whole}" "eye(2.0)" "${whole}" "eye(true)" "${no_bool}"
  "masked_fill(x, x > 0, true)" "${number}" "clamp(x, true)" "${number}" "clamp(x, 0, true)" "${number}"
  "dropout(x, true, random)" "${number}" "layer_norm(x, {}, {}, 1)" "${eps}" "layer_norm(x, {}, {}, true)" "${eps}"
  "rms_norm(x, {}, 1)" "${eps}" "uniform(0, true, {2}, random)" "${number}" "normal(0, true, {2}, random)" "${number}"
  "randint(0, 2.5, {2}, random)" "${whole}" "randint(false, 2, {2}, random)" "${no_bool}"
  "randperm(3.0, random)" "${whole}" "multinomial(x, 1, 1, random)" "${flag}" "multinomial(x, 1.0, random)" "${whole}"
  "bernoulli(true, {2}, random)" "${number}" "exponential(true, {2}, random)" "${number}"
  "causal_mask(3.0)" "${whole}" "causal_mask(true)" "${no_bool}" "causal_mask(2, 2, true)" "${no_bool}"
  "padding_mask({1, 2}, 2.)" "${whole}" "alibi_slopes(2.0)" "${whole}" "KeyValueCache(true)" "${no_bool}"
  "split_heads(x, 2.0)" "${whole}" "embedding(x, ids, 0.02)" "${whole}" "embedding(x, ids, true)" "${no_bool}"
  "ints({1.5})" "${kind}" "ints({true})" "${kind}" "tensor({true, false})" "${kind}" "mask({1, 0})" "${kind}"
  "mask({{0.5}})" "${kind}" "IntArray({2}, 0.5)" "${whole}" "Mask({2}, 1)" "${flag}" "ids == 1.5" "${whole}"
  "ids != true" "${no_bool}" "Generator(1.5)" "${whole}" "Generator(true)" "${no_bool}" "random.manual_seed(.5)" "${whole}"
  "Tensor(x).requires_grad_(1)" "${flag}" "p.set_trainable(0)" "${flag}" "print_precision(2.0)" "${whole}"
  "set_threads(true)" "${no_bool}")
refuses_each("nn/nn.h"
  "LayerNorm m(4, true)" "${eps}" "LayerNorm m(4, 1)" "${eps}" "LayerNorm m(4, 1e-5, 1)" "${flag}"
  "LayerNorm m(4.0)" "${whole}" "LayerNorm m(true)" "${no_bool}" "RMSNorm m(4, 1)" "${eps}" "RMSNorm m(4, true)" "${eps}"
  "Embedding m(3, 4, random, 0.02)" "${whole}" "Embedding m(3, 4, random, true)" "${no_bool}"
  "Embedding m(3., 4, random)" "${whole}" "FeedForward m(4, 8, random, Activation::gelu, true)" "${number}"
  "FeedForward m(4, 8, random, Activation::gelu, 0.1, 1)" "${flag}" "FeedForward m(4, 8., random)" "${whole}"
  "Linear m(3, 4, random, 0.0)" "${flag}" "Linear m(3, 4, random, 1)" "${flag}" "Linear m(3, 4., random)" "${whole}"
  "Linear m(true, 4, random)" "${no_bool}" "Dropout m(true, random)" "${number}"
  "SelfAttention m(4, true, random)" "${no_bool}" "MultiHeadAttention m(4., 2, random)" "${whole}"
  "TransformerBlock m(4, 2., random)" "${whole}" "LearnedPositions m(4, 2., random)" "${whole}"
  "SinusoidalPositions m(true, 4)" "${no_bool}" "init::normal(p, true, 1, random)" "${number}"
  "init::constant(p, true)" "${number}" "init::xavier_uniform(p, random, true)" "${number}"
  "ReLU().train(1)" "${flag}" "named_parameters(ReLU(), 1)" "${flag}" "Init(random).normal({2}, 0, true)" "${number}")
refuses_each("models/models.h;train/train.h"
  "GPT({}, random).generate(ids, 2.0)" "${whole}" "GPT({}, random).generate(ids, true, {}, random)" "${no_bool}"
  "GPT({}, random).loss(ids, ids, {}, true)" "${number}" "fourier_basis(5.0)" "${whole}"
  "perplexity(true)" "${number}" "clip_grad_norm({p}, true)" "${number}" "DataLoader m(true, {}, random)" "${no_bool}"
  "DataLoader m(10., {}, random)" "${whole}" "random_split(5., {5}, random)" "${whole}"
  "learning_rate(ScheduleKind::cosine, 0.5, {})" "${whole}" "decay_groups(ReLU(), true)" "${number}"
  "muon_groups(ReLU(), true)" "${number}" "MeanLoss(x, 0.5)" "${whole}" "MeanLoss(x, true)" "${no_bool}")
accepts("engine/engine.h"
  "sum(x, 1)" "sum(x, {0, 1}, true)" "sum(x, {}, true)" "sum(x, {0})" "sum(x, -1, x.dim() > 1)" "sum(x.array(), 0, true)"
  "mean(x, 0, true)" "max(x, wide)" "max(x, {1}, true)" "max(x, -1, true).values" "var(x, -1, 0, true)" "var(x, 0, 1.0)"
  "argmax(x)" "softmax(x, natural)" "x.size(-1)" "x.size(wide) + x.shape()[natural]" "transpose(x, size, wide)"
  "zeros({size, wide, natural, 2})" "reshape(x, {-1, size})" "view(x, x.shape())" "permute(x, {0, 2, 1})"
  "split(x, 1, 1)" "split(x, {1, 1}, 1)" "split(x, {2})" "chunk(x, size, -1)" "cat({x, x}, 1)" "slice(x, 1, 0, wide)"
  "layer_norm(x, {}, {}, 1e-5)" "rms_norm(x, {}, small)" "dropout(x, 0, random)" "clamp(x, 0, 1)" "clamp(x, -1.5)"
  "pow(x, 2)" "pow(x, 0.5f)" "pow(x, x)" "normal(x, 1, random)" "normal(0, 1, {2}, random)" "full({2}, 1)"
  "arange(3)" "arange(0, 1, 0.25)" "linspace(0, 1, size)" "randint(0, size, {2}, random)" "Generator(size)"
  "Generator(-1)" "Generator(67280421310721)" "multinomial(x, 1, true, random)" "tensor({{1, 2.5}})" "tensor(3)"
  "ints({size, natural})" "ints(std::vector<int>{1, 2})" "tensor(std::vector<float>{1})" "mask({{true, false}})"
  "ids == 1" "ids != wide" "embedding(x, ids, -1)" "causal_mask(size)" "x.array().at({0, wide, size})" "x * 2 + 1.5f"
  "take_rows(ids, {0, 1})" "index(x, 1)" "index(x, ids)" "index(x, {0, 1})" "index(x, x > 0)" "randint(10, {3}, random)"
  "x.array().dim()" "Parameter(Array::zeros({2})).dim()" "Parameter(Array::zeros({2})).size(-1)"
  "static_assert(std::is_same_v<decltype((x + x).array()), Array>)"
  "for (const Index n : (x + x).shape()) static_cast<void>(n)" "for (const real v : (x + x).to_vector()) static_cast<void>(v)"
  "const std::vector<Tensor> list{x, x}@@ Op op(\"f\", x, list)" "const std::span<const Tensor> list(&x, 1)@@ Op op(\"f\", list)"
  "const Parameter p(Array::zeros({2}))@@ Op op(\"f\", p, x)")
accepts("nn/nn.h;models/models.h;train/train.h"
  "LayerNorm m(4)" "LayerNorm m(size, 1e-5)" "LayerNorm m(4, small, false)" "RMSNorm m(4, 1e-6)" "Dropout m(0, random)"
  "Linear m(3, 4, random)" "Linear m(size, wide, random, false)" "Embedding m(3, 4, random)" "Embedding m(3, 4, random, -1)"
  "FeedForward m(4, 16, random, Activation::gelu, 0, false)" "FeedForward m(4, 16, random, Activation::relu, 0.1)"
  "MLP m({3, 16, 2}, random)" "SelfAttention m(8, 2, random, {.dropout = 0}, {.bias = false})" "ReLU().train(false)"
  "DataLoader m(size, {.batch_size = 2}, random)" "MeanLoss(x, size)" "clip_grad_norm({}, 1)" "perplexity(1)"
  "learning_rate(ScheduleKind::constant, size, {})" "Sequential m{Linear(3, 4, random), ReLU()}@@ m.at<Linear>(0)@@ m[-1]"
  "Sequential m = Sequential().add(Linear(3, 4, random)).add(ReLU())")

# An op keeps where its inputs are; a pointer dies with its array.
set(input "an Op's inputs are Tensors, Parameters or lists of Tensors; numbers and arrays go into save(...)")
foreach(other "double s = 2" "const int s = 2" "const Array s = x.array()" "const IntArray s = ints({1})" "const Mask s({2})")
  refuses("engine/engine.h" "${other}; Op op(\"scaled\", x, s)" "${input}")
endforeach()
set(dies "dies with the temporary: give the array a name")
set(die "the elements die with the temporary: give ")
refuses_each("engine/engine.h;nn/nn.h"
  "x.array().transpose(0, 1).contiguous().data()" "${die}" "(x + x).array().data()" "${die}" "ints({1}).data()" "${die}"
  "Mask({2}).data()" "${die}" "(x + x).array().values()" "${die}" "causal_mask(2).values()" "${die}"
  "Array::zeros({2}).mutate()" "${dies}" "IntArray({2}).mutate()" "${dies}" "Array(x.array()).mutate()" "${dies}"
  "Parameter(Array::zeros({2})).mutate()" "the parameter may die with the temporary"
  "Parameter(p).mutate_grad()" "the parameter may die with the temporary"
  "(x + x).shape().begin()" "deleted" "(x + x).shape().data()" "deleted" "named_modules(ReLU())" "deleted"
  "Sequential{ReLU()}[0]" "deleted")

# A layer derived from a layer: what calls and clones it would see the layer beneath alone.
set(field "PutTheLayerIntoAField")
refuses("nn/linear.h" "struct Scaled : Linear { using Linear::Linear; Tensor forward(const Tensor& y) const { return y; } }; Scaled m(3, 4, random)"
  "${field}")
refuses("nn/nn.h" "struct Mine : Layer<Mine> { Tensor forward(const Tensor& y) const { return y; } void visit(Visitor&) override {} }; struct Mine2 : Mine { int n = 0; }; Mine2 m"
  "${field}")
refuses("nn/nn.h" "struct Quiet : Dropout { explicit Quiet(const Generator& g) : Dropout(0.1, g) {} }; Quiet m(random)" "${field}")

refuses("engine/ops/compare.h" "(x > 0) * x" "a mask selects: write where(mask, x, 0)")
refuses("engine/ops/compare.h;engine/ops/arithmetic.h" "x * (x > 0)" "a mask selects: write where(mask, x, 0)")
refuses("engine/ops/compare.h" "1 - (x > 0)" "write ~mask for the opposite mask")
refuses("engine/ops/attention.h" "attention(x, x, x, {.mask = ones({2, 2})})" "${mask}")
refuses("engine/ops/loss.h" "cross_entropy(x, tensor({{1, 0}}))"
  "targets are class ids, whole numbers: write ints({1, 0}), not tensor({1, 0})")
refuses("engine/autograd/rule.h;engine/autograd/op.h;string" "Op op(\"f\", x); auto kept = save(x, std::string(\"a\"))"
  "a rule keeps arrays and plain values only; see is_saveable")
refuses("engine/autograd/op.h;string" "const std::string kind = \"f\"; Op op(kind.c_str(), x)" "constant expression")
refuses("nn/self_attention.h" "SelfAttention(4, 2, random)(x, ones({2, 2}))" "${mask}")
refuses("nn/multi_head_attention.h" "MultiHeadAttention(4, 2, random)(x, x, x, ones({2, 2}))" "${mask}")
refuses("nn/multi_head_attention.h" "MultiHeadAttention(4, 2, random)(x, x)" "${mask}")
refuses("nn/multi_head_attention.h" "MultiHeadAttention(4, 2, random).with_weights(x, ones({2, 2}))" "${mask}")
refuses("nn/embedding.h" "Embedding(3, 4, random)(tensor({{1, 2}}))" "${ids}")
refuses("nn/embedding.h" "Embedding(3, 4, random)(std::vector<int>{1, 2})" "${ids}")
refuses("nn/embedding.h" "Embedding(3, 4, random)({{1, 2}, {0, 1}})" "braces have no type: write ints({{1, 2}})")
refuses("nn/linear.h" "Linear(3, 4, random)({{1.5, 2, 3}})" "braces have no type: write ints({{1, 2}})")
refuses("nn/linear.h" "Linear(3, 4, random)(ints({{1, 2}}))" "${floats}")
refuses("models/mlp.h" "MLP({3, 2}, random)(ints({{1, 2}}))" "${floats}")
refuses("models/mlp.h" "MLP({3, 2}, random)(std::vector<int>{1, 2})" "${floats}")
refuses("nn/linear.h" "struct L : Layer<L> { void visit(Visitor&) override {} }; L()(x)" "${forward}")
refuses("nn/linear.h"
  "struct L : Layer<L> { Tensor forward(Tensor y) { return y; } void visit(Visitor&) override {} }; L()(x)"
  "${forward}")
refuses("nn/linear.h" "Linear(3, 4, random)(x, x)" "${forward}")
set(train train/train.h nn/linear.h)
refuses("${train}" "const Linear m(3, 4, random); AdamW(m, {.lr = 0.1})"
  "write AdamW(all_parameters(model), {.lr = 1e-3})")
refuses("${train}" "const Linear m(3, 4, random); Adam o(m, {.lr = 0.1})"
  "write Adam(all_parameters(model), {.lr = 1e-3})")
refuses("${train}" "const Linear m(3, 4, random); AdamW(decay_groups(m, 0.1), 1e-3)"
  "write AdamW(all_parameters(model), {.lr = 1e-3})")
refuses("${train}" "const Linear m(3, 4, random); Muon o(all_parameters(m), {.lr = 0.1})"
  "write Muon(muon_groups(model, 0.1), {.lr = 1e-3})")
refuses("engine/ops/attention.h" "attention(x, x, x, ones({2, 2}))"
  "write {.mask = m}; of 0 and 1 m > 0, or from_blocked(m) where 1 means blocked; of 0 and -infinity m == 0")
refuses("engine/ops/loss.h" "cross_entropy(x, {0, 1})" "braces have no type: write ints({1, 0})")
refuses("engine/ops/loss.h" "cross_entropy(x, {{0, 1}})" "braces have no type: write ints({1, 0})")
refuses("engine/ops/loss.h" "cross_entropy(x, std::vector<int>{0, 1})"
  "targets are class ids, whole numbers: write ints(")
refuses("engine/engine.h" "Parameter(zeros({2}))" "a Parameter holds an Array: write Parameter(x.array())")
refuses("engine/engine.h" "x.clone()" "tensors never change in place: write y = x, or x.detach() without the graph")
foreach(data "Dataset(x.array(), x.array())" "*make_task(\"copy\")")
  refuses("models/models.h;train/train.h" "GPT g({}, random); Run r(${data}, subject_of(g), {})"
    "deleted")
endforeach()
refuses("train/train.h" "Checkpoint run; int step = 0; run.add(\"step\", step)" "a checkpoint keeps Index (not int)")
foreach(call "view(x, {6, 4})" "sum(x, {-1})" "softmax(x, -1)" "relu(x)" "split(x, size, axis)" "matmul(x, y)")
  string(REGEX REPLACE "[(].*" "" method "${call}")
  foreach(arguments "" "2, 4" "{2, 4}")
    refuses("engine/engine.h" "x.${method}(${arguments})" "a function, not a method: write ${call}")
  endforeach()
endforeach()
foreach(call "zeros(2, 3)" "ones(2)" "rand(2, 3)" "randn(2, 3, random)")
  string(REGEX REPLACE "[(].*" "" function "${call}")
  refuses("engine/engine.h" "${call}" "write ${function}({2, 3}")
endforeach()
refuses("engine/engine.h" "x.T" "write transpose(x, -2, -1)")
refuses("nn/linear.h" "Linear m(3, 4)" "pass the Generator that weights are drawn from: Linear(3, 4, random)")
# A deleted conversion. The note behind the error shows the line of mote, with its comment.
set(no_number "a tensor is no number: write x.item() for its only element")
refuses("engine/engine.h" "const double s = sum(x)" "${no_number}")
refuses("engine/engine.h" "const float s(sum(x))" "${no_number}")
refuses("engine/engine.h" "std::vector<double> losses; losses.push_back(sum(x))" "${no_number}")
refuses("engine/engine.h" "if (sum(x)) return 1" "a tensor is no bool: write x.item() != 0 for its only element")
refuses("engine/engine.h" "while (sum(x) > 0.1) return 1" "a mask is no bool: write all(mask) or any(mask)")
# Where people who come from PyTorch go wrong: masks, integers, methods, options without braces.
refuses_each("engine/engine.h"
  "(x > 0) && (x < 1)" "of masks write a & b"
  "(x > 0) || (x < 1)" "of masks write a | b"
  "!(x > 0)" "of a mask write ~a"
  "const Tensor t = x > 0" "a mask is no number: write tensor(mask) for 0 and 1"
  "(x > 0) + (x > 1)" "a mask is no number: write tensor(mask) for 0 and 1"
  "number += sum(x)" "a tensor is no number: write total += x.item()"
  "number -= sum(x)" "a tensor is no number: write total -= x.item()"
  "mean(x > 0)" "a mean has a fraction: write mean(tensor(x))"
  "mean(ids)" "a mean has a fraction: write mean(tensor(x))"
  "ids + 0.5" "of integers and a fraction write tensor(ids) + 0.5"
  "ids * 0.5" "of integers and a fraction write tensor(ids) * 0.5"
  "ids / 2" "for fractions make the integers floats by tensor(ids), for integers write floor_divide(a, b)"
  "x / ids" "for fractions make the integers floats by tensor(ids), for integers write floor_divide(a, b)"
  "x + ids" "integers are no floats: write x + tensor(ids)" "ids + x" "integers are no floats: write tensor(ids) + x"
  "x - ids" "integers are no floats: write x - tensor(ids)" "ids - x" "integers are no floats: write tensor(ids) - x"
  "x * ids" "integers are no floats: write x * tensor(ids)" "ids * x" "integers are no floats: write tensor(ids) * x"
  "slice(x, 0, 0, 1) = 2" "a selection is a new tensor: write x = index_put(x, {0}, 1), or x = where(mask, 1, x)"
  "index(x, {x == 0}) = x" "a selection is a new tensor: write x = index_put(x, {0}, 1), or x = where(mask, 1, x)"
  "select(x, 0, 0) = ones({2, 4})" "a selection is a new tensor: write x = index_put(x, {0}, 1), or x = where(mask, 1, x)"
  "x.nelement()" "write x.numel()" "p.nelement()" "write numel()"
  "x.retain_grad()" "retain_grad() changes the tensor: declare it as Tensor, not const Tensor"
  "p -= p.grad() * 0.1" "a Parameter changes by p.set(p.value() - p.grad() * 0.1)"
  "p += x" "a Parameter changes by p.set(p.value() + p.grad() * 0.1)" "p *= 2" "a Parameter changes by p.set(p.value() * 0.1)"
  "p.set(p - x)" "a Parameter holds an Array: write p.set(p.value() - p.grad() * 0.1), or x.array()"
  "take_rows(x, ids)" "of an IntArray write index(x, rows)" "take_rows(ids, ids)" "of an IntArray write index(x, rows)"
  "embedding(ids, x)" "the table stands first: write embedding(weight, ids)"
  "x.flatten()" "a function, not a method: write flatten(x)"
  "x.std()" "a function, not a method: write stddev(x, {-1})"
  "x.argmax(-1)" "a function, not a method: write argmax(x, -1)"
  "permute(x, 2, 1, 0)" "axes stand in braces: write permute(x, {1, 0})"
  "save(x, \"x.pt\")" "or save_npy(path, x.array()) for one"
  "save(p, std::string(\"x.npy\"))" "or save_npy(path, x.array()) for one"
  "save(x.array(), \"x.pt\")" "or save_npy(path, x.array()) for one"
  "save(ids, \"x.pt\")" "or save_npy(path, x.array()) for one"
  "reshape(x, 4, 2)" "a shape stands in braces: write reshape(x, {3, 2})"
  "view(x, 4, 2)" "a shape stands in braces: write view(x, {3, 2})"
  "norm(x, 1)" "norm(x, {1}) is over axis 1"
  "attention(x, x, x, true)" "write attention(q, k, v, {.causal = true})"
  "cross_entropy(x, ids, 0.1)" "write cross_entropy(logits, targets, {.label_smoothing = 0.1})")
refuses("engine/engine.h" "max(x, 1)[0]" "write max(x, 1).values or .indices")
refuses("engine/engine.h" "x[0]" "write index(x, {0, Slice(), -1}), or select(x, axis, position)")
refuses("engine/engine.h" "const Array a = x.array(); a = x.array()" "a buffer that forward updates is mutable")
refuses("models/gpt.h" "GPT m({6, 11, 2, 2, 8})" "pass the Generator that weights are drawn from: GPT(config, random)")
refuses("train/optim/sgd.h" "const Parameter p(Array::zeros({2})); SGD m(p)" "write SGD(all_parameters(model), {.lr = 1e-3}), or SGD({w, b}, {.lr = 1e-3}) of Parameters")
refuses("nn/linear.h" "Linear m(3, 4, 123)" "write Generator(123) for the seed 123")
refuses("nn/embedding.h" "Embedding m(3, 4)" "pass the Generator that weights are drawn from: Embedding(V, C, random)")
refuses("models/mlp.h" "MLP m({3, 16, 2})" "pass the Generator that weights are drawn from: MLP({3, 16, 2}, random)")
refuses("models/mlp.h" "MLP m({3, 16, 2}, 123)" "write Generator(123) for the seed 123")
refuses("nn/nn.h" "SelfAttention m(8, 2, 123)" "write Generator(123) for the seed 123")
refuses("nn/nn.h" "Sequential m{Linear(3, 4, random), relu, Linear(4, 2, random)}"
  "a Sequential is of layers: write ReLU(), not relu")
refuses("nn/linear.h" "struct L : Layer<L> { Tensor forward(const Tensor& y) const { return y; } }; L layer"
  "a layer lists its fields: void visit(Visitor& v) override { v(")
refuses("nn/linear.h" "struct L : Layer<L> { Tensor forward(const Tensor& y) const { return y; } void visit(Visitor) {} }; L layer"
  "a layer lists its fields: void visit(Visitor& v) override { v(")
refuses("engine/engine.h" "x.item()" "mote: compile without" -ffinite-math-only)
if(failed)
  message(FATAL_ERROR "${failed}")
endif()
message(STATUS "${count} wrong programs get their sentence")
