import type { Whisper } from '../../../shared/contract/whispers.ts';
import type { Context } from '../../context.ts';
import { clockTime } from '../../output/time.ts';
import { tabSeparatedCell, visibleCell } from '../../output/visible.ts';

/** One whisper on one line: times of day for a person, whole times and ids for a program. */
export function whisperLine(
  { id, body, createdAt, sender, recipient }: Whisper,
  { io, out }: Pick<Context, 'io' | 'out'>,
): string {
  if (!io.stdout.isTty) {
    const cells = [createdAt, String(id), sender.handle, recipient.handle, body];
    return `${cells.map(tabSeparatedCell).join('\t')}\n`;
  }
  const paint = out.paint.stdout;
  const who = paint('cyan', visibleCell(`${sender.handle} → ${recipient.handle}`));
  return `${paint('dim', clockTime(createdAt))}  ${who}  ${visibleCell(body)}\n`;
}
