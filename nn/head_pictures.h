// Inspecting attention: scores that say what a head does, pictures of heads as text and as SVG.
#pragma once

#include <string>
#include <vector>

#include "engine/array/array.h"
#include "engine/array/int_array.h"

namespace mote {

/// What one head of a causal model does, as shares of its attention in [0, 1], averaged over the queries from position
/// 1 on.
struct HeadScore {
  double previous = 0;  ///< on the previous token
  double first = 0;     ///< on the first token
  /// On what followed an earlier occurrence of the query's own token: [A] [B] ... [A] -> [B]. If the text repeats at a
  /// fixed distance, a head that attends by position alone scores as well.
  double induction = 0;
  double entropy = 0;  ///< of the weights, relative to uniform attention over all tokens so far: 1 is uniform
};

/// One score per head, from weights [H, T, T] or, averaged over a batch, [B, H, T, T], and the ids they come from,
/// [B, T]. Queries for which a score is undefined (no earlier occurrence, no previous token) do not count; a score over
/// no queries is 0. The previous token may also be the first one, or follow a repeated one: it counts for each. Errors:
/// shapes that do not fit. Source of the induction score: Olsson et al. 2022.
std::vector<HeadScore> head_scores(const Array& weights, const IntArray& ids);

/// A table of the scores, one line per head, with a name if one score stands out. Heads are counted from 0, as layers
/// are.
std::string describe(const std::vector<HeadScore>& scores);

/// What heads look at, in characters: a line per query, two columns per key, '.' for a weight near 0 up to '@' for one
/// near 1. With `causal`, keys after the query are blank if their weight is 0. So the triangle shows for any weights.
/// With more keys than queries, the queries are the last positions. weights [Tq, Tk] or, heads side by side and titled
/// by `heads` or "head 0" ..., [H, Tq, Tk]; `queries` labels the rows. Errors: a different number of labels.
std::string attention_text(const Array& weights, const std::vector<std::string>& queries, Flag causal = true,
                           const std::vector<std::string>& heads = {});

/// The characters of a UTF-8 text, for labels; invalid bytes become one label each.
std::vector<std::string> characters_of(const std::string& text);

/// A picture of what every head looks at: an SVG document with a grid of heatmaps, four per row; in each, rows are
/// queries and columns keys, colours viridis from 0 to 1 in 64 steps, tokens on the axes, `heads` or "Head 0" ... above
/// each and `title` above all. weights [H, Tq, Tk]. `queries` and `keys` label the positions in UTF-8, with '?' for
/// invalid bytes. A long label is cut to 15 characters. If cells are smaller than letters, only some labels are shown.
/// Errors: a different number of labels.
std::string attention_svg(const Array& weights, const std::vector<std::string>& queries,
                          const std::vector<std::string>& keys, const std::string& title,
                          const std::vector<std::string>& heads = {});

namespace detail {
/// Viridis at level / 64, from 0 (dark blue) to 64 (yellow), as "#440154", between nine colours. Source: S. van der
/// Walt and N. Smith, matplotlib.
std::string viridis(int level);
}  // namespace detail

}  // namespace mote
