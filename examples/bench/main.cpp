// Measures how fast mote is, as a share of the limits of this machine. These limits are measured between the runs.
#include "examples/bench/output.h"

namespace {

struct Named {
  const char* name;
  const char* about;
  bench::Command* run;
};
const Named commands[] = {
    {"limits", "multiply-adds and bandwidths of this machine, which the others are held to", bench::limits},
    {"matmul", "the matrix product and its gradients, 24 shapes", bench::matmul},
    {"train", "training steps of six models, or of one of your own", bench::train},
    {"generate", "tokens per second", bench::generate},
};

void help(const char* program) {
  std::vector<mote::TableRow> rows{{"Measures mote, and beside it the limits of this machine.\n"},
                                   {std::string("usage: ") + program + " WHAT [options]\n"}};
  for (const Named& c : commands) rows.push_back({std::string("  ") + c.name, c.about});
  rows.push_back({"  all", "all of them\n"});
  rows.push_back({"  --help", "after WHAT: its options"});
  std::cout << mote::table_text(rows);
}

int run(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "--help" || what == "-h") return help(argv[0]), 0;
  bench::Output out;
  bool known = what == "all";
  for (const Named& c : commands) {
    known = known || what == c.name;
    if (what != c.name && what != "all") continue;
    std::string program = argv[0] + std::string(" ") + c.name;
    std::vector<char*> arguments(argv + 1, argv + argc);
    arguments[0] = program.data();
    arguments.push_back(nullptr);  // argv ends with a null pointer, as in main
    c.run(argc - 1, arguments.data(), out);
  }
  if (!known)
    throw mote::UsageError((what.empty() ? "say what to measure" : "'" + what + "' is nothing to measure") + ": " +
                     mote::all_names(commands) + ", or all");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return mote::run_program(argv[0], [&] { return run(argc, argv); });
}
