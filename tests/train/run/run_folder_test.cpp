// RunFolder: which checkpoints stay, which is the newest and which the best, whose folder it is.
#include "train/run/run_folder.h"

#include "engine/io/files/file.h"
#include "tests/file_calls.h"
#include "tests/process.h"
#include "tests/sentences.h"
#include "tests/temp_folder.h"
#include "tests/tools.h"

namespace mote::test::run_folder_test {
namespace {

/// A run of which only the step is of interest.
struct Counter {
  Index step = 0;
  Checkpoint checkpoint;
  Counter() { checkpoint.add("step", step); }
  void save(RunFolder& folder, Index steps, std::optional<double> score = {}) {
    step = steps;
    if (score) folder.save_best(checkpoint, *score, steps);
    folder.save(checkpoint, steps);
  }
  Index read(const std::string& path) {
    checkpoint.load(path);
    return step;
  }
};

std::string names(const std::string& steps) {
  std::string all = ".mote.lock";
  for (std::size_t at = 0; at < steps.size();) {
    const std::size_t end = std::min(steps.find(' ', at), steps.size());
    all += " step-" + steps.substr(at, end - at) + ".safetensors";
    at = end + 1;
  }
  return all;
}

TEST_CASE("run folder: the newest stay, in the order of their steps") {
  const TempFolder temporary;
  Counter run;
  RunFolder folder(temporary.path("a/b"), 3);
  const auto seen = [&] {
    std::string text;
    for (const std::string& name : list_folder(folder.path())) text += (text.empty() ? "" : " ") + name;
    return text;
  };
  CHECK(newest_checkpoint(folder.path()).empty());
  for (const Index steps : {0, 5, 10}) run.save(folder, steps);
  CHECK(seen() == names("00000000 00000005 00000010"));
  run.save(folder, 15);
  CHECK(seen() == names("00000005 00000010 00000015"));
  run.save(folder, 15);  // again, after a stop
  CHECK(seen() == names("00000005 00000010 00000015"));
  run.save(folder, 99'999'999);
  run.save(folder, 100'000'000);  // sorts before the others as text
  CHECK(seen() == names("00000015 100000000 99999999"));
  CHECK(newest_checkpoint(folder.path()) == folder.file("step-100000000.safetensors"));
  CHECK(run.read(newest_checkpoint(folder.path())) == 100'000'000);
}

TEST_CASE("run folder: the one just written stays, also where later ones lie; fewer may be kept from now on") {
  const TempFolder temporary;
  Counter run;
  {
    RunFolder folder(temporary.path(), 5);
    for (const Index steps : {10, 20, 30, 40}) run.save(folder, steps);
  }
  RunFolder folder(temporary.path(), 1);
  run.save(folder, 25);
  CHECK(temporary.names() == names("00000025 00000030 00000040"));
  run.save(folder, 50);
  CHECK(temporary.names() == names("00000050"));
}

TEST_CASE("run folder: what is no checkpoint's name is neither the newest nor removed") {
  const TempFolder temporary;
  const std::vector<std::string> strange = {"step-00000900.safetensors.bak",
                                            "step-900.safetensors",
                                            "step-000000900.safetensors",
                                            "step--0000900.safetensors",
                                            "step-0000090x.safetensors",
                                            "xstep-00000900.safetensors",
                                            "step-99999999999999999999.safetensors",
                                            ".mote.1.1.safetensors",
                                            "best.safetensors",
                                            "notes.txt"};
  for (const std::string& name : strange) put_file(temporary.path(name), "mine");
  put_file(temporary.path(".mote.999999.1.part"), "of a program that is gone");
  Counter run;
  RunFolder folder(temporary.path(), 1);
  CHECK(!file_exists(temporary.path(".mote.999999.1.part")));
  CHECK(newest_checkpoint(folder.path()) == temporary.path("best.safetensors"));  // where only the best is left
  CHECK(newest_checkpoint(temporary.path("missing")).empty());
  REFUSES(run.save(folder, -1));
  for (const Index steps : {1, 2, 3}) run.save(folder, steps);
  CHECK(newest_checkpoint(folder.path()) == temporary.path("step-00000003.safetensors"));
  for (const std::string& name : strange) CHECK_MESSAGE(get_file(temporary.path(name)) == "mine", name);
  CHECK(list_folder(temporary.path()).size() == strange.size() + 2);  // and the lock
}

TEST_CASE("run folder: the best is the one with the lowest score") {
  const TempFolder temporary;
  Counter run;
  RunFolder folder(temporary.path(), 1);
  const auto best_after = [&](Index steps, std::optional<double> score) {
    run.save(folder, steps, score);
    return file_exists(best_checkpoint(folder.path())) ? Counter().read(best_checkpoint(folder.path())) : -1;
  };
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  CHECK(best_after(1, {}) == -1);
  CHECK(best_after(2, nan) == -1);  // it would never be beaten
  CHECK(best_after(3, inf) == 3);
  CHECK(best_after(4, 2.0) == 4);
  CHECK(best_after(5, 2.0) == 4);
  CHECK(best_after(6, {}) == 4);
  CHECK(best_after(7, nan) == 4);
  CHECK(best_after(8, -1.0) == 8);
  CHECK(folder.best_score == -1.0);
  CHECK(newest_checkpoint(folder.path()) == folder.file("step-00000008.safetensors"));  // as new as the best
  run.step = 9;
  CHECK(folder.save_best(run.checkpoint, -2.0, 9).ends_with("/best.safetensors"));
  CHECK(newest_checkpoint(folder.path()) == folder.file("best.safetensors"));
  CHECK(run.read(newest_checkpoint(folder.path())) == 9);
  run.save(folder, 10);
  CHECK(newest_checkpoint(folder.path()) == folder.file("step-00000010.safetensors"));
}

TEST_CASE("run folder: it belongs to one run at a time") {
  const TempFolder temporary;
  const RunFolder folder(temporary.path());
  CHECK(error_of([&] { RunFolder{temporary.path()}; }).find("is in use by process ") != std::string::npos);
  REFUSES(RunFolder(temporary.path("new"), 0));
  CHECK(!file_exists(temporary.path("new")));
}

int failing_call = 0;
int fail_some_rename(const char* from, const char* to) {
  if (--failing_call != 0) return system_file_calls.rename(from, to);
  errno = ENOSPC;
  return -1;
}

TEST_CASE("run folder: a checkpoint that cannot be written removes none and leaves the best score") {
  const TempFolder temporary;
  Counter run;
  RunFolder folder(temporary.path(), 1);
  run.save(folder, 1, 5);
  FileCalls calls = system_file_calls;
  calls.rename = fail_some_rename;
  for (const int call : {1, 2}) {  // best.safetensors, then the step's own file
    file_calls = &calls;
    failing_call = call;
    const std::string error = error_of([&] { run.save(folder, 2, 4); });
    file_calls = &system_file_calls;
    CHECK(error.find("No space left on device") != std::string::npos);
    CHECK(folder.best_score == (call == 1 ? 5.0 : 4.0));  // as the file says
    CHECK(Counter().read(best_checkpoint(folder.path())) == (call == 1 ? 1 : 2));
    CHECK(Counter().read(newest_checkpoint(folder.path())) == (call == 1 ? 1 : 2));
    CHECK(temporary.names() == ".mote.lock best.safetensors step-00000001.safetensors");
  }
  run.save(folder, 2, 4);
  CHECK(Counter().read(best_checkpoint(folder.path())) == 2);
  CHECK(temporary.names() == ".mote.lock best.safetensors step-00000002.safetensors");
}

std::string closed_path;
int open_but_closed(const char* path, detail::OpenFor what, unsigned mode) {
  if (std::string(path).find(closed_path) == std::string::npos) return system_file_calls.open(path, what, mode);
  errno = EACCES;
  return -1;
}

TEST_CASE("run folder: a checkpoint that may not be read is not called damaged") {
  const TempFolder temporary;
  Counter run;
  RunFolder folder(temporary.path(), 3);
  for (const Index steps : {1, 2}) run.save(folder, steps, 5.0 - static_cast<double>(steps));
  const std::string newest = folder.file("step-00000002.safetensors");
  FileCalls calls = system_file_calls;
  calls.open = open_but_closed;
  const auto refusal = [&](const std::string& closed) {
    closed_path = closed;
    file_calls = &calls;
    const std::string error = error_of([&] { open_newest_checkpoint(temporary.path()); });
    file_calls = &system_file_calls;
    return error;
  };
  CHECK(refusal("nothing") == "(no error)");
  CHECK(refusal("step-") == "cannot read '" + newest + "': Permission denied");  // and none is to be removed
  put_file(newest, "damaged");
  CHECK(refusal("best").ends_with("; remove it to go on from the newest of these: step-00000001.safetensors"));
  put_file(folder.file("step-00000001.safetensors"), "damaged");
  CHECK(refusal("best").ends_with("; no other checkpoint is whole, but these cannot be read: best.safetensors"));
  CHECK(refusal("nothing").ends_with("; remove it to go on from the newest of these: best.safetensors"));
  put_file(folder.file("best.safetensors"), "damaged");
  CHECK(refusal("nothing").ends_with("; no other checkpoint in " + temporary.path() + " is whole"));
}

}  // namespace
}  // namespace mote::test::run_folder_test
