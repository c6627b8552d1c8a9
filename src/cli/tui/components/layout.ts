import type { TuiState } from '../state/tui-state.ts';

export interface Size {
  columns: number;
  rows: number;
}

/** The width of each pane, 0 if it is hidden, and their common height. */
export interface Layout {
  screens: number;
  main: number;
  preview: number;
  bodyRows: number;
  /** Whether the screens are listed in a line above the only pane. */
  hasTabs: boolean;
}

/** Narrower terminals show one pane at a time. */
const severalPanesMin = 100;
const previewMin = 140;
const screensWidth = 16;
/** Header, title, notice and key hints. */
const fixedRows = 4;
/** Terminals with fewer rows have no room for the tabs. */
const tabsRowsMin = 20;

export function layoutOf({ columns, rows }: Size, state: TuiState): Layout {
  const { isZoomed, pane, pages, options } = state;
  const isNarrow = columns < severalPanesMin || options.isPlain || isZoomed;
  if (isNarrow) {
    const isScreens = pane === 'screens' && !isZoomed;
    const isPreview = pane === 'preview' && !pages.front && !isZoomed;
    const hasTabs = !options.isPlain && rows >= tabsRowsMin;
    return {
      screens: isScreens ? columns : 0,
      main: isScreens || isPreview ? 0 : columns,
      preview: isPreview ? columns : 0,
      bodyRows: Math.max(3, rows - fixedRows - (hasTabs ? 1 : 0)),
      hasTabs,
    };
  }
  const left = columns - screensWidth - 1;
  const hasPreview = columns >= previewMin && !pages.front;
  const preview = hasPreview ? Math.min(64, Math.floor(left * 0.36)) : 0;
  return {
    screens: screensWidth,
    main: left - (preview > 0 ? preview + 1 : 0),
    preview,
    bodyRows: Math.max(3, rows - fixedRows),
    hasTabs: false,
  };
}
