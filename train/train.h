// Includes training: optimizers, schedules, clipping, the loop, checkpoints, recipes, runs, batches of rows, progress,
// tasks, tokenizers.
#pragma once

#include "train/checkpoint.h"
#include "train/clip.h"
#include "train/data_loader.h"
#include "train/ema.h"
#include "train/evaluate.h"
#include "train/fit.h"
#include "train/optimizer_list.h"
#include "train/progress.h"
#include "train/recipe.h"
#include "train/run/dataset.h"
#include "train/run/run.h"
#include "train/schedule.h"
#include "train/stop_signal.h"
#include "train/tasks/list.h"
#include "train/text/tokenizer.h"
