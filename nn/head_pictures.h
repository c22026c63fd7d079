// Inspecting attention: scores that say what a head does, pictures of heads as text and as SVG.
#pragma once

#include <string>
#include <vector>

#include "engine/array/array.h"
#include "engine/array/int_array.h"

namespace mote {

/// Scores that describe what one head of a causal model does. Each is in [0, 1] and is an average over the queries from
/// position 1 on. `previous`, `first` and `induction` are shares of the head's attention.
struct HeadScore {
  double previous = 0;  ///< share on the previous token
  double first = 0;     ///< share on the first token
  /// Share on tokens that followed an earlier occurrence of the query's own token: [A] [B] ... [A] -> [B]. If the text
  /// repeats at a fixed distance, a head that attends by position alone also gets a high score.
  double induction = 0;
  double entropy = 0;  ///< entropy of the weights / entropy of uniform attention over all tokens so far; 1 is uniform
};

/// One HeadScore per head, from attention weights [H, T, T] or [B, H, T, T] and the ids [B, T] that they belong to.
/// Scores are averages over the batch. A query does not count for a score that is undefined there, such as induction
/// without an earlier occurrence of its token. A score over no queries is 0. A token may count for several scores, for
/// example as the previous and as the first token. Errors: shapes that do not fit. Source of the induction score:
/// Olsson et al. 2022.
std::vector<HeadScore> head_scores(const Array& weights, const IntArray& ids);

/// A table of the scores with one line per head. A head gets a name, such as "induction", if one score stands out.
/// Heads are counted from 0, as layers are.
std::string describe(const std::vector<HeadScore>& scores);

/// A picture of attention weights as text: one line per query, two columns per key, and characters from '.' for a
/// weight near 0 to '@' for a weight near 1. With `causal`, keys after the query are blank if their weight is 0, so
/// that the causal triangle is visible for any weights. With more keys than queries, the queries are the last
/// positions. weights are [Tq, Tk] or [H, Tq, Tk]. Heads stand side by side, under titles from `heads` or else
/// "head 0", "head 1", ... `queries` labels the rows. Errors: a different number of labels.
std::string attention_text(const Array& weights, const std::vector<std::string>& queries, Flag causal = true,
                           const std::vector<std::string>& heads = {});

/// The characters of a UTF-8 text, for labels; invalid bytes become one label each.
std::vector<std::string> characters_of(const std::string& text);

/// A picture of the attention weights [H, Tq, Tk] of all heads: an SVG document with a grid of heatmaps, four per row.
/// In each heatmap, rows are queries and columns are keys. The colours are viridis from 0 to 1 in 64 steps. Each
/// heatmap has a title from `heads` or else "Head 0", "Head 1", ... `title` stands above all heatmaps. `queries` and
/// `keys` label the positions on the axes in UTF-8, with '?' for invalid bytes. A label of more than 16 characters is
/// cut to 15. If cells are smaller than letters, only some labels are shown. Errors: a different number of labels.
std::string attention_svg(const Array& weights, const std::vector<std::string>& queries,
                          const std::vector<std::string>& keys, const std::string& title,
                          const std::vector<std::string>& heads = {});

namespace detail {
/// The viridis colour of a level from 0 (dark blue) to 64 (yellow), as text such as "#440154". Nine colours are
/// stored, and the others are interpolated. Source: S. van der Walt and N. Smith, matplotlib.
std::string viridis(int level);
}  // namespace detail

}  // namespace mote
