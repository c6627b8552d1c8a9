import type { TraceContent } from '../../../shared/contract/content.ts';
import { sizeText } from '../../../shared/text/size-text.ts';
import { answerConversation, answerText } from '../../../view/conversation.ts';
import { duration } from '../../../view/durations.ts';
import { capturedContent } from '../../content/call-content.ts';
import type { Context } from '../../context.ts';
import { escapeControls } from '../../output/escape-controls.ts';

type Reads = NonNullable<TraceContent['reads']>;

/** Longer pauses of a stream are cut to this. */
const pauseMsMax = 10_000;

/** Prints the answer of a stream as it came, each piece at its time. Ctrl-C ends it. */
export async function playStream(context: Context, request: string, reads: Reads): Promise<void> {
  const { io, out } = context;
  const { answer } = await capturedContent(context.client(), request);
  const text = answerText(answerConversation(answer));
  const signal = context.interrupted();
  let at = 0;
  let come = 0;
  let shown = 0;
  for (const { ms, characters } of reads) {
    await context.sleep(Math.min(pauseMsMax, Math.max(0, ms - at)), signal).catch(() => undefined);
    if (signal.aborted) break;
    at = ms;
    come += characters;
    // Half of a pair of surrogates waits for the other one.
    const end = /[\ud800-\udbff]/.test(text.charAt(come - 1)) ? come - 1 : come;
    io.stdout.write(escapeControls(text.slice(shown, end)));
    shown = end;
  }
  const bytes = reads.reduce((sum, read) => sum + read.bytes, 0);
  const first = reads.find(({ characters }) => characters > 0)?.ms ?? 0;
  const sentence = `first text after ${duration(first)}, ${reads.length} pieces with ${sizeText(bytes)} in ${duration(at)}`;
  io.stdout.write(`\n${out.paint.stdout('dim', sentence)}\n`);
}
