// What is here: looking at attention: scores that say what a head does, and a picture of all heads as SVG.
// What is not: getting the weights (MultiHeadAttention::with_weights, GPT::attention_weights).
// Read next: ../examples/attention_maps.cpp.
#pragma once

#include <string>
#include <vector>

#include "engine/array.h"
#include "engine/tokens.h"

namespace mote {

/// What one head of a causal model does, as shares of its attention in [0, 1], averaged over the queries from position
/// 1 on.
struct HeadScore {
  double previous = 0;   ///< on the token just before
  double first = 0;      ///< on the first token
  double induction = 0;  ///< on what followed an earlier occurrence of the query's own token: [A] [B] ... [A] -> [B]
  double entropy = 0;    ///< of the weights, over that of an even look at all tokens so far: 1 is uniform
};

/// One score per head, from weights [H, T, T] or, averaged over a batch, [B, H, T, T], and the ids they come from,
/// [B, T]. Queries for which a score has no meaning (no earlier occurrence, nothing before) do not count; a score
/// without any such query is 0. The token before may also be the first one, or follow a repeated one: it counts for
/// each. Errors: shapes that do not fit. Source of the induction score: Olsson et al. 2022.
std::vector<HeadScore> head_scores(const Array& weights, const Tokens& ids);

/// A table of the scores, one line per head, with the name of the largest where it stands out.
std::string describe(const std::vector<HeadScore>& scores);

/// A picture of what every head looks at: an SVG document with a grid of heatmaps, four in a row, rows of the map being
/// queries and columns keys, colours viridis from 0 to 1 in 64 steps, tokens on the axes, "Head 1" ... over each and
/// `title` over all. weights [H, Tq, Tk]; `queries` and `keys` name the positions in UTF-8, bytes that are none
/// becoming '?'; of a long name 15 characters are shown, and where cells are smaller than letters only some names.
/// Errors: labels of another number.
std::string attention_svg(const Array& weights, const std::vector<std::string>& queries,
                          const std::vector<std::string>& keys, const std::string& title);

}  // namespace mote
