// The list of toy tasks, by name.
#pragma once

#include <memory>

#include "train/tasks/task.h"

namespace mote {

/// Names of all tasks, in alphabetical order.
std::vector<std::string> task_names();

/// The options of a task. Those in `values` have the given values, and the others have their defaults. Errors: no task
/// of this name, an option that the task does not have, a text that is not a valid value of its option.
std::vector<Field> task_options(const std::string& name, const FieldValues& values = {});

/// The recipe of a task with these options. For a text task, the text is not read. Errors: those of task_options(),
/// values that the task rejects.
Recipe task_recipe(const std::string& name, const FieldValues& values = {});

/// The pointer that make_task() returns. *make_task(...), which dereferences a temporary pointer, does not compile,
/// because a Run would keep a reference to a task that no longer exists.
struct OwnedTask : std::unique_ptr<Task> {
  using std::unique_ptr<Task>::unique_ptr;
  OwnedTask(std::unique_ptr<Task> task) : std::unique_ptr<Task>(std::move(task)) {}
  Task& operator*() const& { return *get(); }
  Task& operator*() const&& = delete;  // give the pointer a name: const auto task = make_task(...)
};

/// Makes a task by its name, with these option values. `state` is the Data::state() that a checkpoint contains, or "".
/// Errors: those of task_options(), values that the task rejects, a state for a task that has none.
OwnedTask make_task(const std::string& name, const FieldValues& values = {}, const std::string& state = {});

}  // namespace mote
