import { Box, Static, Text, useApp, useCursor, useInput, usePaste, useWindowSize } from 'ink';
import { useEffect, useSyncExternalStore } from 'react';
import { briefDollars } from '../../../view/money.ts';
import { guardText } from '../../output/guarded-io.ts';
import type { Paint, Style } from '../../output/style.ts';
import { paintedWidth, widthOf } from '../../output/width.ts';
import { stopJob } from '../../terminal/stop-job.ts';
import { Lines } from '../components/lines.tsx';
import { keysIn } from '../keys/key-name.ts';
import { fitCell, fitPainted } from '../text/cells.ts';
import { useSuspension } from '../use-suspension.ts';
import type { ChatModel } from './chat-model.ts';
import { promptLines } from './prompt.ts';
import type { TranscriptLine } from './transcript.ts';

const styles: Readonly<Record<TranscriptLine['kind'], Style | undefined>> = {
  you: 'bold',
  answer: undefined,
  note: 'dim',
  error: 'red',
};
/** Colours are never the only sign of the author. */
const signs: Readonly<Record<TranscriptLine['kind'], string>> = {
  you: '› ',
  answer: '',
  note: '· ',
  error: '! ',
};

const promptLinesMax = 10;
const hint = 'Enter send  Alt-Enter new line  /help  Ctrl-C quit';
const answeringHint = 'Ctrl-C stop, again quit';
const commandHint = 'Tab complete  Enter run';

interface ChatProps {
  chat: ChatModel;
  paint: Paint;
}

/** Finished lines go to the scrollback; the growing line and the prompt stay at the bottom. */
export function ChatApp({ chat, paint }: ChatProps) {
  useSyncExternalStore(chat.subscribe, chat.version);
  const { columns, rows } = useWindowSize();
  const { setCursorPosition } = useCursor();
  const suspend = useSuspension();
  useInput((input, key) => {
    for (const [name, text] of keysIn(input, key)) {
      if (name === 'ctrl-z') suspend(stopJob);
      else chat.press(name, text);
    }
  });
  usePaste((text) => chat.paste(text));

  const { exit } = useApp();
  // Only after the bottom lines are gone from the screen.
  useEffect(() => {
    if (chat.isQuitting) exit();
  });

  const bottom = chat.isQuitting
    ? { lines: [], cursor: undefined }
    : bottomOf({ chat, paint }, { columns, rows });
  setCursorPosition(bottom.cursor);
  return (
    <>
      <Static items={chat.transcript()}>
        {({ id, kind, text, isFirst }) => {
          const sign = isFirst ? signs[kind] : ' '.repeat(signs[kind].length);
          return <Text key={id}>{guardText(paint(styles[kind], (sign + text).trimEnd())) || ' '}</Text>;
        }}
      </Static>
      <Box flexDirection="column" width={columns}>
        <Lines lines={bottom.lines} />
      </Box>
    </>
  );
}

/** The growing line, the progress, the prompt with its suggestions, and the keys. */
function bottomOf({ chat, paint }: ChatProps, { columns, rows }: { columns: number; rows: number }) {
  const progress = chat.progressText();
  // More lines than the screen has would flicker; the others are printed when they are finished.
  const growing = chat.growing().slice(-Math.max(1, rows - promptLinesMax - 2));
  const suggested = chat.suggestions.of(chat.edit.text).map(({ summary }) => `  ${summary}`);
  const linesMax = Math.max(1, Math.min(promptLinesMax, rows - 6 - suggested.length));
  const prompt = promptLines(chat.edit, { width: columns, linesMax });
  const above = [...growing, progress === undefined ? '' : paint('cyan', `⋯ ${progress}`)];
  const lines = [
    ...above,
    ...prompt.lines,
    ...suggested.slice(0, Math.max(0, rows - 8)).map((line) => paint('dim', fitCell(line, columns - 1))),
    keysLine({ chat, paint }, { width: columns - 1, isSuggesting: suggested.length > 0 }),
  ];
  return { lines, cursor: { x: prompt.x, y: above.length + prompt.y } };
}

/** The keys at the left, the model and the total cost at the right. */
function keysLine(
  { chat, paint }: ChatProps,
  { width, isSuggesting }: { width: number; isSuggesting: boolean },
): string {
  const { conversation, answering } = chat;
  const keys = answering ? answeringHint : isSuggesting ? commandHint : hint;
  const cost = conversation.answers === 0 ? [] : [briefDollars(conversation.costUsd())];
  const room = width - paintedWidth(keys) - 2;
  // The cost alone if there is no room for both: each answer shows its model.
  const fitting = [[conversation.model, ...cost].join(' · '), ...cost].find((text) => widthOf(text) <= room);
  const right = fitting === undefined ? '' : fitCell(fitting, room + 2, { align: 'right' });
  return paint('dim', fitPainted(keys + right, width).trimEnd());
}
