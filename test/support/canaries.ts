import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Wire } from '../../src/daemon/features/upstreams/neutral.ts';
import { answers, insertsAfter, says } from './chaos-behaviours.ts';
import type { Behaviour, ChaosCall } from './chaos-upstream.ts';
import type { ModelAnswer, Target } from './model-client.ts';

/** A daemon whose secrets are looked for. */
export interface WatchedDaemon extends Target {
  login: string;
  home: string;
  printed(): { stdout: string; stderr: string };
}

/** Values of every kind of credential, each of which is found again wherever it should not be. */
export const canaries = {
  providerKey: 'sk-CANARYprovider0123456789abcdefghij',
  oddProviderKey: 'canary.provider/key+without=form7',
  upstreamHeader: 'canary-header-of-upstream-5b',
  upstreamToken: 'canary-token-of-upstream-6c',
  otlpHeader: 'canary-header-of-collector-7d',
  mcpAuthorization: 'canary-authorization-of-mcp-8e',
  mcpHeader: 'canary-header-of-mcp-9f',
  mcpUrlKey: 'canary0key1in2address3of4mcp',
  urlPassword: 'canary-password-in-url-1a',
  urlToken: 'canary-token-in-query-2b',
  urlSignature: 'canary%2Bsignature-in-query-3c',
  paywallHeader: 'canary-header-of-paywall-4d',
  hookAddress: 'canary-path-of-web-hook-5e',
  walletString: 'canarysecretofwallet6f',
  preimage: '0ca9a47e'.repeat(8),
  macaroon: 'AgEEY2FuYXJ5bWFjYXJvb24wMTIzNDU2Nzg5',
} as const;

export const canaryEnv = {
  CANARY_KEY: canaries.providerKey,
  CANARY_ODD_KEY: canaries.oddProviderKey,
  CANARY_HEADER: canaries.upstreamHeader,
  CANARY_TOKEN: canaries.upstreamToken,
};

/** Providers of each format, which get keys and headers. */
export function canaryConfig(baseUrl: string): string {
  const headers = `headers: {x-team: {env: CANARY_HEADER}, x-service-auth: {env: CANARY_TOKEN}}`;
  const upstreams = (['responses', 'chat', 'messages'] as const).flatMap((wire) =>
    [
      [wire, 'CANARY_KEY'],
      [`${wire}-odd`, 'CANARY_ODD_KEY'],
    ].map(
      ([name, key]) =>
        `{name: ${name}, base_url: "${baseUrl}", models: ["*"], wire: ${wire}, key_env: ${key}, ${headers}, prices: {input: "0", output: "0"}}`,
    ),
  );
  return `log: {level: trace}\nvault: {keychain: false, insecure_plain_file: true}\nupstreams: [${upstreams.join(', ')}]\n`;
}

/** The address of a picture that only those can read who know it. */
export const address = `https://ann:${canaries.urlPassword}@files.example/a.png?X-Amz-Signature=${canaries.urlSignature}&token=${canaries.urlToken}&w=1`;
const wallet = `nostr+walletconnect://ab12?relay=wss://relay.example&secret=${canaries.walletString}`;

/** A body with a secret in each place that takes one, and in places where none belongs. */
export function telling(wire: Wire, { key, login }: Pick<WatchedDaemon, 'key' | 'login'>) {
  const text = `Is ${key} or ${login} right? See ${address} and ${wallet}`;
  const labels = { user: key, metadata: { note: login, api_key: canaries.urlToken } };
  if (wire === 'responses') {
    const server = {
      type: 'mcp',
      server_label: 'notes',
      server_url: `https://mcp.example/s/${canaries.mcpUrlKey}/mcp?profile=team`,
      authorization: canaries.mcpAuthorization,
      headers: { 'X-Team': canaries.mcpHeader },
    };
    const content = [
      { type: 'input_text', text },
      { type: 'input_image', image_url: address },
    ];
    return { ...labels, tools: [server], input: [{ role: 'user', content }] };
  }
  if (wire === 'messages') {
    const image = { type: 'image', source: { type: 'url', url: address } };
    const messages = [{ role: 'user', content: [{ type: 'text', text }, image] }];
    return { metadata: { user_id: key }, max_tokens: 100, messages };
  }
  const content = [
    { type: 'text', text },
    { type: 'image_url', image_url: { url: address } },
  ];
  return { ...labels, messages: [{ role: 'user', content }] };
}

/** Headers and a query with credentials of others, as a client sends them by mistake. */
export function tellingHeaders({ login }: Pick<WatchedDaemon, 'login'>): Record<string, string> {
  return {
    cookie: `session=${login}`,
    'x-canary-key': canaries.urlToken,
    'user-agent': `tool/1.0 (Bearer ${login})`,
    'x-service-tags': `team=${login}`,
    'x-service-user': login,
  };
}

const received = ({ head, body }: ChaosCall) => `${head} ${JSON.stringify(body)}`;
/** The same in plain words, which are not taken for quotations; tools first, as long messages are cut. */
const said = (call: ChaosCall) =>
  `${JSON.stringify(call.body.tools ?? '')} ${received(call)}`.replace(/[^\w.:/?&=@+%-]+/g, ' ');

/** How a provider repeats all that it received. */
export const echoes: readonly (readonly [string, Behaviour])[] = [
  ['its answer', (call) => answers({ text: received(call) })(call)],
  ...[400, 401, 429, 500].map(
    (status) =>
      [
        `an error with status ${status}`,
        (call: ChaosCall) => {
          const message = `Cannot do this: ${said(call)}`;
          const error = { message, type: 'some_error', code: 'some_code', param: received(call) };
          says(status, {
            headers: ['content-type: application/json', `x-request-id: ${canaries.upstreamToken}`],
            body: JSON.stringify({ error }),
          })(call);
        },
      ] as const,
  ),
  [
    'an error in its stream',
    (call) => {
      const message = JSON.stringify(`Cannot go on: ${said(call)}`);
      insertsAfter(
        call.stream ? 4 : 0,
        `event: error\ndata: {"type":"error","error":{"type":"some_error","code":"some_code","message":${message}}}\n\n`,
      )(call);
    },
  ],
];

