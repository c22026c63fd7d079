// The models that are measured, the options that choose a model, and the operations of a training step.
#pragma once

#include <string>
#include <vector>

#include "examples/programs/options.h"
#include "models/gpt.h"
#include "train/optim/adamw.h"

namespace bench {

/// A model and the batch size it is trained with. Every sequence is as long as block_size.
struct Case {
  std::string name;
  mote::GPTConfig config;
  mote::Index batch = 32;
};

/// The models that are measured, from smallest to largest. They are microgpt's model, a layer of attention of width 32
/// without a feed-forward network, three models of sizes that people train at home, and GPT-2 with a batch of 4
/// sequences.
std::vector<Case> cases();
/// Returns the model of cases() that has this name. Errors: no model has this name.
Case case_named(const std::string& name);

/// The number of weights in the matrices of all linear layers. A forward pass multiplies every token by each of them
/// once.
mote::Index weights_of(const mote::GPT& model);
/// The floating-point operations of one training step. The products of all linear layers and of attention are counted.
/// In attention each position attends to itself and to earlier positions. Backward counts twice as much as forward.
/// Norms, activations and sums are not counted.
double step_flops(const mote::GPT& model, mote::Index batch);

/// A model that is trained on random ids.
class Training {
 public:
  explicit Training(const Case& c);
  void step();  ///< forward, backward, AdamW, zero_grad

  mote::GPT model;

 private:
  mote::AdamW optimizer_;
  mote::IntArray ids_, targets_;
};

/// The options that choose which models to measure: all, or one model, whose settings can be changed.
class Choice {
 public:
  /// `otherwise` is the model whose settings are the defaults if no model is named. Errors: no model has the given
  /// name.
  Choice(int argc, char** argv, const std::string& otherwise)
      : name(mote::CommandLine(argc, argv).peek("model", "all")),
        one(mote::checked_usage([&] { return case_named(name == "all" ? otherwise : name); })) {}

  void add_to(mote::Options& options) {
    given_ = one;
    options.add("What to measure", *this);
    options.add("Of the model (given without --model: " + one.name + "'s, but for the fields named)", one.config);
  }
  /// All of `list`, or a single case if a model is named or a setting is changed. Errors: a batch below 1, a config
  /// that no model can have.
  std::vector<Case> chosen(const std::vector<Case>& list) const {
    if (one.batch < 1) throw mote::UsageError("batch " + std::to_string(one.batch) + " must be at least 1");
    const bool own = one.batch != given_.batch || mote::fields(one.config) != mote::fields(given_.config);
    if (name == "all" && !own) return list;
    mote::checked_usage([&] { mote::GPT(one.config, mote::Init::none(mote::Generator(1))); });
    Case c = one;
    if (own) c.name = name == "all" ? "own" : name + " changed";
    return {c};
  }

  template <class V>
  void visit(V& v) {
    v("model", name, "micro, S0, S1, S2, S3, S4, or all that this measures");
    v("batch", one.batch, "sequences at a time");
  }

  std::string name;
  Case one;

 private:
  Case given_;
};

}  // namespace bench
