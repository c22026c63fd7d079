// 07: the shape that broadcasting gives
// Difficulty 2 of 5, 15 minutes.
#include "examples/exercises/exercise.h"

// [2, 3] + [3] adds the row of three numbers to both rows: what is missing or 1 in one shape is repeated to fit the
// other. Write the rule that says what shape a + b has, or that there is none. Lay the shapes one above the other so
// that their LAST axes meet. What the shorter one lacks in front counts as 1. Then on each axis
//
//   both extents are equal: that is the extent       one is 1: it stretches to the other, also to 0
//   otherwise they do not fit: throw Error("a sentence that says so");
//
//        a    [4, 1, 3]        [2, 3]        [3]                 [2, 3]
//        b       [2, 3]           [3]        [4, 1]                 [2]
//   result    [4, 2, 3]        [2, 3]        [4, 3]         does not fit: 3 and 2
//
// A Shape has rank() axes: s[0] is the extent of the first, s[-1] that of the last, s[-2] the one before it; an axis
// that does not exist is an error. s.with(-2, 5) is a copy of s whose axis -2 is 5. Extents are of the type Index.
Shape broadcast_shape(const Shape& a, const Shape& b) {
  your_code_here();  // replace this line
}
