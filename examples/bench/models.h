// The models that are measured, and what a training step of one has to compute.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/gpt.h"
#include "train/adamw.h"

namespace bench {

/// A model and the batch it is trained with, sequences as long as block_size.
struct Case {
  std::string name;
  mote::GPTConfig config;
  mote::Index batch = 32;
  int threads = 0;  ///< to measure it with, unless options say otherwise; 0: all
};

/// microgpt's model, then from smallest to largest: attention alone of width 32; three of sizes that people train at
/// home; GPT-2 with a batch of 4 sequences.
std::vector<Case> cases();
/// Errors: a name that none of them has.
Case case_named(const std::string& name);

/// Floating-point operations of one step: the products of all linear layers and of attention, where each position
/// attends to itself and those before it; twice as much backward as forward. The rest (norms, activations, sums) is
/// left out.
double step_flops(const mote::GPT& model, mote::Index batch);
/// Bytes that AdamW reads and writes: value, gradient and two moments of each parameter; all but the gradient again.
double adamw_bytes(const mote::GPT& model);

/// A model in training on random ids, which are drawn before.
class Training {
 public:
  explicit Training(const Case& c);
  mote::Tensor loss();
  void step();  ///< forward, backward, AdamW, zero_grad

  mote::GPT model;

 private:
  mote::AdamW optimizer_;
  std::vector<std::pair<mote::IntArray, mote::IntArray>> batches_;
  std::size_t next_ = 0;
};

}  // namespace bench
