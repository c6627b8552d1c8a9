import { Box, useCursor, useInput, usePaste, useWindowSize } from 'ink';
import { useSyncExternalStore } from 'react';
import type { Paint } from '../output/style.ts';
import { keysLine, saidLines } from './components/foot-lines.ts';
import { type HostFacts, headLine, stripLine, titleOf } from './components/head-lines.ts';
import { Lines } from './components/lines.tsx';
import { asideLines, mainLines, type Pane, screenLines, sideBySide } from './components/pane-lines.ts';
import { keysIn } from './keys/key-name.ts';
import { pasteInDialog } from './model/dialog-keys.ts';
import { type Layout, layoutOf, type Size } from './model/layout.ts';
import type { TuiModel } from './model/tui-model.ts';
import type { Drawing } from './screen.ts';

interface AppProps {
  model: TuiModel;
  paint: Paint;
  host: () => HostFacts;
  /** Of the terminal, unless Ink is asked. */
  size?: Size;
}

/** The whole screen: head, panes, what is said, keys. */
export function App({ model, paint, host, size }: AppProps) {
  useSyncExternalStore(model.subscribe, model.version);
  const window = useWindowSize();
  const { columns, rows } = size ?? window;
  const { setCursorPosition } = useCursor();
  useInput((input, key) => {
    for (const [name, text] of keysIn(input, key)) model.press(name, text);
  });
  usePaste((text) => {
    pasteInDialog(model.dialog, text);
    model.changed();
  });

  const { isPlain, services } = model.options;
  const drawing = { width: columns, paint, isPlain, now: services.now() };
  const said = saidLines(model, drawing);
  const layout = layoutOf({ columns, rows: rows - said.lines.length + 1 }, model);
  const panes = panesOf(model, drawing, layout);
  const body = sideBySide(panes, layout.bodyRows, paint('dim', '│'));
  const above = [
    headLine(model, host(), drawing),
    ...(layout.hasStrip ? [stripLine(model, drawing)] : []),
    titleOf(model, drawing, barsOf(panes)),
    ...body,
    ...said.lines,
  ];
  setCursorPosition(said.cursor === undefined ? undefined : { x: said.cursor, y: above.length - 1 });
  return (
    <Box flexDirection="column" width={columns}>
      <Lines lines={[...above, keysLine(model, drawing)]} />
    </Box>
  );
}

/** The panes that are seen, from left to right. */
function panesOf(model: TuiModel, drawing: Drawing, { screens, main, aside, bodyRows }: Layout): Pane[] {
  const at = (width: number) => ({ ...drawing, width });
  // Beside another pane the text keeps off the line between them.
  const margin = screens > 0 ? 1 : 0;
  const room = main - margin - (aside > 0 ? 1 : 0);
  const panes = [
    { width: screens, lines: () => screenLines(model, at(screens)) },
    {
      width: main,
      lines: () => mainLines(model, at(room), bodyRows).map((line) => ' '.repeat(margin) + line),
    },
    { width: aside, lines: () => asideLines(model, at(aside)) },
  ];
  return panes.filter(({ width }) => width > 0).map(({ width, lines }) => ({ width, lines: lines() }));
}

/** Where the lines between panes are, in cells from the left. */
function barsOf(panes: Pane[]): number[] {
  let at = -1;
  return panes.slice(0, -1).map(({ width }) => {
    at += width + 1;
    return at;
  });
}
