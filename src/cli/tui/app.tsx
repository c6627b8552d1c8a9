import { Box, useCursor, useInput, usePaste, useWindowSize } from 'ink';
import { useSyncExternalStore } from 'react';
import type { Paint } from '../output/style.ts';
import { pasteText, pressKey } from './actions/press-key.ts';
import { clickTargets } from './components/click-targets.ts';
import { keyHintsLine, statusLines } from './components/footer.ts';
import { alertLines, type HostLabel, headerLine, tabsLine, titleLine } from './components/header.ts';
import { type Layout, layoutOf, type Size } from './components/layout.ts';
import { Lines } from './components/lines.tsx';
import { joinPanes, mainLines, type Pane, previewLines, sidebarLines } from './components/panes.ts';
import { keysIn } from './keys/key-name.ts';
import type { TuiState } from './state/tui-state.ts';
import { type ChartStyle, plainCharts } from './text/chart-style.ts';
import type { RenderOptions } from './text/render-options.ts';

interface AppProps {
  state: TuiState;
  paint: Paint;
  charts?: ChartStyle;
  host: () => HostLabel;
  /** By default the size of the terminal. */
  size?: Size;
}

/** The whole screen: header, panes, status lines and key hints. */
export function App({ state, paint, charts = plainCharts, host, size }: AppProps) {
  useSyncExternalStore(state.subscribe, state.version);
  const window = useWindowSize();
  const { columns, rows } = size ?? window;
  const { setCursorPosition } = useCursor();
  useInput((input, key) => {
    for (const [name, text] of keysIn(input, key)) pressKey(state, name, text);
  });
  usePaste((text) => pasteText(state, text));

  const { isPlain, services } = state.options;
  const options = { width: columns, paint, charts, isPlain, now: services.now() };
  const alerts = alertLines(state, options);
  const free = rows - alerts.length;
  const status = statusLines(state, { ...options, height: free });
  const layout = layoutOf({ columns, rows: free - status.lines.length + 1 }, state);
  const panes = panesOf(state, options, layout);
  const above = [
    headerLine(state, host(), options),
    ...(layout.hasTabs ? [tabsLine(state, options)] : []),
    titleLine(state, options, borderColumns(panes)),
    ...joinPanes(panes, layout.bodyRows, paint('dim', '│')),
    ...alerts,
    ...status.lines,
  ];
  state.targets = clickTargets(state, { columns, rows: above.length, layout });
  const { cursor } = status;
  setCursorPosition(cursor && { x: cursor.column, y: above.length - status.lines.length + cursor.line });
  return (
    <Box flexDirection="column" width={columns}>
      <Lines lines={[...above, keyHintsLine(state, options)]} />
    </Box>
  );
}

/** The visible panes, from left to right. */
function panesOf(state: TuiState, options: RenderOptions, layout: Layout): Pane[] {
  const { screens, main, preview, bodyRows } = layout;
  const at = (width: number) => ({ ...options, width });
  // Keeps the text off the borders.
  const margin = screens > 0 ? 1 : 0;
  const inner = main - margin - (preview > 0 ? 1 : 0);
  const panes = [
    { width: screens, lines: () => sidebarLines(state, at(screens)) },
    {
      width: main,
      lines: () => mainLines(state, at(inner), bodyRows).map((line) => ' '.repeat(margin) + line),
    },
    { width: preview, lines: () => previewLines(state, at(preview), bodyRows) },
  ];
  return panes.filter(({ width }) => width > 0).map(({ width, lines }) => ({ width, lines: lines() }));
}

/** The columns of the borders between panes. */
function borderColumns(panes: Pane[]): number[] {
  let at = -1;
  return panes.slice(0, -1).map(({ width }) => {
    at += width + 1;
    return at;
  });
}
