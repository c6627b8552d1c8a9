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

const embed = (args: string[], stdin?: string) =>
  runCli(['embed', ...args], {
    env: { GATEWAY_HOME: daemon.home },
    ...(stdin !== undefined && { stdin }),
  });
const vectorsIn = (stdout: string) =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as number[]);

describe('embed', () => {
  test('prints a line with a vector for each text', async () => {
    const { code, stdout, stderr } = await embed(['-m', 'sim/embedding', 'one', 'two', '--dimensions', '4']);
    expect(code).toBe(0);
    expect(vectorsIn(stdout).map(({ length }) => length)).toEqual([4, 4]);
    expect(stderr).toBe('sim/embedding via simulator · 2 tokens · $0\n');
  });

  test('reads more lines than one call can have, in order', async () => {
    const lines = Array.from({ length: 600 }, (_, index) => `line ${index}`);
    const { stdout } = await embed(['-m', 'sim/embedding'], lines.join('\n'));
    const vectors = vectorsIn(stdout);
    expect(vectors).toHaveLength(600);
    const last = await embed(['-m', 'sim/embedding', 'line 599']);
    expect(vectors[599]).toEqual(vectorsIn(last.stdout)[0]);
  });

  test('reads lines for the text -', async () => {
    const { stdout } = await embed(['-m', 'sim/embedding', '-'], 'one\ntwo');
    expect(stdout).toBe((await embed(['-m', 'sim/embedding', 'one', 'two'])).stdout);
  });

  test('prints the whole result with --json', async () => {
    const { stdout } = await embed(['-m', 'sim/embedding', 'one', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ object: 'list', service: { provider: 'simulator' } });
  });

  test('asks a free model by default, and says which', async () => {
    const { code, stdout, stderr } = await embed(['one']);
    expect(code).toBe(0);
    expect(vectorsIn(stdout)).toHaveLength(1);
    expect(stderr).toMatch(
      /^No embedding model was named, so sim\/embedding answers: the built-in simulator/,
    );
  });

  test('names the fields that --json can pick', async () => {
    const { stdout, stderr } = await embed(['-m', 'sim/embedding', 'one', '--json=object']);
    expect(JSON.parse(stdout)).toEqual({ object: 'list' });
    expect(stderr).not.toContain('Unknown');
    const unknown = await embed(['-m', 'sim/embedding', 'one', '--json=index']);
    expect(unknown.stderr).toContain('Unknown field: index. Valid fields: object, data,');
  });

  test.each([
    ['nothing to embed', ['-m', 'sim/embedding'], undefined, /Nothing to embed/],
    ['an empty line', ['-m', 'sim/embedding'], 'a\n\nb', /Line 2 of the input is empty/],
  ])('explains %s', async (_, args, stdin, sentence) => {
    const { code, stderr } = await embed(args, stdin);
    expect(code).toBe(exitCodes.usage);
    expect(stderr).toMatch(sentence);
  });

  test('names the right kind of model', async () => {
    const { code, stderr } = await embed(['-m', 'sim/assistant', 'x']);
    expect(code).toBe(exitCodes.failed);
    expect(stderr).toContain('sim/assistant is a chat model');
  });
});
