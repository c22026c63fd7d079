// The list of toy tasks, by name.
#pragma once

#include <memory>

#include "train/tasks/task.h"

namespace mote {

/// Names of all tasks, in alphabetical order.
std::vector<std::string> task_names();

/// A task's options: these values, and its defaults for the others. Errors: no task of this name, options that it does
/// not have, text that is not a value.
std::vector<Field> task_options(const std::string& name, const FieldValues& values = {});

/// The recipe of a task with these options; a text is not read for it. Errors: those of task_options(), values that the
/// task rejects.
Recipe task_recipe(const std::string& name, const FieldValues& values = {});

/// The task that make_task() makes. Where the pointer is a temporary, *make_task(...) does not compile: a Run would
/// keep a reference to a task that is gone.
struct OwnedTask : std::unique_ptr<Task> {
  using std::unique_ptr<Task>::unique_ptr;
  OwnedTask(std::unique_ptr<Task> task) : std::unique_ptr<Task>(std::move(task)) {}
  Task& operator*() const& { return *get(); }
  Task& operator*() const&& = delete;  // give the pointer a name: const auto task = make_task(...)
};

/// A task by name, with these options, and the state that a checkpoint kept of it, if any. Errors: those of
/// task_options(), values that the task rejects, a state for a task that has none.
OwnedTask make_task(const std::string& name, const FieldValues& values = {}, const std::string& state = {});

}  // namespace mote
