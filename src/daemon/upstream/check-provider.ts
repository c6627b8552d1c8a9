import { type IncomingAnswer, NetworkFailure, type World } from '../base/world.ts';
import type { ProviderCheck } from '../features/providers/index.ts';
import type { Adapter, ProviderApi } from './adapter.ts';
import { placeOf } from './http-upstream.ts';
import { parseObject } from './json.ts';
import { errorStatusIn, readText } from './response-body.ts';

export interface CheckedProvider {
  name: string;
  /** Free to ask, with the key. */
  url: string;
  key: string | undefined;
  headers: ProviderApi['keyHeaders'];
  failure: Adapter['failure'];
  /** The variable of the key; undefined if it needs none. */
  keyVariable: string | undefined;
  /** Where its address is set. */
  addressSetting: string;
}

const timeoutMs = 5_000;
const bytesMax = 64 * 1024;

/** Asks a provider for something free. Never rejects because of the provider or the network. */
export async function checkProvider(
  { send, elapsed }: Pick<World, 'send' | 'elapsed'>,
  provider: CheckedProvider,
): Promise<ProviderCheck> {
  const startedAt = elapsed();
  const verdict = await ask(send, provider);
  return { ...verdict, ms: Math.round(elapsed() - startedAt) };
}

type Verdict = Omit<ProviderCheck, 'ms'>;

async function ask(send: World['send'], provider: CheckedProvider): Promise<Verdict> {
  const { url, key, headers } = provider;
  try {
    const answer = await send({
      method: 'GET',
      url,
      headers: { accept: 'application/json', ...(key !== undefined && headers(key)) },
      headersTimeoutMs: timeoutMs,
      idleTimeoutMs: timeoutMs,
      totalTimeoutMs: timeoutMs,
    });
    const verdict = await verdictOf(answer, provider);
    return verdict.problem === 'address' ? await withVersion(send, verdict, provider) : verdict;
  } catch (error) {
    if (!(error instanceof NetworkFailure)) throw error;
    return unreached(error, provider);
  }
}

/** Adds where the API is if only its version is missing, as most servers have `/v1`. Source: pssah4/vault-operator#73. */
async function withVersion(
  send: World['send'],
  verdict: Verdict,
  provider: CheckedProvider,
): Promise<Verdict> {
  const [, base] = /^(.*)\/models$/.exec(provider.url) ?? [];
  if (base === undefined || /\/v\d/.test(base)) return verdict;
  const { problem } = await ask(send, { ...provider, url: `${base}/v1/models` });
  const isThere = problem === null || problem === 'key';
  return isThere ? { ...verdict, remedy: `Set ${provider.addressSetting} to ${base}/v1.` } : verdict;
}

async function verdictOf(answer: IncomingAnswer, provider: CheckedProvider): Promise<Verdict> {
  const { status, headers, body } = answer;
  const { addressSetting, keyVariable } = provider;
  if (status >= 300 && status < 400) {
    body.cancel();
    const to = placeOf(headers.location);
    const remedy = to ? `Set ${addressSetting} to its address at ${to}.` : `Correct ${addressSetting}.`;
    return { problem: 'redirect', message: `it redirects${to ? ` to ${to}` : ''} (${status})`, remedy };
  }
  const isPage = headers['content-type']?.toLowerCase().startsWith('text/html') ?? false;
  if (status < 400 && !isPage) {
    const json = parseObject(await readText(body, bytesMax));
    const failed = json && errorStatusIn(json);
    if (failed === 404) return wrongAddress('it has no list of models at its address', provider);
    const accepts = keyVariable === undefined ? '' : ' and accepts the key';
    return { problem: null, message: `it answers${accepts}`, remedy: null };
  }
  if (isPage && status < 500 && status !== 401 && status !== 403) {
    body.cancel();
    return wrongAddress(`a web page is at its address (${status})`, provider);
  }
  const { kind } = provider.failure(status, headers, await readText(body, bytesMax));
  if (kind === 'authentication' || kind === 'forbidden')
    return {
      problem: 'key',
      message: keyVariable === undefined ? `it wants a key (${status})` : `it refuses the key (${status})`,
      remedy: keyVariable
        ? `Start the daemon with a valid key in ${keyVariable}.`
        : `Name the variable of its key: key_env in the configuration.`,
    };
  if (kind === 'billing')
    return {
      problem: 'credit',
      message: `its account is out of credit (${status})`,
      remedy: `Add credit there, then run: gateway providers retry ${provider.name}`,
    };
  if (kind === 'rate-limited')
    return { problem: null, message: `it answers, and limits the rate for now (${status})`, remedy: null };
  if (status < 500) return wrongAddress(`it has no list of models at its address (${status})`, provider);
  return {
    problem: 'failing',
    message: `it fails (${status})`,
    remedy: 'Try again later; calls go to other providers meanwhile.',
  };
}

function wrongAddress(message: string, { addressSetting }: Pick<CheckedProvider, 'addressSetting'>): Verdict {
  return { problem: 'address', message, remedy: `Check ${addressSetting}.` };
}

function unreached({ at, kind, message }: NetworkFailure, { addressSetting }: CheckedProvider): Verdict {
  if (at?.part === 'certificate') {
    const { fault, remedy } = at;
    return {
      problem: 'certificate',
      message: fault,
      remedy: `${remedy.charAt(0).toUpperCase()}${remedy.slice(1)}.`,
    };
  }
  if (at?.part === 'proxy')
    return {
      problem: 'proxy',
      message,
      remedy: 'Check HTTPS_PROXY and HTTP_PROXY, or name the host in NO_PROXY, and restart the daemon.',
    };
  if (kind === 'unresolved') return wrongAddress(message, { addressSetting });
  return {
    problem: 'unreachable',
    message,
    remedy: `Check that it runs and can be reached from here, and ${addressSetting}.`,
  };
}
