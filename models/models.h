// Includes all models.
#pragma once

#include "models/attention_lm.h"
#include "models/gpt.h"
#include "models/gpt_config.h"
#include "models/inspect.h"
#include "models/mlp.h"
#include "models/tutorial.h"
