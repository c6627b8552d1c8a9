import type { Shout, Zone } from '../../../shared/contract/shouts.ts';
import type { Context } from '../../context.ts';
import type { Column } from '../../output/table.ts';
import { ago, clockTime } from '../../output/time.ts';
import { tabSeparatedCell, visibleCell } from '../../output/visible.ts';

export const shoutColumns = (now: number): Column<Shout>[] => [
  { title: 'id', value: ({ id }) => id, align: 'right' },
  { title: 'zone', value: ({ zone }) => zone },
  { title: 'author', value: ({ author }) => author.handle },
  { title: 'text', value: ({ body }) => body },
  { title: 'at', value: ({ createdAt }) => createdAt, show: ({ createdAt }) => ago(createdAt, now) },
];

export const zoneColumns: Column<Zone>[] = [
  { title: 'zone', value: ({ zone }) => zone },
  { title: 'count24h', label: 'last 24 hours', value: ({ count24h }) => count24h, align: 'right' },
];

/** One shout on one line: times of day for a person, whole times and ids for a program. */
export function shoutLine(
  { id, zone, body, createdAt, author }: Shout,
  { io, out }: Pick<Context, 'io' | 'out'>,
): string {
  if (!io.stdout.isTty) {
    return `${[createdAt, String(id), zone, author.handle, body].map(tabSeparatedCell).join('\t')}\n`;
  }
  const paint = out.paint.stdout;
  const who = `${paint('dim', visibleCell(zone))}  ${paint('cyan', visibleCell(author.handle))}`;
  return `${paint('dim', clockTime(createdAt))}  ${who}  ${visibleCell(body)}\n`;
}
