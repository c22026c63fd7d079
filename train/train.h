// Includes training: optimizers, schedules, clipping, the loop, recipes, batches of rows, progress, the list of tasks.
#pragma once

#include "train/adamw.h"
#include "train/clip.h"
#include "train/data_loader.h"
#include "train/evaluate.h"
#include "train/fit.h"
#include "train/progress.h"
#include "train/recipe.h"
#include "train/schedule.h"
#include "train/sgd.h"
#include "train/tasks/tasks.h"
