// The functions that figures share: a training, and the percentage of right predictions.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "examples/lessons/lesson.h"
#include "examples/programs/many_seeds.h"
#include "models/inside.h"
#include "train/tasks/task.h"
#include "train/train.h"

/// Trains a model with AdamW in batches of 32. The learning rate warms up for 80 steps and falls to a tenth in the
/// end. each(step) runs before every step.
inline void train(const mote::GPT& model, const mote::Task& task, int steps, double decay,
                  const mote::Generator& random, const std::function<void(int)>& each = {}) {
  mote::AdamW optimizer(mote::decay_groups(model, decay), {});
  for (int step = 0; step < steps; ++step) {
    if (each) each(step);
    const mote::Batch batch = task.batch(32, mote::Split::train, random);
    optimizer.zero_grad();
    model.loss(batch.ids, batch.targets).backward();
    mote::clip_grad_norm(optimizer.parameters(), 1);
    optimizer.set_learning_rate(3e-3 * std::min(1.0, (step + 1) / 80.0) * (1 - 0.9 * step / steps));
    optimizer.step();
  }
}

/// The percentage of targets that are the likeliest token. Targets of -1 do not count.
inline double percent_right(const mote::GPT& model, const mote::Batch& batch) {
  const mote::NoGrad no_grad;
  const mote::Tensor asked = tensor(batch.targets != -1);
  const mote::Tensor right = tensor(argmax(model(batch.ids)) == batch.targets) * asked;
  return 100 * number(sum(right) / sum(asked));
}

/// The name of a layer's attention, such as "transformer.h.1.attn". With " heads" or " weights" appended, the name is
/// that of a value inside the attention.
inline std::string attention_name(mote::Index layer) { return "transformer.h." + std::to_string(layer) + ".attn"; }
