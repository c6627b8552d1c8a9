import type { Route } from '../routing/index.ts';
import type { Batch } from '../upstreams/neutral.ts';
import { type StreamAnswer, UpstreamFailure } from '../upstreams/upstream.ts';
import type { Meter } from './meter.ts';

/** Bounds the memory of an answer that is read ahead; the rest is read later. */
const eventsMax = 50_000;

/**
 * Reads an answer to its end before any of it is used, so that another provider can still answer if this one breaks off:
 * then nothing of it is charged. What it uses is metered meanwhile, in case the call is canceled. Rejects with the
 * UpstreamFailure, unless the request is at fault, which every provider would refuse.
 */
export async function readAhead(answer: StreamAnswer, route: Route, meter: Meter): Promise<StreamAnswer> {
  const batches = answer.batches[Symbol.asyncIterator]();
  const read: Batch[] = [];
  let characters = 0;
  let events = 0;
  meter.answerStarted(route, { characters: () => characters });
  try {
    while (events < eventsMax && !meter.isOverspent()) {
      const next = await batches.next();
      if (next.done) return { ...answer, batches: replayed(read) };
      read.push({ events: next.value.events, frames: undefined });
      events += next.value.events.length;
      for (const event of next.value.events) if ('delta' in event) characters += event.delta.length;
      meter.count(next.value.events);
      meter.saveProgress();
    }
    return { ...answer, batches: replayed(read, batches) };
  } catch (error) {
    if (error instanceof UpstreamFailure && error.kind === 'caller')
      return { ...answer, batches: replayed(read, failing(error)) };
    if (error instanceof UpstreamFailure) meter.answerDiscarded();
    throw error;
  }
}

async function* replayed(read: Batch[], rest?: AsyncIterator<Batch>): AsyncGenerator<Batch> {
  try {
    for (let batch = read.shift(); batch; batch = read.shift()) yield batch;
    for (let next = await rest?.next(); next && !next.done; next = await rest?.next()) yield next.value;
  } finally {
    await rest?.return?.();
  }
}

function failing(error: UpstreamFailure): AsyncIterator<Batch> {
  return { next: () => Promise.reject(error) };
}
