import type { TuiModel } from './tui-model.ts';

export interface Size {
  columns: number;
  rows: number;
}

/** How wide each pane is, 0 for one that is not seen, and how high they all are. */
export interface Layout {
  screens: number;
  main: number;
  aside: number;
  bodyRows: number;
  /** Whether the names of the screens stand in a line above the only pane. */
  hasStrip: boolean;
}

/** Below this there is one pane at a time. */
const severalPanesMin = 100;
const asideMin = 140;
const screensWidth = 16;
/** The head, the title of the screen, the line for what is said or written, and the keys. */
const otherRows = 4;
/** A terminal of fewer rows has none to spare for the names of the screens. */
const stripMin = 20;

/** Where everything goes in a terminal of this size. */
export function layoutOf({ columns, rows }: Size, model: TuiModel): Layout {
  const { isZoomed, pane, pages, options } = model;
  const isNarrow = columns < severalPanesMin || options.isPlain || isZoomed;
  if (isNarrow) {
    const isScreens = pane === 'screens' && !isZoomed;
    const isAside = pane === 'aside' && !pages.front && !isZoomed;
    const hasStrip = !options.isPlain && rows >= stripMin && columns >= stripWidth(model);
    return {
      screens: isScreens ? columns : 0,
      main: isScreens || isAside ? 0 : columns,
      aside: isAside ? columns : 0,
      bodyRows: Math.max(3, rows - otherRows - (hasStrip ? 1 : 0)),
      hasStrip,
    };
  }
  const left = columns - screensWidth - 1;
  const hasAside = columns >= asideMin && !pages.front;
  const aside = hasAside ? Math.min(64, Math.floor(left * 0.36)) : 0;
  return {
    screens: screensWidth,
    main: left - (aside > 0 ? aside + 1 : 0),
    aside,
    bodyRows: Math.max(3, rows - otherRows),
    hasStrip: false,
  };
}

/** How wide the names of the screens are in a line. */
function stripWidth({ views }: TuiModel): number {
  return views.reduce((sum, { screen }) => sum + screen.title.length + 2, 0);
}
