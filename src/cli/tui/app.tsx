import { Box, useCursor, useInput, usePaste, useWindowSize } from 'ink';
import { useSyncExternalStore } from 'react';
import type { Paint } from '../output/style.ts';
import { keysLine, saidLines } from './components/foot-lines.ts';
import { type HostFacts, headLine, titleOf } from './components/head-lines.ts';
import { Lines } from './components/lines.tsx';
import { asideLines, mainLines, screenLines, sideBySide } from './components/pane-lines.ts';
import { keysIn } from './keys/key-name.ts';
import { pasteInDialog } from './model/dialog-keys.ts';
import { layoutOf, type Size } from './model/layout.ts';
import type { TuiModel } from './model/tui-model.ts';

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
  const at = (width: number) => ({ ...drawing, width });
  const body = sideBySide(
    [
      { width: layout.screens, lines: layout.screens > 0 ? screenLines(model, at(layout.screens)) : [] },
      {
        width: layout.main,
        lines: layout.main > 0 ? mainLines(model, at(layout.main), layout.bodyRows) : [],
      },
      { width: layout.aside, lines: layout.aside > 0 ? asideLines(model, at(layout.aside)) : [] },
    ],
    layout.bodyRows,
    paint('dim', '│'),
  );
  const above = [headLine(model, host(), drawing), titleOf(model, drawing), ...body, ...said.lines];
  setCursorPosition(said.cursor === undefined ? undefined : { x: said.cursor, y: above.length - 1 });
  return (
    <Box flexDirection="column" width={columns}>
      <Lines lines={[...above, keysLine(model, drawing)]} />
    </Box>
  );
}
