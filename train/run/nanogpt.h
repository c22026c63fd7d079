// Exchange of runs with nanoGPT's trainer, in both directions: its checkpoint ckpt.pt, and its config file.
#pragma once

#include <string>
#include <vector>

#include "train/keep/exchange.h"
#include "train/loop/recipe.h"
#include "train/run/run_state.h"

namespace mote {

/// Returns a run as the contents of nanoGPT's ckpt.pt: model, optimizer, model_args, iter_num, best_val_loss and
/// config. config["dataset"] is `dataset`, the folder of the tokens. The entry "mote" has all that nanoGPT's trainer
/// does not read: the random state of the batches ("rng_state", for torch.set_rng_state()), the averages of an EMA,
/// and all `settings`, which mote needs to read the run back. `names` are the names of nanoGPT's parameters, and
/// `args` are its model_args. Errors: an optimizer other than AdamW.
TorchValue nanogpt_checkpoint(const Module& model, const NameTable& names, const FieldValues& args,
                              const Recipe& recipe, const RunState& state, const FieldValues& settings,
                              const std::string& dataset = {});

/// The config file with which nanoGPT's trainer resumes the run: `python train.py config.py`. `folder` is the path of
/// a folder with ckpt.pt, train.bin and val.bin. The path should be absolute, because nanoGPT looks for a relative
/// path in data/.
std::string nanogpt_config_file(const FieldValues& args, const Recipe& recipe, const std::string& folder);
/// Names the setting of a recipe that nanoGPT's trainer would treat differently after `steps` steps, such as "schedule
/// linear". Returns "" if there is no such setting.
std::string nanogpt_difference(const Recipe& recipe, Index steps);

/// The settings of a ckpt.pt, as texts by group and name.
struct NanogptSettings {
  FieldValues all;
  bool own = false;                       ///< whether mote wrote the file
  std::string dataset = {};               ///< config["dataset"], the folder of the tokens in data/; "" if absent
  Index vocab_size = 0;                   ///< rows of the model's token embedding
  std::vector<std::string> unknown = {};  ///< entries that nanoGPT does not define, such as "label_smoothing = 0.1"
};
/// Reads the settings in a ckpt.pt. If mote wrote the file, the settings are those that mote wrote. Otherwise they are
/// read from nanoGPT's config and model_args, as listed below. All other entries are listed as `unknown`.
///
///     used as they are   n_layer, n_head, n_embd, dropout, bias, block_size, batch_size, gradient_accumulation_steps,
///                        learning_rate, max_iters, weight_decay, beta1, beta2, grad_clip, eval_interval, eval_iters;
///     used as schedule   decay_lr: True is cosine with warmup_iters, lr_decay_iters and min_lr; False is constant, and
///                        ignores warmup_iters, lr_decay_iters and min_lr;
///     ignored            out_dir, log_interval, eval_only, always_save_checkpoint, init_from, wandb_log,
///                        wandb_project, wandb_run_name, dataset, backend, device, dtype, compile.
///
/// nanoGPT does not average weights, so ema_decay is 0. Errors: a warm-up that ends after lr_decay_iters, because no
/// schedule of mote has that.
NanogptSettings nanogpt_settings(const TorchValue& checkpoint);
/// Reads a run from a ckpt.pt. `model` gets the weights, and `optimizer`, which has the model's parameters, gets its
/// state. A file that nanoGPT itself has saved has no random state. Errors: names, shapes or groups that do not fit.
RunState nanogpt_state(const TorchValue& checkpoint, Module& model, const NameTable& names, Optimizer& optimizer);

}  // namespace mote
