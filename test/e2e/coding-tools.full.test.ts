import { mkdtempSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import {
  type CodingTool,
  codingToolSkipReason,
  hasCodingTool,
  runCodingTool,
} from '../support/coding-tools.ts';
import {
  type BackendName,
  backendsForThisFile,
  type ProviderName,
  type ScriptedReply,
} from '../support/model-backends.ts';

/** Coding agents from npm, started as `gateway run` does. Models are fakes that answer a script. */

const folder = mkdtempSync(join(tmpdir(), 'gateway-coding-'));
afterAll(() => rm(folder, { recursive: true }));

const file = String.raw`in (?<file>\S+notes\.txt)`;
const script = `
rules:
  - when: {message: {matches: '${file}'}, tool_result: {name: Edit}}
    reply: It says color now.
  - when: {message: {matches: '${file}'}, tool_result: {name: Read}}
    tool_calls: [{name: Edit, arguments: {file_path: '{{file}}', old_string: colour, new_string: color}}]
  - when: {message: {matches: '${file}'}, tools: Read}
    tool_calls: [{name: Read, arguments: {file_path: '{{file}}'}}]
  - when: {message: {contains: What did you change}}
    reply: The spelling, as answer {{turn}} of this conversation.
`;
writeFileSync(join(folder, 'script.yaml'), script);
// The name of a model decides how Codex sends its tools: to be searched, in an item of the input, or as they are.
const codexNames = ['gpt-5.5', 'gpt-6-astra', 'qwen3.6'] as const;
const backends = await backendsForThisFile(`
simulate: ${join(folder, 'script.yaml')}
aliases: {${codexNames.map((name) => `"${name}": chat-only/fake`).join(', ')}}`);

interface Workspace {
  work: string;
  notes: string;
  run: (
    name: CodingTool,
    args: readonly string[],
    env?: Readonly<Record<string, string>>,
  ) => ReturnType<typeof runCodingTool>;
}

/** What people have in the files of their settings: with it, calls went past the gateway (ollama/ollama#16097, lmstudio-ai/lms#561). */
const elsewhere = {
  ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
  ANTHROPIC_AUTH_TOKEN: 'of-another-place',
  ANTHROPIC_MODEL: 'glm-5',
  CLAUDE_CODE_USE_BEDROCK: '1',
};

async function workspace(model: string): Promise<Workspace> {
  const work = await mkdtemp(join(folder, 'work-'));
  const home = await mkdtemp(join(folder, 'home-'));
  await mkdir(join(home, '.claude'));
  await writeFile(join(home, '.claude/settings.json'), JSON.stringify({ env: elsewhere }));
  const notes = join(work, 'notes.txt');
  await writeFile(notes, 'My favourite colour.\n');
  const { daemon } = backends;
  const target = { folder: work, home, daemon, model, contextLength: 128_000 };
  return { work, notes, run: (name, args, env = {}) => runCodingTool({ name, ...target, args, env }) };
}

/** The model is known only after the script, which needs the path. */
async function scripted(backend: BackendName, replies: (notes: string) => ScriptedReply[]) {
  const model = backends.script(backend);
  const place = await workspace(model);
  backends.script(backend, ...replies(place.notes));
  return place;
}

const forms: BackendName[] = ['simulator', 'openai', 'google'];

describe.runIf(hasCodingTool('claude'))(`Claude Code${codingToolSkipReason('claude')}`, () => {
  test.each(forms)('edits a file and goes on with the conversation, answered by %s', async (backend) => {
    const { notes, run } = await scripted(backend, (path) => [
      { calls: [{ name: 'Read', input: { file_path: path } }] },
      {
        reasoning: 'The spelling is British.',
        calls: [{ name: 'Edit', input: { file_path: path, old_string: 'colour', new_string: 'color' } }],
      },
      { reasoning: 'That was all.', text: 'It says color now.' },
      { text: 'The spelling, as answer 4 of this conversation.' },
    ]);
    const edit = ['-p', `Use American spelling in ${notes}`, '--permission-mode', 'acceptEdits'];
    const first = await run('claude', edit);
    expect(first, first.stderr).toMatchObject({ code: 0, stdout: 'It says color now.\n' });
    expect(await readFile(notes, 'utf8')).toBe('My favourite color.\n');
    const second = await run('claude', ['-p', '--continue', 'What did you change?']);
    expect(second, second.stderr).toMatchObject({
      code: 0,
      stdout: 'The spelling, as answer 4 of this conversation.\n',
    });
    if (backend === 'simulator') return;
    const sent = backends.bodiesOf(backend);
    expect(sent).toHaveLength(4);
    expect(JSON.stringify(sent[3])).toContain('has been updated');
  });

  test('thinks in front of a model without reasoning', async () => {
    const { notes, run } = await workspace('openai/gpt-4.1');
    backends.script(
      'openai',
      { calls: [{ name: 'Read', input: { file_path: notes } }] },
      { text: 'It says colour.' },
    );
    const thinking = { MAX_THINKING_TOKENS: '8000', CLAUDE_CODE_ALWAYS_ENABLE_EFFORT: '1' };
    const { code, stdout, stderr } = await run(
      'claude',
      ['-p', `Think hard: what does ${notes} say?`, '--effort', 'high'],
      thinking,
    );
    expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: 'It says colour.\n' });
    const sent = backends.bodiesOf('openai');
    expect(sent).toHaveLength(2);
    expect(sent.every((body) => body.model === 'gpt-4.1' && !('reasoning' in body && body.reasoning))).toBe(
      true,
    );
    expect(JSON.stringify(sent[1])).toContain('My favourite colour.');
    const headers = { authorization: `Bearer ${backends.daemon.login}` };
    const traces = await backends.daemon.fetch('/v1/traces?limit=2', { headers });
    for (const { dropped } of ((await traces.json()) as { data: { dropped: unknown }[] }).data)
      expect(dropped).toEqual(
        expect.arrayContaining([{ param: 'thinking' }, { param: 'output_config.effort' }]),
      );
  });
});

