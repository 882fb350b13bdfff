// SPDX-License-Identifier: Apache-2.0
// What a speed-up is called. A loss is as far from 1 as a gain.

export const losesBelow = 0.97;
export const gainsAbove = 1.03;

// "loses" | "equal" | "gains"; "unpaired" for null, where no repeat has both sides.
export const verdictOf = (ratio) => {
  if (ratio === null) return "unpaired";
  if (ratio.median < losesBelow) return "loses";
  return ratio.median > gainsAbove ? "gains" : "equal";
};
