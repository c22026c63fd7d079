// The index of training: optimizers, schedules, clipping, the loop, batches of rows, progress, toy tasks.
#pragma once

#include "train/adamw.h"
#include "train/clip.h"
#include "train/data_loader.h"
#include "train/fit.h"
#include "train/progress.h"
#include "train/recipe.h"
#include "train/schedule.h"
#include "train/sgd.h"
#include "train/tasks/copy.h"
#include "train/tasks/induction.h"
#include "train/tasks/repeat.h"
#include "train/tasks/tasks.h"
#include "train/tasks/two_places.h"
