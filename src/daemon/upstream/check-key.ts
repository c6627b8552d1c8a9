import { type IncomingAnswer, NetworkFailure, type World } from '../world.ts';
import type { Adapter } from './adapter.ts';
import { readText } from './response-body.ts';

/** A provider, as far as it is asked about a key. */
export interface KeyQuestion {
  name: string;
  /** What is got there costs nothing, and only a good key gets it. */
  url: string;
  headers: (key: string) => Record<string, string>;
  failure: Adapter['failure'];
}

export interface KeyVerdict {
  result: 'good' | 'refused' | 'unreachable';
  /** For people; never holds the key or the provider's own words. */
  message: string;
}

const timeoutMs = 10_000;
const bytesMax = 64 * 1024;

/** Asks a provider whether it takes a key. Never rejects for what the provider or the network does. */
export async function checkKey(
  send: World['send'],
  { name, url, headers, failure }: KeyQuestion,
  key: string,
): Promise<KeyVerdict> {
  try {
    const answer = await send({
      method: 'GET',
      url,
      headers: { accept: 'application/json', ...headers(key) },
      headersTimeoutMs: timeoutMs,
      idleTimeoutMs: timeoutMs,
    });
    return await verdictOf(name, answer, failure);
  } catch (error) {
    if (!(error instanceof NetworkFailure)) throw error;
    return { result: 'unreachable', message: `${name} cannot be reached: ${error.kind}.` };
  }
}

async function verdictOf(
  name: string,
  answer: IncomingAnswer,
  failure: Adapter['failure'],
): Promise<KeyVerdict> {
  if (answer.status >= 200 && answer.status < 300) {
    answer.body.cancel();
    return { result: 'good', message: `${name} takes the key.` };
  }
  const body = await readText(answer.body, bytesMax);
  const { kind } = failure(answer.status, answer.headers, body);
  switch (kind) {
    case 'authentication':
      return { result: 'refused', message: `${name} does not take the key (status ${answer.status}).` };
    case 'billing':
      return { result: 'good', message: `${name} takes the key, but its account is out of money.` };
    case 'rate-limited':
      return { result: 'good', message: `${name} takes the key, but its limit is used up for now.` };
    default:
      return { result: 'unreachable', message: `${name} answered with status ${answer.status}.` };
  }
}
