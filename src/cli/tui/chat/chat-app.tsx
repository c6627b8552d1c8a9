import { Box, Static, Text, useCursor, useInput, usePaste, useWindowSize } from 'ink';
import { useSyncExternalStore } from 'react';
import type { Paint, Style } from '../../output/style.ts';
import { Lines } from '../components/lines.tsx';
import { keysIn } from '../keys/key-name.ts';
import { fitPainted } from '../text/painted.ts';
import type { ChatModel, PrintedLine } from './chat-model.ts';
import { inputLines } from './input-lines.ts';

const styles: Readonly<Record<PrintedLine['kind'], Style | undefined>> = {
  you: 'bold',
  answer: undefined,
  note: 'dim',
  fault: 'red',
};
/** Colours are never the only sign of who speaks. */
const signs: Readonly<Record<PrintedLine['kind'], string>> = {
  you: '› ',
  answer: '',
  note: '· ',
  fault: '! ',
};

const inputLinesMax = 10;
const hint = 'Enter sends  Alt-Enter new line  /help  Ctrl-C leaves';
const answeringHint = 'Ctrl-C ends the answer';

/** What was said goes into the scrollback; what grows and what is written stay at the foot. */
export function ChatApp({ chat, paint }: { chat: ChatModel; paint: Paint }) {
  useSyncExternalStore(chat.subscribe, chat.version);
  const { columns, rows } = useWindowSize();
  const { setCursorPosition } = useCursor();
  useInput((input, key) => {
    for (const [name, text] of keysIn(input, key)) chat.press(name, text);
  });
  usePaste((text) => chat.paste(text));

  const progress = chat.progressText();
  const growing = chat.feed.rest === '' ? [] : [chat.feed.rest];
  const linesMax = Math.max(1, Math.min(inputLinesMax, rows - 6));
  const written = inputLines(chat.edit, { width: columns, linesMax });
  const above = [...growing, ...(progress === undefined ? [''] : [paint('cyan', `⋯ ${progress}`)])];
  const foot = paint('dim', fitPainted(progress === undefined ? hint : answeringHint, columns - 1).trimEnd());
  setCursorPosition({ x: written.x, y: above.length + written.y });
  return (
    <>
      <Static items={chat.printed}>
        {({ id, kind, text }) => <Text key={id}>{paint(styles[kind], signs[kind] + text) || ' '}</Text>}
      </Static>
      <Box flexDirection="column" width={columns}>
        <Lines lines={[...above, ...written.lines, foot]} />
      </Box>
    </>
  );
}
