import { ApiError } from '../../../shared/errors.ts';
import type { IncomingAnswer, OutgoingRequest, World } from '../../world.ts';
import { networkFailure } from '../network-failures.ts';
import { type Asked, type Difference, firstDifference, matchKey, placeOf } from './matching.ts';
import type { KeptRecording } from './read-recordings.ts';
import { jsonOrText } from './recorder.ts';
import { ReplayedBody } from './replayed-body.ts';

export interface ReplayerOptions {
  recordings: readonly KeptRecording[];
  /** `real` keeps the pauses of the recording. */
  speed: 'real' | 'instant';
  world: Pick<World, 'sleep' | 'elapsed'>;
  /** Asked for what was not recorded; without it such a call fails. */
  otherwise?: World['send'];
  /** Told of each model call that failed for that. */
  onMissing: (message: string) => void;
}

/**
 * Answers from recordings, with no network. Several recordings of one request answer it in their order, and the last of
 * them from then on. A request that is in none of them fails with an ApiError that names the nearest.
 */
export function createReplayer(options: ReplayerOptions): World['send'] {
  const { recordings, speed, world, otherwise, onMissing } = options;
  const rows = new Map<string, { left: KeptRecording[] }>();
  for (const kept of recordings) {
    const key = matchKey(askedOf(kept));
    const row = rows.get(key);
    if (row === undefined) rows.set(key, { left: [kept] });
    else row.left.push(kept);
  }

  return async (request: OutgoingRequest): Promise<IncomingAnswer> => {
    const { method, url, signal } = request;
    const asked: Asked = { method, url, body: jsonOrText(request.body) };
    const row = rows.get(matchKey(asked));
    const kept = row && row.left.length > 1 ? row.left.shift() : row?.left[0];
    if (kept === undefined) {
      if (otherwise !== undefined) return await otherwise(request);
      const message = missing(recordings, asked);
      if (method === 'POST') onMissing(message);
      throw new ApiError('upstream_failed', { message });
    }
    const host = URL.canParse(url) ? new URL(url).host : 'unknown host';
    if (signal?.aborted) throw networkFailure('aborted', host);
    const body = new ReplayedBody(kept.recording, { speed, world, signal, host });
    await body.first();
    const { status, headers } = kept.recording.response;
    return { status, headers: { ...headers }, body };
  };
}

/** The providers that a folder has answers of. */
export function recordedProviders(recordings: readonly KeptRecording[]): Set<string> {
  return new Set(recordings.map(({ recording }) => recording.provider));
}

function askedOf({ recording: { request } }: KeptRecording): Asked {
  return { method: request.method, url: request.url, body: request.body };
}

function missing(recordings: readonly KeptRecording[], asked: Asked): string {
  const what = `${asked.method} ${placeOf(asked.url)}`;
  const nearest = nearestTo(recordings, asked);
  if (nearest === undefined) return `Nothing is recorded that answers ${what}: the folder is empty.`;
  const { file, difference } = nearest;
  const { at, recorded, asked: here } = difference;
  return `${what} was not recorded. The nearest recording is ${file}; the first difference is ${at}: recorded ${show(recorded)}, asked ${show(here)}.`;
}

function nearestTo(recordings: readonly KeptRecording[], asked: Asked) {
  let best: { file: string; difference: Difference } | undefined;
  for (const kept of recordings) {
    const difference = firstDifference(askedOf(kept), asked);
    if (difference && difference.alike > (best?.difference.alike ?? -1))
      best = { file: kept.file, difference };
  }
  return best;
}

const shownMax = 80;

function show(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value);
  return text.length > shownMax ? `${text.slice(0, shownMax)}…` : text;
}
