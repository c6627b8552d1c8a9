import { writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { startFakeOpenAi } from './fake-openai.ts';
import { programs } from './programs.ts';
import { startDaemon } from './start-daemon.ts';
import { terminalSvg } from './terminal-svg.ts';
import { startTmux } from './tmux.ts';

/**
 * Writes the picture of the README, docs/images/tui.svg: a real daemon and TUI with fake providers and a few minutes of
 * traffic. Run it with `node test/support/capture-tui.ts`; it needs tmux.
 */
const columns = 120;
const rows = 24;
const seconds = 150;
const models = [
  ...['gpt-5', 'gpt-5-mini', 'gpt-5-mini', 'gpt-4.1', 'openrouter/deepseek/deepseek-chat'],
  ...['openrouter/qwen/qwen3-coder', 'sim/assistant', 'sim/flaky'],
];

const provider = await startFakeOpenAi();
provider.always(() => ({
  text: 'One idea per paragraph. '.repeat(2),
  dripMs: 20 + Math.floor(Math.random() * 60),
  usage: { input: 200 + Math.floor(Math.random() * 4000), output: 50 + Math.floor(Math.random() * 900) },
}));
const daemon = await startDaemon({
  config: `providers:
  openai: { base_url: "${provider.baseUrl}" }
  openrouter: { base_url: "${provider.baseUrl}" }
`,
  env: {
    OPENAI_API_KEY: 'sk-example-0123456789abcdef',
    OPENROUTER_API_KEY: 'sk-or-example-0123456789abcdef',
  },
});
const keys = await Promise.all(
  [
    ['my-app', '2'],
    ['ci', '0.5'],
    ['notebook', '5'],
  ].map(async ([name, usd]) => {
    const issued = await daemon.fetch('/v1/workspaces/me/keys', {
      json: { name, limits: { spend_cap: { usd, period: 'day' } } },
      headers: { authorization: `Bearer ${daemon.login}` },
    });
    return ((await issued.json()) as { secret: string }).secret;
  }),
);

const pick = <T>(values: readonly T[]) => values[Math.floor(Math.random() * values.length)] as T;
const ask = async () => {
  const json = { model: pick(models), input: 'How do I write a good README?', stream: true };
  const headers = { authorization: `Bearer ${pick(keys)}` };
  const response = await daemon.fetch('/v1/responses', { json, headers });
  await response.text();
};
const running: Promise<void>[] = [];
const endsAt = performance.now() + seconds * 1000;
const { cli } = await programs();
const tmux = await startTmux({
  columns,
  rows,
  env: { GATEWAY_HOME: daemon.home, NODE_OPTIONS: '--no-warnings', TZ: 'UTC' },
});
try {
  await tmux.shows(/^\$/m);
  await tmux.text(`clear; ${process.execPath} ${cli}`);
  await tmux.keys('Enter');
  await tmux.shows(/● live/);
  await tmux.text('1');
  while (performance.now() < endsAt) {
    running.push(ask());
    await delay(400 + Math.random() * 3600 * Math.abs(Math.sin(performance.now() / 20_000)));
  }
  for (let count = 0; count < 3; count += 1) running.push(ask());
  await delay(800);
  const screen = (await tmux.screen({ hasStyles: true })).replace(daemon.url, 'http://127.0.0.1:4100');
  const title = 'The gateway TUI: live requests with model, tokens, cost and time';
  await writeFile('docs/images/tui.svg', terminalSvg(screen, { columns, title }));
} finally {
  await tmux.end();
  await Promise.allSettled(running);
  await daemon.stop();
  await provider.close();
}
