import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exitCodes } from '../../../src/shared/errors.ts';
import { runCli } from '../../support/run-cli.ts';
import { type RunningDaemon, startDaemon } from '../../support/start-daemon.ts';

let daemon: RunningDaemon;

beforeAll(async () => {
  daemon = await startDaemon();
});

afterAll(async () => {
  await daemon.stop();
});

const gateway = (args: string[], stdin?: string) =>
  runCli(args, { env: { GATEWAY_HOME: daemon.home }, ...(stdin !== undefined && { stdin }) });

const items = [
  { role: 'user', content: 'My name is Ada.' },
  { role: 'assistant', content: 'Hello, Ada.' },
];
const types = (text: string) => (JSON.parse(text) as { type: string }[]).map(({ type }) => type);

describe('compact', () => {
  test('prints the items of the compacted conversation', async () => {
    const { code, stdout } = await gateway(['compact', '-m', 'sim/assistant'], JSON.stringify(items));
    expect([code, types(stdout)]).toEqual([0, ['message', 'compaction']]);
    const again = await gateway(['compact', '-m', 'sim/assistant'], stdout);
    expect([again.code, types(again.stdout)]).toEqual([0, ['message', 'compaction']]);
    const next = [...JSON.parse(stdout), { role: 'user', content: 'Who am I?' }];
    const answer = await daemon.fetch('/v1/responses', { json: { model: 'sim/assistant', input: next } });
    expect(answer.status).toBe(200);
  });

  test('compacts a stored response and prints the whole result with --json', async () => {
    const made = await daemon.fetch('/v1/responses', { json: { model: 'sim/assistant', input: 'Hello.' } });
    const { id } = (await made.json()) as { id: string };
    const { code, stdout } = await gateway(['compact', id, '--json'], '');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ object: 'response.compaction', service: { own_key: false } });
    const piped = await gateway(['compact'], stdout);
    expect(piped.code).toBe(0);
  });

  test.each([
    ['nothing', ''],
    ['what is no JSON', 'Hello.'],
    ['what holds no items', '{"items":[]}'],
  ])('refuses %s', async (_what, stdin) => {
    const { code, stderr } = await gateway(['compact', '-m', 'sim/assistant'], stdin);
    expect(code).toBe(exitCodes.usage);
    expect(stderr).toContain('JSON list of items');
  });

  test('reports a missing response', async () => {
    const { code, stderr } = await gateway(['compact', 'resp_none', '-m', 'sim/assistant'], '');
    expect(code).toBe(exitCodes.failed);
    expect(stderr).toContain('resp_none');
  });
});
