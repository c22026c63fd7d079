// check_fields: each kind of field that visit() may forget; what is no mistake; eval() that misses a Dropout.
#include "nn/check_fields.h"

#include "engine/ops/ops.h"
#include "nn/activation.h"
#include "nn/dropout.h"
#include "nn/linear.h"
#include "nn/sequential.h"
#include "tests/sentences.h"
#include "tests/tools.h"

namespace mote::test::check_fields_test {
namespace {

enum class Forgets { nothing, parameter, child, dropout };

/// drop(scale * fc(x)).
struct Part : Layer<Part> {
  Linear fc;
  Parameter scale;
  Dropout drop;
  Forgets forgets;
  explicit Part(const Generator& random, Forgets what = Forgets::nothing)
      : fc(2, 3, random), scale(Array::full({3}, 1)), drop(0.5, random), forgets(what) {}
  Tensor forward(const Tensor& x) const { return drop(fc(x) * Tensor(scale)); }
  void visit(Visitor& v) override {
    if (forgets != Forgets::child) v("fc", fc);
    if (forgets != Forgets::parameter) v("scale", scale);
    if (forgets != Forgets::dropout) v("drop", drop);
  }
};

/// The same inside another module.
struct Whole : Layer<Whole> {
  std::vector<Part> parts;
  explicit Whole(const Generator& random, Forgets what) { parts.emplace_back(random, what); }
  Tensor forward(const Tensor& x) const { return parts[0](x); }
  void visit(Visitor& v) override { v("parts", parts); }
};

const Tensor x = Array::full({4, 2}, 1);

template <class M>
std::string said(const M& m) {
  return error_of([&] { check_fields([&] { m(x); }); });
}

TEST_CASE("check_fields: names the layer whose visit() forgot a field, and what it forgot") {
  const Generator random(1);
  const std::string trained =
      ": no optimizer would train it; list every field in visit(), or freeze what is not to "
      "be trained";
  CHECK(said(Part(random)) == "(no error)");
  CHECK(said(Whole(random, Forgets::nothing)) == "(no error)");
  CHECK(said(Part(random, Forgets::parameter)) ==
        "check_fields: visit() of Part does not list a parameter that it uses, of shape [3]" + trained);
  CHECK(said(Whole(random, Forgets::child)) ==
        "check_fields: visit() of Part (parts.0) does not list the Linear that it calls, of shape [3, 2], [3]" +
            trained);
  CHECK(said(Whole(random, Forgets::dropout)) ==
        "check_fields: visit() of Part (parts.0) does not list the Dropout that it calls: eval() would not reach it; "
        "list every field in visit()");
  const Part forgetful(random, Forgets::parameter);
  REFUSES(const NoGrad no_grad; check_fields([&] { forgetful(x); }));
}

/// Calls a trunk that others own.
struct Head : Layer<Head> {
  const Part& trunk;
  Linear out;
  Head(const Part& shared, const Generator& random) : trunk(shared), out(3, 1, random) {}
  Tensor forward(const Tensor& input) const { return out(relu(ReLU()(trunk(input)))); }
  void visit(Visitor& v) override { v("out", out); }
};

TEST_CASE("check_fields: what is frozen, has no state, is called by nobody or tied is no mistake") {
  const Generator random(1);
  Part trunk(random);
  set_trainable(trunk, false);
  CHECK(said(Head(trunk, random)) == "(no error)");
  CHECK(said(Sequential{Linear(2, 2, random), ReLU(), Dropout(0.1, random)}) == "(no error)");
  const Parameter bare(Array::full({2}, 1));
  CHECK(error_of([&] { check_fields([&] { x* bare; }); }) == "(no error)");
  trunk.fc.weight.set_trainable(true);
  CHECK(said(Head(trunk, random))
            .starts_with("check_fields: visit() of Head does not list the Part that it calls, of "
                         "shape [3, 2]: no optimizer"));
}

TEST_CASE("a Dropout that eval() missed says so when it is called; one that trains on purpose does not") {
  const Generator random(1);
  Whole forgetful(random, Forgets::dropout), good(random, Forgets::nothing);
  const auto call = [](const Whole& m) { return error_of([&] { m(x); }); };
  CHECK(call(forgetful) == "(no error)");
  forgetful.eval();
  CHECK_SENTENCE(call(forgetful));
  CHECK(error_of([&] { forgetful.parts[0].drop(x); }) == "(no error)");
  good.eval();
  good.parts[0].drop.train();  // draws at test time, by intention
  CHECK(call(good) == "(no error)");
}

}  // namespace
}  // namespace mote::test::check_fields_test
