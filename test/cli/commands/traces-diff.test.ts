import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCli } from '../../support/run-cli.ts';
import { type RunningDaemon, startDaemon } from '../../support/start-daemon.ts';

let daemon: RunningDaemon;

beforeAll(async () => {
  daemon = await startDaemon();
});

afterAll(() => daemon.stop());

const run = (line: string[], options: { tty?: true; columns?: number } = {}) =>
  runCli(line, { env: { GATEWAY_HOME: daemon.home, NO_COLOR: '1' }, ...options });

/** Makes a call and returns the id of its request. */
async function call(body: object, headers: Record<string, string> = {}): Promise<string> {
  const json = { model: 'sim/echo', ...body };
  const reply = await daemon.fetch('/v1/chat/completions', { json, headers });
  await reply.text();
  return reply.headers.get('x-request-id') ?? '';
}

const ask = (content: string) => ({ messages: [{ role: 'user', content }] });

describe('the call that a request is compared with', () => {
  const compared = async (request: string) => {
    const { stdout, stderr } = await run(['traces', 'diff', request, '--json']);
    return stderr || (JSON.parse(stdout) as { before: string }).before;
  };

  test('is the previous one of its conversation with the same model', async () => {
    const headers = { 'x-service-conversation': 'one' };
    const first = await call(ask('Hello'), headers);
    // Agents make small calls to other models in between, and others make calls, too.
    await call({ ...ask('A title'), model: 'sim/assistant' }, headers);
    await call(ask('Hello'), { 'x-service-conversation': 'another' });
    const second = await call(ask('Hello again'), headers);
    expect(await compared(second)).toBe(first);
    expect(await compared(first)).toContain('No earlier call of its conversation');
  });

  test('is the one that it repeats', async () => {
    const first = await call(ask('Once'));
    await call(ask('Something else'));
    const again = await call(ask('Once'), { 'x-service-replay-of': first });
    expect(await compared(again)).toBe(first);
  });

  test('is named, the earlier one first', async () => {
    const first = await call(ask('First'));
    const second = await call(ask('Second'));
    const { stdout } = await run(['traces', 'diff', second, first, '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ before: first, after: second });
  });
});

describe('a comparison', () => {
  let requests: string[];

  beforeAll(async () => {
    const messages = (word: string) => [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: `Say ${word} now,\nand\u001b[2J no more.` },
    ];
    requests = [
      await call({ messages: messages('yes'), temperature: 0 }),
      await call({ messages: messages('no'), max_tokens: 50 }),
    ];
  });

  test('is rows in a pipe', async () => {
    const { code, stdout } = await run(['traces', 'diff', ...requests]);
    expect(code).toBe(0);
    const rows = stdout.split('\n').map((line) => line.split('\t'));
    expect(rows).toContainEqual(['total', 'request_id', ...requests]);
    expect(rows).toContainEqual(['parameter', 'temperature', '0', '']);
    expect(rows).toContainEqual(['parameter', 'max_tokens', '', '50']);
    expect(rows).toContainEqual(['message', 'messages[1].content', 'Say yes now,', 'Say no now,']);
    const broken = [expect.stringContaining('Say yes now'), expect.stringContaining('Say no now')];
    expect(rows).toContainEqual(['cache', 'messages[1].content', ...broken]);
    const { stdout: names } = await run(['traces', 'diff', ...requests, '--quiet']);
    expect(names).toBe('temperature\nmax_tokens\nmessages[1].content\nchoices[0].message.content\n');
  });

  test.each([120, 40])('fits a terminal of %d columns, without control characters', async (columns) => {
    const { stdout } = await run(['traces', 'diff', ...requests], { tty: true, columns });
    expect(stdout).toContain('broke at messages[1].content (user)');
    expect(stdout).toContain('    - Say yes now,');
    expect(stdout).toContain('    + Say no now,');
    expect(stdout).toContain('= messages[0].content: unchanged');
    expect(stdout).not.toContain('\u001b');
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(columns);
  });

  test('has the figures of requests whose content is not kept', async () => {
    const request = await call(ask('Secret'), { 'x-service-capture': 'off' });
    const { code, stdout, stderr } = await run(['traces', 'diff', request, requests[0] ?? '']);
    expect(code).toBe(0);
    expect(stderr).toContain(`${request}: The content of this request is not kept.`);
    expect(stdout).toContain(`total\trequest_id\t${requests[0]}\t${request}\n`);
    expect(stdout).not.toContain('parameter');
  });
});
