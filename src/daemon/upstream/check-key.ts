import type { IncomingAnswer, World } from '../base/world.ts';
import { NetworkFailure } from '../base/world.ts';
import type { KeyVerdict } from '../features/providers/index.ts';
import type { Adapter } from './adapter.ts';
import { readText } from './response-body.ts';

/** The provider that checks a key. */
export interface KeyChecker {
  name: string;
  /** A free endpoint that only accepts valid keys. */
  url: string;
  headers: (key: string) => Record<string, string>;
  failure: Adapter['failure'];
}

const timeoutMs = 10_000;
const bytesMax = 64 * 1024;

/** Checks whether a provider accepts a key. Never rejects because of the provider or the network. */
export async function checkKey(
  send: World['send'],
  { name, url, headers, failure }: KeyChecker,
  key: string,
): Promise<KeyVerdict> {
  try {
    const answer = await send({
      method: 'GET',
      url,
      headers: { accept: 'application/json', ...headers(key) },
      headersTimeoutMs: timeoutMs,
      idleTimeoutMs: timeoutMs,
      totalTimeoutMs: 2 * timeoutMs,
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
    return { result: 'good', message: `${name} accepts the key.` };
  }
  const body = await readText(answer.body, bytesMax);
  const { kind } = failure(answer.status, answer.headers, body);
  switch (kind) {
    case 'authentication':
    case 'forbidden':
      return { result: 'refused', message: `${name} rejects the key (status ${answer.status}).` };
    case 'billing':
      return { result: 'good', message: `${name} accepts the key, but its account is out of credit.` };
    case 'rate-limited':
      return { result: 'good', message: `${name} accepts the key, but its rate limit is used up for now.` };
    default:
      return { result: 'unreachable', message: `${name} answered with status ${answer.status}.` };
  }
}
