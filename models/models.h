// What is here: the index of all models.
// What is not: layers (nn/).
// Read next: mlp.h, attention_lm.h, gpt.h; tutorial.h for the classes of one book.
#pragma once

#include "models/attention_lm.h"
#include "models/gpt.h"
#include "models/gpt_config.h"
#include "models/inspect.h"
#include "models/mlp.h"
#include "models/tutorial.h"