describe.runIf(hasCodingTool('codex'))(`Codex${codingToolSkipReason('codex')}`, () => {
  const server = fileURLToPath(new URL('../support/weather-mcp.mjs', import.meta.url));
  const command = `{command=${JSON.stringify(process.execPath)},args=[${JSON.stringify(server)}]}`;

  // Of OpenAI's own models, calls pass through unchanged.
  test.each<ProviderName>(['chat-only', 'anthropic', 'google'])(
    'calls a tool of an MCP server and runs a command, answered by %s',
    async (backend) => {
      const { notes, run } = await scripted(backend, (path) => [
        { calls: [{ name: 'mcp__weather__lookup', input: { city: 'Oslo' } }] },
        { calls: [{ name: 'exec_command', input: { cmd: `echo 'Rain.' > '${path}'` } }] },
        { text: 'Noted.' },
      ]);
      const { code, stdout, stderr } = await run('codex', [
        ...['-c', `mcp_servers.weather=${command}`],
        ...['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'],
        'Look up the weather in Oslo, and write it down.',
      ]);
      expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: 'Noted.\n' });
      expect(await readFile(notes, 'utf8')).toBe('Rain.\n');
      const sent = backends.bodiesOf(backend);
      expect(sent).toHaveLength(3);
      expect(JSON.stringify(sent[1])).toContain('It rains in Oslo.');
    },
  );

  const lookUp = { name: 'mcp__weather__lookup', input: { city: 'Oslo' } };
  const callsOf: Record<(typeof codexNames)[number], { name: string; input: Record<string, unknown> }[]> = {
    'gpt-5.5': [{ name: 'tool_search', input: { query: 'weather' } }, lookUp],
    'gpt-6-astra': [
      { name: 'exec', input: { input: "text(await tools.mcp__weather__lookup({ city: 'Oslo' }))" } },
    ],
    'qwen3.6': [lookUp],
  };

  test.each(codexNames)('finds and calls a tool of an MCP server with a model named %s', async (name) => {
    const { run } = await workspace(name);
    const calls = callsOf[name];
    backends.script('chat-only', ...calls.map((call) => ({ calls: [call] })), { text: 'Rain.' });
    const { code, stdout, stderr } = await run('codex', [
      ...['-c', `mcp_servers.weather=${command}`],
      ...['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'],
      'Look up the weather in Oslo.',
    ]);
    expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: 'Rain.\n' });
    const sent = backends.bodiesOf('chat-only') as { tools?: { function: { name: string } }[] }[];
    expect(sent).toHaveLength(calls.length + 1);
    for (const [index, call] of calls.entries())
      expect(sent[index]?.tools?.map((tool) => tool.function.name)).toContain(call.name);
    expect(JSON.stringify(sent.at(-1))).toContain('It rains in Oslo.');
  });
});