/** Everything that the daemon shows to its owner, by where it is. */
export async function everythingShown({ url, login }: WatchedDaemon): Promise<Map<string, string>> {
  // What is read takes long to search on a busy machine: meanwhile the daemon would close the connection.
  const headers = { authorization: `Bearer ${login}`, connection: 'close' };
  const shown = new Map<string, string>();
  const read = async (path: string) => {
    const leave = new AbortController();
    const answer = await fetch(url + path, { headers, signal: leave.signal });
    let text = '';
    for await (const chunk of answer.body ?? []) {
      text += Buffer.from(chunk as Uint8Array).toString();
      // What happened comes first; such a stream goes on.
      if (answer.headers.get('content-type')?.startsWith('text/event-stream') && !/\[DONE\]/.test(text))
        break;
    }
    leave.abort();
    shown.set(path, text);
    return text;
  };
  const list = async (path: string) => {
    const { data } = JSON.parse(await read(path)) as { data: { id: string }[] };
    expect(data.length, path).toBeGreaterThan(0);
    return data;
  };
  const document = (await (await fetch(`${url}/v1/openapi.json`)).json()) as {
    paths: Record<string, Record<string, unknown>>;
  };
  // Streams are read below.
  const paths = Object.entries(document.paths).flatMap(([path, { get }]) =>
    get === undefined || JSON.stringify(get).includes('text/event-stream') ? [] : [path],
  );
  for (const path of paths) {
    const own = path.replace('{workspace}', 'me');
    if (!own.includes('{') && own !== '/v1/openapi.json') await read(own);
  }
  await read('/v1/events?after=0');
  const calls: { request_id: string }[] = [];
  for (let after: string | null = ''; after !== null; ) {
    const text = await read(`/v1/traces?limit=100${after && `&after=${after}`}`);
    const page = JSON.parse(text) as { data: typeof calls; next: string | null };
    calls.push(...page.data);
    after = page.next;
  }
  for (const { request_id: id } of calls) {
    await read(`/v1/traces/${id}`);
    for (const query of ['', '?part=composition']) await read(`/v1/traces/${id}/content${query}`);
  }
  for (const format of ['jsonl', 'csv', 'har', 'otlp'])
    await read(`/v1/traces/export?format=${format}&content=wire`);
  // Words around the secrets, and one of their own.
  for (const text of ['canary', 'files.example', 'Is '])
    await read(`/v1/traces/search?limit=100&text=${encodeURIComponent(text)}`);
  for (const { id } of await list('/v1/stored-responses?limit=100')) {
    // Its events are the answer, as its caller got it.
    for (const rest of ['', '/input_items']) await read(`/v1/responses/${id}${rest}`);
  }
  for (const { id } of await list('/v1/threads?limit=100')) {
    for (const rest of ['', '/messages', '/runs', '/events']) await read(`/v1/threads/${id}${rest}`);
  }
  return shown;
}

/** Where secrets are the owner's own files. */
const ownFiles = /^(config\.yaml|default-key|login-key|data-key|.*master.*)$/;

/** The files of the data folder, its backups and the log included. */
export function filesOf({ home }: Pick<WatchedDaemon, 'home'>): Map<string, string> {
  const names = readdirSync(home, { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => statSync(join(home, name)).isFile() && !ownFiles.test(name));
  return new Map(files.map((name) => [name, readFileSync(join(home, name), 'latin1')]));
}

/** The arguments of a process and of all that it started, and the variables of these; empty where there is no `/proc`. */
export function processesOf(pid: number): Map<string, string> {
  const found = new Map<string, string>();
  if (process.platform !== 'linux') return found;
  found.set('arguments', readFileSync(`/proc/${pid}/cmdline`, 'latin1'));
  const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1').split(' ').filter(Boolean),
  );
  for (const child of children) {
    for (const kind of ['cmdline', 'environ'])
      found.set(`${kind} of ${child}`, readFileSync(`/proc/${child}/${kind}`, 'latin1'));
  }
  return found;
}

/** Fails if a secret, as it is or in a usual encoding, is in one of these places. All that are found are named. */
export function expectNowhere(
  secrets: Readonly<Record<string, string>>,
  places: ReadonlyMap<string, string>,
): void {
  const found = Object.entries(secrets).flatMap(([name, secret]) => {
    const forms = [secret, decodeURIComponent(secret), encodeURIComponent(secret)].map(
      // The middle of a secret is as telling as all of it; a key’s first and last characters are its hint.
      (form) => (/^gw[klta]_/.test(form) ? form.slice(12, -6) : form),
    );
    return [...places].flatMap(([place, text]) =>
      forms.some((form) => text.includes(form)) ? [`${name} in ${place}`] : [],
    );
  });
  expect(found).toEqual([]);
}

/** What callers got that says why something failed: those of an answer are the caller's own words. */
export function failureIn({ status, text }: Pick<ModelAnswer, 'status' | 'text'>): string {
  if (status >= 400) return text;
  const events = text.split('\n').flatMap((line) => /^data: (\{.*\})$/.exec(line)?.[1] ?? []);
  return events
    .filter((event) => /"error":\{/.test(event))
    .map((event) => errorOf(JSON.parse(event)))
    .join('\n');
}

function errorOf(event: { error?: unknown; response?: { error?: unknown } }): string {
  return JSON.stringify(event.error ?? event.response?.error);
}
