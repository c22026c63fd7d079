# Wrong programs, and the sentence that each must get from the compiler within its first eight lines. Run by ctest with
# cmake -DSOURCE_DIR=... -DCOMPILER=... -DWORK_DIR=... -P compile_errors.cmake
cmake_minimum_required(VERSION 3.22)
file(MAKE_DIRECTORY ${WORK_DIR})

set(mask "a Tensor is not a Mask: write m > 0, or from_blocked(m) where 1 means blocked")
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

refuses("engine/ops/compare.h" "(x > 0) * x" "a mask selects: write where(mask, x, 0)")
refuses("engine/ops/compare.h;engine/ops/arithmetic.h" "x * (x > 0)" "a mask selects: write where(mask, x, 0)")
refuses("engine/ops/compare.h" "1 - (x > 0)" "write ~mask for the opposite mask")
refuses("engine/ops/compare.h" "tensor(ints({1}) == ints({1}))" "write eq(a, b) for a Mask")
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
refuses("${train}" "const Linear m(3, 4, random); AdamW(parameters(m), {.lr = 0.1})"
  "write AdamW(all_parameters(model), {.lr = 1e-3})")
refuses("${train}" "const Linear m(3, 4, random); SGD o(parameters(m))"
  "write SGD(all_parameters(model), {.lr = 1e-3})")
refuses("${train}" "const Linear m(3, 4, random); Adam o(m, {.lr = 0.1})"
  "write Adam(all_parameters(model), {.lr = 1e-3})")
refuses("${train}" "const Linear m(3, 4, random); AdamW(decay_groups(m, 0.1), 1e-3)"
  "write AdamW(all_parameters(model), {.lr = 1e-3})")
refuses("${train}" "const Linear m(3, 4, random); Muon o(all_parameters(m), {.lr = 0.1})"
  "write Muon(muon_groups(model, 0.1), {.lr = 1e-3})")
refuses("engine/ops/attention.h" "attention(x, x, x, ones({2, 2}))"
  "write {.mask = m}; of floats m > 0, or from_blocked(m) where 1 means blocked")
refuses("engine/ops/loss.h" "cross_entropy(x, {0, 1})" "braces have no type: write ints({1, 0})")
refuses("engine/ops/loss.h" "cross_entropy(x, {{0, 1}})" "braces have no type: write ints({1, 0})")
refuses("engine/ops/loss.h" "cross_entropy(x, std::vector<int>{0, 1})"
  "targets are class ids, whole numbers: write ints(")
refuses("engine/engine.h" "Parameter(zeros({2}))" "a Parameter holds an Array: write Parameter(x.array())")
refuses("engine/engine.h" "x.clone()" "tensors never change in place: write y = x, or x.detach() without the graph")
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
refuses("engine/engine.h" "x[0]" "write select(x, axis, position), or slice(x, axis, start, end)")
refuses("nn/linear.h" "Linear m(3, 4)" "pass the Generator that weights are drawn from: Linear(3, 4, random)")
refuses("nn/linear.h" "Linear m(3, 4, 123)" "write Generator(123) for the seed 123")
refuses("nn/embedding.h" "Embedding m(3, 4)" "pass the Generator that weights are drawn from: Embedding(V, C, random)")
refuses("models/mlp.h" "MLP m({3, 16, 2})" "pass the Generator that weights are drawn from: MLP({3, 16, 2}, random)")
refuses("models/mlp.h" "MLP m({3, 16, 2}, 123)" "write Generator(123) for the seed 123")
refuses("nn/nn.h" "SelfAttention m(8, 2, 123)" "write Generator(123) for the seed 123")
refuses("nn/nn.h" "Sequential m{Linear(3, 4, random), relu, Linear(4, 2, random)}"
  "a Sequential is of layers: write ReLU(), not relu")
refuses("nn/nn.h" "const SelfAttention m(4, 2, random); attention_maps(m, x)" "it must not be const")
refuses("nn/linear.h" "struct L : Layer<L> { Tensor forward(const Tensor& y) const { return y; } }; L layer"
  "a layer lists its fields: void visit(Visitor& v) override { v(")
refuses("engine/engine.h" "x.item()" "mote: compile without" -ffinite-math-only)
if(failed)
  message(FATAL_ERROR "${failed}")
endif()
message(STATUS "${count} wrong programs get their sentence")
