import { type Paint, painter } from '../../output/style.ts';

/** How text is rendered. */
export interface RenderOptions {
  /** In terminal cells. */
  width: number;
  /** Of a page, in lines. */
  height?: number;
  /** Whether a page shows what it folds otherwise. */
  isUnfolded?: boolean;
  paint: Paint;
  /** For screen readers: words instead of charts. */
  isPlain: boolean;
  /** Milliseconds since 1970. */
  now: number;
}

/** For text that is measured, compared or copied. */
export const noPaint = painter(false);
