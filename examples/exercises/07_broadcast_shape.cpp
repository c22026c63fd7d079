// 07: the shape that broadcasting gives
// Difficulty 2 of 5, 15 minutes.
#include "examples/exercises/exercise.h"

// Adding a row [3] to a table [2, 3] adds the row to both rows of the table. This is broadcasting: an axis that one
// shape lacks, or whose extent is 1 in one shape, is repeated to fit the other shape. Return the shape of a + b, or
// throw an Error if the shapes do not fit. Write the two shapes one below the other, aligned at their LAST axes. Axes
// that the shorter shape lacks in front count as 1. Then on each axis:
//
//   equal extents: the result has this extent      one extent is 1: the result has the other extent, even if it is 0
//   otherwise they do not fit: throw Error("a sentence that says so");
//
//        a    [4, 1, 3]        [2, 3]        [3]                 [2, 3]
//        b       [2, 3]           [3]        [4, 1]                 [2]
//   result    [4, 2, 3]        [2, 3]        [4, 3]         does not fit: 3 and 2
//
// A Shape s has s.rank() axes. s[0] is the extent of the first axis, s[-1] of the last, and s[-2] of the last but one.
// Asking for an axis that does not exist is an error. s.with(-2, 5) is a copy of s whose axis -2 is 5. Extents are of
// the type Index.
Shape broadcast_shape(const Shape& a, const Shape& b) {
  your_code_here();  // replace this line
}
