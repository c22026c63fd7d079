// nanoGPT's trainer: its ckpt.pt with all that it goes on from, in both directions; its config file.
#pragma once

#include <string>
#include <vector>

#include "train/keep/exchange.h"
#include "train/loop/recipe.h"
#include "train/run/run_state.h"

namespace mote {

/// nanoGPT's ckpt.pt: model, optimizer, model_args, iter_num, best_val_loss, config. Its config["dataset"] is the
/// folder of its tokens. What its trainer does not ask for comes under "mote": the random state of its batches
/// ("rng_state", for torch.set_rng_state()), the averages of an EMA and all `settings`, from which the way back is
/// found. `names` are those of nanoGPT's parameters, `args` its model_args. Errors: another optimizer than AdamW.
TorchValue nanogpt_checkpoint(const Module& model, const NameTable& names, const FieldValues& args,
                              const Recipe& recipe, const RunState& state, const FieldValues& settings,
                              const std::string& dataset = {});

/// The file by which its trainer goes on: `python train.py config.py`. `folder` has ckpt.pt, train.bin and val.bin, and
/// is best an absolute path: its trainer looks for tokens in data/ otherwise.
std::string nanogpt_config_file(const FieldValues& args, const Recipe& recipe, const std::string& folder);
/// What of a recipe its trainer would do otherwise from here on, "schedule linear"; "": nothing.
std::string nanogpt_difference(const Recipe& recipe, Index steps);

/// The settings of a ckpt.pt, as texts by group and name.
struct NanogptSettings {
  FieldValues all;
  bool own = false;                       ///< mote wrote them
  std::string dataset = {};               ///< its config's, where it trained on tokens of a folder in data/
  Index vocab_size = 0;                   ///< rows of its model
  std::vector<std::string> unknown = {};  ///< names in its config that nanoGPT does not have: "label_smoothing = 0.1"
};
/// Those that mote wrote into it, else nanoGPT's config and model_args, each of which is taken, has no effect here, or
/// is refused:
///
///     taken              n_layer, n_head, n_embd, dropout, bias, block_size, batch_size, gradient_accumulation_steps,
///                        learning_rate, max_iters, weight_decay, beta1, beta2, grad_clip, eval_interval, eval_iters
///     taken as schedule  decay_lr: True is cosine with warmup_iters, lr_decay_iters, min_lr; False is constant, and
///                        these three have no effect
///     without effect     out_dir, log_interval, eval_only, always_save_checkpoint, init_from, wandb_log,
///                        wandb_project, wandb_run_name, dataset, backend, device, dtype, compile
///
/// nanoGPT has no averages: ema_decay is 0. Errors: a warm-up that ends after lr_decay_iters, which no schedule here
/// has.
NanogptSettings nanogpt_settings(const TorchValue& checkpoint);
/// And the way back: `model` gets the weights, `optimizer`, over its parameters, the state. A file that nanoGPT itself
/// has saved has no random state. Errors: names, shapes, groups that do not fit.
RunState nanogpt_state(const TorchValue& checkpoint, Module& model, const NameTable& names, Optimizer& optimizer);

}  // namespace mote
