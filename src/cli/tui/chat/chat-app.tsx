import { Box, Static, Text, useApp, useCursor, useInput, usePaste, useWindowSize } from 'ink';
import { useEffect, useSyncExternalStore } from 'react';
import { briefDollars } from '../../output/amount.ts';
import type { Paint, Style } from '../../output/style.ts';
import { widthOf } from '../../output/width.ts';
import { Lines } from '../components/lines.tsx';
import { keysIn } from '../keys/key-name.ts';
import { fitCell } from '../text/cells.ts';
import { fitPainted, paintedWidth } from '../text/painted.ts';
import type { ChatModel } from './chat-model.ts';
import { inputLines } from './input-lines.ts';
import type { PrintedLine } from './printer.ts';

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
const commandHint = 'Tab completes  Enter does it';

interface ChatProps {
  chat: ChatModel;
  paint: Paint;
}

/** What was said goes into the scrollback; what grows and what is written stay at the foot. */
export function ChatApp({ chat, paint }: ChatProps) {
  useSyncExternalStore(chat.subscribe, chat.version);
  const { columns, rows } = useWindowSize();
  const { setCursorPosition } = useCursor();
  useInput((input, key) => {
    for (const [name, text] of keysIn(input, key)) chat.press(name, text);
  });
  usePaste((text) => chat.paste(text));

  const { exit } = useApp();
  // Not before what was below is gone from the screen.
  useEffect(() => {
    if (chat.isLeaving) exit();
  });

  const foot = chat.isLeaving ? { lines: [], cursor: undefined } : footOf({ chat, paint }, { columns, rows });
  setCursorPosition(foot.cursor);
  return (
    <>
      <Static items={chat.printed()}>
        {({ id, kind, text, isFirst }) => {
          const sign = isFirst ? signs[kind] : ' '.repeat(signs[kind].length);
          return <Text key={id}>{paint(styles[kind], (sign + text).trimEnd()) || ' '}</Text>;
        }}
      </Static>
      <Box flexDirection="column" width={columns}>
        <Lines lines={foot.lines} />
      </Box>
    </>
  );
}

/** What changes: the line that grows, how the answer goes, what is written, how it may go on, and the keys. */
function footOf({ chat, paint }: ChatProps, { columns, rows }: { columns: number; rows: number }) {
  const progress = chat.progressText();
  const growing = chat.feed.rest === '' ? [] : [chat.feed.rest];
  const suggested = chat.suggestions.of(chat.edit.text).map(({ summary }) => `  ${summary}`);
  const linesMax = Math.max(1, Math.min(inputLinesMax, rows - 6 - suggested.length));
  const written = inputLines(chat.edit, { width: columns, linesMax });
  const above = [...growing, progress === undefined ? '' : paint('cyan', `⋯ ${progress}`)];
  const lines = [
    ...above,
    ...written.lines,
    ...suggested.slice(0, Math.max(0, rows - 8)).map((line) => paint('dim', fitCell(line, columns - 1))),
    keysLine({ chat, paint }, { width: columns - 1, isSuggesting: suggested.length > 0 }),
  ];
  return { lines, cursor: { x: written.x, y: above.length + written.y } };
}

/** The keys, and at the right with whom one talks and what all of it cost. */
function keysLine(
  { chat, paint }: ChatProps,
  { width, isSuggesting }: { width: number; isSuggesting: boolean },
): string {
  const { conversation, answering } = chat;
  const keys = answering ? answeringHint : isSuggesting ? commandHint : hint;
  const cost = conversation.answers === 0 ? [] : [briefDollars(conversation.costUsd())];
  const room = width - paintedWidth(keys) - 2;
  // Where there is no room for both, what it cost: the model is told with each answer.
  const fitting = [[conversation.model, ...cost].join(' · '), ...cost].find((text) => widthOf(text) <= room);
  const right = fitting === undefined ? '' : fitCell(fitting, room + 2, { align: 'right' });
  return paint('dim', fitPainted(keys + right, width).trimEnd());
}
