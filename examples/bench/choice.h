// --model, --batch and every field of a model's config, as options of the measurements of models.
#pragma once

#include "examples/bench/commands.h"
#include "examples/bench/models.h"

namespace bench {

/// Which models to measure: all, or one, whose own settings are then the defaults.
class Choice {
 public:
  /// `otherwise` is the model whose fields are the defaults if none is named. Errors: no model of that name.
  Choice(int argc, char** argv, const std::string& otherwise, mote::Index batch = 0)
      : name(CommandLine(argc, argv).peek("model", "all")),
        one(checked_usage([&] { return case_named(name == "all" ? otherwise : name); })) {
    if (batch > 0) one.batch = batch;
    given_ = one;
  }

  void add_to(Options& options) {
    options.add("What to measure", *this);
    options.add("Of the model (given without --model: " + one.name + "'s, but for the fields named)", one.config);
  }
  /// All of `list` unless a model is named or a field given. Errors: a config that no model can have.
  std::vector<Case> chosen(const std::vector<Case>& list) const {
    if (one.batch < 1) throw UsageError("batch " + std::to_string(one.batch) + " must be at least 1");
    const bool own = one.batch != given_.batch || mote::fields(one.config) != mote::fields(given_.config);
    if (name == "all" && !own) return list;
    checked_usage([&] { mote::GPT(one.config, mote::Init::none(mote::Generator(1))); });
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
