import { type Paint, painter } from '../../output/style.ts';
import type { ChartStyle } from './chart-style.ts';

/** How text is rendered. */
export interface RenderOptions {
  /** In terminal cells. */
  width: number;
  /** Of a page, in lines. */
  height?: number;
  /** Whether a page shows what it folds otherwise. */
  isUnfolded?: boolean;
  /** Of a page that can be shown in several forms. */
  form?: string | undefined;
  paint: Paint;
  charts?: ChartStyle;
  /** For screen readers: words instead of charts. */
  isPlain: boolean;
  /** Milliseconds since 1970. */
  now: number;
}

/** For text that is measured, compared or copied. */
export const noPaint = painter(false);
