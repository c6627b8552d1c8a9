/** Where the content of a call is kept, from the least to the most. */
export const captureLevels = ['off', 'memory', 'disk'] as const;

export type CaptureLevel = (typeof captureLevels)[number];

/** The one that keeps less. */
export function lesserLevel(a: CaptureLevel, b: CaptureLevel): CaptureLevel {
  return captureLevels.indexOf(a) < captureLevels.indexOf(b) ? a : b;
}
