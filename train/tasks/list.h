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

/// A task by name, with these options, and the state that a checkpoint kept of it, if any. Errors: those of
/// task_options(), values that the task rejects, a state for a task that has none.
std::unique_ptr<Task> make_task(const std::string& name, const FieldValues& values = {}, const std::string& state = {});

}  // namespace mote
