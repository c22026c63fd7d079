// Includes all models.
#pragma once

#include "models/choose_token.h"
#include "models/fourier.h"
#include "models/gpt.h"
#include "models/gpt_config.h"
#include "models/gpt_files.h"
#include "models/inside.h"
#include "models/mlp.h"
#include "models/names.h"
#include "models/packed_weights.h"
#include "models/tutorials/ai_engineering.h"
#include "models/tutorials/apx.h"
#include "models/tutorials/attention_lm.h"
#include "models/tutorials/book.h"
#include "models/tutorials/llm_from_scratch.h"
#include "models/tutorials/multi_head_from_scratch.h"
