// SPDX-License-Identifier: Apache-2.0
// What a speed-up is called. A loss is as far from 1 as a gain.

export const losesBelow = 0.97;
export const gainsAbove = 1.03;
export const usualLimits = { losesBelow, gainsAbove };

// The best of many policies is picked with its noise, so a policy is let off a little more.
export const policyLimits = { losesBelow: 0.95, gainsAbove: 1.05 };

// "loses" | "equal" | "gains"; "unpaired" for null, where no repeat has both sides.
export const verdictOf = (ratio, limits = usualLimits) => {
  if (ratio === null) return "unpaired";
  if (ratio.median < limits.losesBelow) return "loses";
  return ratio.median > limits.gainsAbove ? "gains" : "equal";
};
