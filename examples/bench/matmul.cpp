// bench matmul: the matrix product as a share of the multiply-add peak.
#include <cmath>

#include "engine/base/parallel.h"
#include "engine/kernels/gemm.h"
#include "engine/ops/sample.h"
#include "examples/bench/measure.h"
#include "examples/bench/output.h"

namespace bench {
namespace {

using mote::Index;

struct ProductOptions {
  Index m = 0, k = 0, n = 0;
  template <class V>
  void visit(V& v) {
    v("m", m, "rows of x [m, k] and of y = x W [m, n]; 0, as k and n: a list of shapes");
    v("k", k, "rows of W [k, n]");
    v("n", n, "columns of W");
  }
};

struct Shape {
  Index m, k, n;
  double flops() const { return 2.0 * static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n); }
};

/// The shapes that are measured: squares, and the linear layers of the models that `bench train` measures.
std::vector<Shape> shapes() {
  std::vector<Shape> all;
  for (const Index s : {16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048}) all.push_back({s, s, s});
  for (const Shape s : {Shape{384, 32, 96},
                        {384, 32, 32},
                        {384, 32, 128},
                        {384, 128, 32},
                        {768, 384, 1152},
                        {768, 384, 1536},
                        {768, 1536, 384},
                        {256, 768, 2304},
                        {256, 768, 3072},
                        {256, 3072, 768},
                        {256, 768, 50257}})
    all.push_back(s);
  return all;
}

/// Measures y = x W (NN), dx = dy W^T (NT) or dW = x^T dy (TN), for x [m, k] and W [k, n].
Result product(const Shape& s, const std::string& form, double seconds) {
  using mote::kernels::Matrix;
  const auto elements = [](Index rows, Index columns) {
    return uniform(-1, 1, {rows, columns}, mote::Generator(1)).array();
  };
  const mote::Array x = elements(s.m, s.k), w = elements(s.k, s.n), dy = elements(s.m, s.n);
  mote::Array result = form == "NN" ? dy : form == "NT" ? x : w;  // an array of the result's shape
  mote::real* const y = result.mutate();
  return measure(
      [&] {
        if (form == "NN")
          mote::kernels::gemm(s.m, s.n, s.k, Matrix{x.data(), s.k, 1}, Matrix{w.data(), s.n, 1}, y, s.n);
        else if (form == "NT")
          mote::kernels::gemm(s.m, s.k, s.n, Matrix{dy.data(), s.n, 1}, Matrix{w.data(), 1, s.n}, y, s.k);
        else
          mote::kernels::gemm(s.k, s.n, s.m, Matrix{x.data(), 1, s.k}, Matrix{dy.data(), s.n, 1}, y, s.n);
      },
      {.flops = s.flops()}, seconds);
}

void table(const std::vector<Shape>& list, double seconds, Output& out) {
  out.table("y = x W with x [m, k] and W [k, n], on " + std::to_string(mote::threads()) +
                " threads; the limit is multiplying and adding in registers",
            {"form", "m", "k", "n", "us", "GFLOP/s", "limit", "of limit"});
  double logs = 0, worst = 1e9;
  int count = 0;
  for (const Shape& s : list)
    for (const char* const form : {"NN", "NT", "TN"}) {
      const Result r = product(s, form, seconds);
      out.row({form, s.m, s.k, s.n, r.seconds * 1e6, s.flops() / r.seconds * 1e-9, r.gflops, share(r.share)});
      logs += std::log(r.share);
      worst = std::min(worst, r.share);
      ++count;
    }
  const auto percent = [](double x) { return std::to_string(std::lround(100 * x)) + " %"; };
  out.note("geometric mean " + percent(std::exp(logs / count)) + ", the worst " + percent(worst));
}

}  // namespace

void matmul(int argc, char** argv, Output& out) {
  ProductOptions product;
  Common common;
  common.seconds = 0.1;
  mote::Options options("Measures the matrix product and the two of its gradients.");
  options.add("What to measure", product);
  if (!common.parse(options, argc, argv)) return;
  const bool own = product.m != 0 || product.k != 0 || product.n != 0;
  if (own && (product.m < 1 || product.k < 1 || product.n < 1))
    throw mote::UsageError("--m, --k and --n belong together, each at least 1");
  const std::vector<Shape> list = own ? std::vector<Shape>{{product.m, product.k, product.n}} : shapes();
  const int all = mote::threads();
  if (common.threads == 0 && all > 1) {
    mote::set_threads(1);
    table(list, common.seconds, out);
    mote::set_threads(all);
  }
  table(list, common.seconds, out);
}

}  // namespace bench
