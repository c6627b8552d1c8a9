import type { Whisper } from '../../../shared/contract/whispers.ts';
import type { Context } from '../../context.ts';
import { listWhispers } from '../../site-addresses.ts';
import { collectRows } from '../collect-rows.ts';

/** Newest first. */
export function listWhispersOf(
  context: Context,
  { person, limit }: { person: string | undefined; limit: number },
): Promise<Whisper[]> {
  return collectRows(limit, (page) =>
    context.client().call(listWhispers, { query: { with: person, ...page } }),
  );
}
