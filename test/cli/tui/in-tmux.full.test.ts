import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startFakeAnthropic } from '../../support/fake-anthropic.ts';
import { programs } from '../../support/programs.ts';
import { type RunningDaemon, startDaemon } from '../../support/start-daemon.ts';
import { missingTmux, startTmux } from '../../support/tmux.ts';

const run = promisify(execFile);

/** In use it stays below 150 MB; these redraws on a busy machine take up to 175 MB, and 250 MB if the heap may grow. */
const memoryMaxMb = 200;
const keyRounds = 40;
const keysPerRound = 20;

const whyNot = missingTmux();
if (whyNot) process.stderr.write(`skipping the tests in a terminal: ${whyNot}\n`);

describe.skipIf(whyNot !== undefined)('in a real terminal', () => {
  let cli: string;
  let daemon: RunningDaemon;

  beforeAll(async () => {
    ({ cli } = await programs());
    daemon = await startDaemon();
  });

  afterAll(() => daemon.stop());

  async function open(command: string, { columns = 80, rows = 24, home = daemon.home } = {}) {
    const tmux = await startTmux({ columns, rows, env: { GATEWAY_HOME: home } });
    onTestFinished(tmux.end);
    await tmux.shows(/^\$/m);
    await tmux.text(`${process.execPath} ${cli} ${command}; echo "ended with $?"`);
    await tmux.keys('Enter');
    return tmux;
  }

  const ask = () =>
    daemon.fetch('/v1/responses', { json: { model: 'sim/assistant', input: 'Hello', store: false } });

  test('gateway alone opens the TUI, follows keys and sizes, and restores the terminal', async () => {
    const tmux = await open('');
    await tmux.shows(/● live/);
    await tmux.shows(/^── Overview /m);
    await tmux.text('1');
    await ask();
    await tmux.shows(/❯ .*sim\/assistant/);
    await tmux.text('2');
    await tmux.shows(/^── Keys .*❯ default/ms);
    await tmux.resize(120, 30);
    await tmux.shows(/❯ 2 Keys +│/);
    await tmux.resize(70, 15);
    const small = await tmux.shows(/^[^│]*❯ default[^│]*quit *\n?$/s);
    expect(small.trimEnd().split('\n').length).toBeLessThanOrEqual(15);
    await tmux.text('q');
    const after = await tmux.shows(/ended with 0/);
    expect(after).not.toContain('Gateway · ');
    await tmux.text('echo typed');
    await tmux.keys('Enter');
    await tmux.shows(/^typed$/m);
  });

  test.each([
    ['tui', /^Gateway · ● live/, 'q'],
    ['chat', /^›\n.*Enter send/m, 'C-d'],
  ])('keys that are held redraw and suspend %s once, and fg resumes it', async (command, shown, quit) => {
    const tmux = await open(command);
    await tmux.shows(shown);
    await tmux.keys('C-l', 'C-l', 'C-l');
    await tmux.shows(shown);
    await tmux.keys('C-z', 'C-z');
    await tmux.shows(/Stopped.*\n\$\s*$/s);
    await tmux.text('clear');
    await tmux.keys('Enter');
    await tmux.shows(/^\$\s*$/);
    await tmux.text('fg');
    await tmux.keys('Enter');
    await tmux.shows(shown);
    await tmux.keys(quit);
    await tmux.shows(/\n\$\s*$/);
    await tmux.text('echo typed');
    await tmux.keys('Enter');
    await tmux.shows(/^typed$/m);
  });

  test('reconnects to a restarted daemon and loads missed requests', async () => {
    const tmux = await open('tui');
    await tmux.shows(/● live/);
    await tmux.text('1');
    const { home } = daemon;
    await daemon.stop({ keep: true });
    await tmux.shows(/✗ disconnected/);
    daemon = await startDaemon({ home });
    await ask();
    await ask();
    await tmux.shows(/● live/);
    await tmux.shows(/sim\/assistant[^\n]*\n[^\n]*sim\/assistant/);
  });

  test('memory stays bounded under traffic, also where the shell sets development mode', async () => {
    const tmux = await startTmux({
      columns: 200,
      rows: 60,
      env: { GATEWAY_HOME: daemon.home, NODE_ENV: 'development' },
    });
    onTestFinished(tmux.end);
    await tmux.shows(/^\$/m);
    const pidFile = join(daemon.home, 'tui.pid');
    await tmux.text(`sh -c 'echo $$ > ${pidFile}; exec ${process.execPath} ${cli} tui'`);
    await tmux.keys('Enter');
    await tmux.shows(/● live/);
    await tmux.text('1');
    const pid = (await readFile(pidFile, 'utf8')).trim();
    // Each key redraws immediately, so that minutes of redraws take seconds.
    for (let round = 0; round < keyRounds; round += 1) {
      await tmux.keys(...Array.from({ length: keysPerRound }, (_, at) => (at % 2 === 0 ? 'j' : 'k')));
      await ask();
    }
    await tmux.text('?');
    await tmux.shows(/Keys of Calls/);
    const { stdout } = await run('ps', ['-o', 'rss=', '-p', pid]);
    expect(Number(stdout) / 1024).toBeLessThan(memoryMaxMb);
  });

  test('a killed TUI leaves the terminal usable', async () => {
    const tmux = await startTmux({ columns: 80, rows: 24, env: { GATEWAY_HOME: daemon.home } });
    onTestFinished(tmux.end);
    await tmux.shows(/^\$/m);
    const pidFile = join(daemon.home, 'tui.pid');
    await tmux.text(`sh -c 'echo $$ > ${pidFile}; exec ${process.execPath} ${cli} tui'`);
    await tmux.keys('Enter');
    await tmux.shows(/● live/);
    process.kill(Number(await readFile(pidFile, 'utf8')), 'SIGTERM');
    await tmux.shows(/Terminated\s+\$\s*$/);
    await tmux.text('echo typed');
    await tmux.keys('Enter');
    await tmux.shows(/^typed$/m);
  });

  test('chat streams answers, and Ctrl-C stops an answer before it quits', async () => {
    const tmux = await open('chat --model sim/assistant');
    await tmux.shows(/\/help shows/);
    await tmux.text('Good morning');
    await tmux.keys('Enter');
    await tmux.shows(/You said: “Good morning”/);
    await tmux.text('/mo');
    await tmux.shows(/continue with another model/);
    await tmux.keys('Tab');
    await tmux.text('slow');
    await tmux.shows(/^ +sim\/slow/m);
    await tmux.keys('Tab', 'Enter');
    await tmux.shows(/Switched to sim\/slow/);
    await tmux.text('Write 2000 words');
    await tmux.keys('Enter');
    await tmux.shows(/⋯ sim\/slow via simulator/);
    await tmux.keys('C-c');
    await tmux.shows(/Cancelled\. /);
    expect(await tmux.screen()).not.toContain('not stored');
    await tmux.text('/cost');
    await tmux.keys('Enter');
    await tmux.shows(/2 answers · /);
    await tmux.keys('C-c');
    const after = await tmux.shows(/ended with 0/);
    expect(after).not.toContain('Enter send');
  });

  test("a provider with Anthropic's format is chatted with, and its calls are shown", async () => {
    const fake = await startFakeAnthropic();
    onTestFinished(() => fake.close());
    const models = '[claude-sonnet-4-5, relayed-embed]';
    const { home, url, key, stop } = await startDaemon({
      config: `upstreams: [{name: relay, base_url: "${fake.baseUrl}", models: ${models}, key_env: RELAY_KEY, wire: messages}]`,
      env: { RELAY_KEY: 'sk-relay' },
    });
    onTestFinished(async () => void (await stop()));
    const chat = await open('chat --model sim/assistant', { home });
    await chat.shows(/\/help shows/);
    await chat.text('/model relay');
    const offered = await chat.shows(/^ +relay\/claude-sonnet-4-5/m);
    expect(offered).not.toContain('relayed-embed');
    await chat.keys('Tab', 'Enter');
    await chat.shows(/Switched to relay\/claude-sonnet-4-5/);
    await chat.text('Good morning');
    await chat.keys('Enter');
    await chat.shows(/Hello from Claude\./);
    const tui = await open('tui', { home, columns: 120 });
    await tui.shows(/● live/);
    await tui.text('1');
    await tui.shows(/❯ .*relay\/claude-sonnet-4-5/);
    const call = await fetch(`${url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'relay/claude-sonnet-4-5',
        max_tokens: 64,
        stream: true,
        messages: [{ role: 'user', content: 'Hello.' }],
      }),
    });
    expect(await call.text()).toContain('message_stop');
    await tui.shows(/relay\/claude-sonnet-4-5[^\n]*\n[^\n]*relay\/claude-sonnet-4-5/);
    await tui.keys('Enter');
    await tui.shows(/\/v1\/(messages|responses)/);
  });

  test('chat --continue resumes the last conversation, with its model, prompts and files', async () => {
    await writeFile(join(daemon.home, 'list.md'), '- **milk**\n');
    const first = await open('chat --model sim/echo');
    await first.shows(/\/help shows/);
    await first.text(`Buy this: @${join(daemon.home, 'list.md')}`);
    await first.keys('Enter');
    await first.shows(/Attached list\.md \(11 B\)\./);
    // Markdown is rendered.
    await first.shows(/^• milk$/m);
    await first.keys('C-d');
    await first.shows(/To continue: gateway chat --continue/);
    const second = await open('chat --continue');
    await second.shows(/^› Buy this: .*^• milk$.*sim\/echo; \/help shows/ms);
    await second.keys('Up');
    await second.shows(/^› Buy this: .*(?=\s*Enter send)/m);
    await second.keys('C-u');
    await second.text('And bread');
    await second.keys('Enter');
    await second.shows(/^And bread$/m);
    const { data } = (await (await daemon.fetch('/v1/stored-responses?limit=2')).json()) as {
      data: { id: string }[];
    };
    const [last, before] = data;
    const stored = await (await daemon.fetch(`/v1/responses/${last?.id}`)).json();
    expect(stored).toMatchObject({ previous_response_id: before?.id, model: 'sim/echo' });
  });

  test('a second Ctrl-C leaves the chat while an answer is being stopped', async () => {
    const tmux = await open('chat --model sim/slow');
    await tmux.shows(/\/help shows/);
    await tmux.text('Write 2000 words');
    await tmux.keys('Enter');
    await tmux.shows(/⋯ sim\/slow via simulator/);
    await tmux.keys('C-c', 'C-c');
    await tmux.shows(/ended with 0/);
  });

  test('chat reports an interrupted answer, and continues after a restart of the daemon', async () => {
    const tmux = await open('chat --model sim/broken');
    await tmux.shows(/\/help shows/);
    await tmux.text('Good morning');
    await tmux.keys('Enter');
    await tmux.shows(/! .*ended its answer early.*Incomplete\. /s);
    const { home } = daemon;
    await daemon.stop({ keep: true });
    daemon = await startDaemon({ home });
    await tmux.shows(/^› Good morning$(?=.*Enter send)/ms);
    await tmux.keys('C-u');
    await tmux.shows(/^›$(?=\s*Enter send)/m);
    await tmux.text('/model sim/echo');
    await tmux.shows(/^› \/model sim\/echo$/m);
    await tmux.keys('Enter');
    await tmux.shows(/Switched to sim\/echo/);
    await tmux.text('Here again');
    await tmux.keys('Enter');
    await tmux.shows(/^Here again$/m);
  });
});
