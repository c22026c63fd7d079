// Includes everything for training: optimizers, schedules, clipping, the loop, checkpoints, recipes, runs, data
// loaders, progress, reports, tasks, tokenizers.
#pragma once

#include "engine/engine.h"
#include "train/keep/checkpoint.h"
#include "train/loop/clip.h"
#include "train/loop/data_loader.h"
#include "train/loop/ema.h"
#include "train/loop/evaluate.h"
#include "train/loop/fit.h"
#include "train/loop/progress.h"
#include "train/loop/recipe.h"
#include "train/loop/schedule.h"
#include "train/loop/stop_signal.h"
#include "train/optim/optimizer_list.h"
#include "train/report/report.h"
#include "train/run/dataset.h"
#include "train/run/run.h"
#include "train/tasks/list.h"
#include "train/text/tokenizer.h"
