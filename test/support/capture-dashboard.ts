import { randomInt } from 'node:crypto';
import type { Page } from 'playwright-core';
import { launchBrowser } from './browser.ts';
import { startFakeOpenAi } from './fake-openai.ts';
import { startDaemon } from './start-daemon.ts';
import { openScreen } from './web-screens.ts';

/**
 * Writes the pictures of the dashboard, docs/images/dashboard-*.png: a real daemon with a fake provider, and two days of
 * traffic that are made within minutes. Run it after `npm run build` with `node test/support/capture-dashboard.ts`; it needs Chromium.
 */
const quarterMs = 15 * 60_000;
const dayMs = 24 * 60 * 60_000;
/** The pictures show the last day, compared with the one before. */
const days = 2;

const { now } = Date;
/** How far the clock of the daemon is behind. */
let behindMs = days * dayMs;
Date.now = () => now() - behindMs;

const provider = await startFakeOpenAi();
provider.always(({ body }) => {
  const input = JSON.stringify(body).length;
  const isSlow = randomInt(12) === 0;
  return randomInt(40) === 0
    ? { error: { status: 429, message: 'Rate limit reached for requests.', code: 'rate_limit_exceeded' } }
    : {
        text: 'Start with the outcome: what a reader can do afterwards that they could not do before. Then name the first step.',
        dripMs: isSlow ? 12 : 1,
        usage: { input: Math.round(input / 3), cached: Math.round(input / 5), output: 80 + randomInt(700) },
      };
});
const daemon = await startDaemon({
  config: `providers:
  openai: { base_url: "${provider.baseUrl}" }
  openrouter: { base_url: "${provider.baseUrl}" }
fallbacks: { openai/gpt-5: [openrouter/openai/gpt-5] }
`,
  env: {
    OPENAI_API_KEY: 'sk-example-0123456789abcdef',
    OPENROUTER_API_KEY: 'sk-or-example-0123456789abcdef',
  },
});
const asOwner = { authorization: `Bearer ${daemon.login}` };
const apps = await Promise.all(
  [
    { name: 'agent', client: 'claude-cli/2.1.330', models: ['gpt-5', 'gpt-5', 'gpt-5-mini'], weight: 6 },
    { name: 'support-bot', client: 'OpenAI/Python 2.8.1', models: ['gpt-5-mini', 'gpt-4.1'], weight: 3 },
    {
      name: 'ci',
      client: 'codex_cli_rs/0.169.0',
      models: ['gpt-4.1', 'openrouter/qwen/qwen3-coder'],
      weight: 2,
    },
    { name: 'notebook', client: 'curl/8.5.0', models: ['gpt-5-mini'], weight: 1 },
  ].map(async (app) => {
    const issued = await daemon.fetch('/v1/workspaces/me/keys', {
      json: { name: app.name, limits: { spend_cap: { usd: '25', period: 'month' } } },
      headers: asOwner,
    });
    return { ...app, secret: ((await issued.json()) as { secret: string }).secret };
  }),
);
const wheel = apps.flatMap((app) => Array.from({ length: app.weight }, () => app));
const pick = <T>(values: readonly T[]) => values[randomInt(values.length)] as T;

const tools = ['read_file', 'edit_file', 'run_tests', 'search'].map((name) => ({
  type: 'function',
  function: {
    name,
    description: `Use ${name} when the task needs it; say first why. `.repeat(6),
    parameters: { type: 'object', properties: { path: { type: 'string' }, text: { type: 'string' } } },
  },
}));
const question = { role: 'user', content: 'How do I structure the README of a small library?' };
const answer = { role: 'assistant', content: 'With the outcome first. Shall I draft it?' };

async function ask(turns: number): Promise<void> {
  const { secret, client, models } = pick(wheel);
  const json = {
    model: randomInt(60) === 0 ? 'gpt-nosuch' : pick(models),
    stream: true,
    messages: [
      { role: 'system', content: 'You are a careful technical writer. Answer briefly. '.repeat(20) },
      ...Array.from({ length: turns }, () => [question, answer]).flat(),
      { role: 'user', content: 'Yes, please. Keep it under a page.' },
    ],
    tools,
    user: pick(['ada', 'grace', 'linus']),
  };
  const headers = { authorization: `Bearer ${secret}`, 'user-agent': client };
  const response = await daemon.fetch('/v1/chat/completions', { json, headers });
  await response.text();
}

for (let at = 0; at * quarterMs < days * dayMs; at += 1) {
  // Few at night, most in the afternoon.
  const calls = Math.round(3 + 12 * Math.max(0, Math.sin(((at - 16) / 96) * 2 * Math.PI)) + randomInt(4));
  await Promise.all(Array.from({ length: calls }, () => ask(1 + randomInt(6))));
  behindMs = Math.max(0, behindMs - quarterMs);
}
behindMs = 0;

const browser = await launchBrowser();

/** A call whose content is kept: that of many in a short time may have been dropped. */
async function keptCall(): Promise<string> {
  for (;;) {
    await ask(3);
    const listed = await daemon.fetch('/v1/traces?limit=1&status=completed', { headers: asOwner });
    const { data } = (await listed.json()) as { data: { request_id: string }[] };
    const id = data[0]?.request_id ?? '';
    const content = await daemon.fetch(`/v1/traces/${id}/content?part=composition`, { headers: asOwner });
    await content.text();
    if (content.ok) return id;
  }
}

async function capture(
  name: string,
  address: string,
  until: (page: Page) => Promise<unknown>,
): Promise<void> {
  const { page } = await openScreen(daemon, { browser });
  await page.goto(`${daemon.url}/#${address}`);
  await until(page);
  // What a chart or a list loads comes after its frame.
  await page.waitForLoadState('networkidle').catch(() => {});
  await page.screenshot({ path: `docs/images/dashboard-${name}.png` });
  await page.context().close();
}

try {
  await capture('overview', '/overview', (page) => page.locator('canvas').first().waitFor());
  await capture('usage', '/usage?range=24h', (page) => page.locator('canvas').first().waitFor());
  await capture('call', `/calls/${await keptCall()}`, (page) =>
    page.getByText('Start with the outcome').first().waitFor(),
  );
} finally {
  await browser.close();
  await daemon.stop();
  await provider.close();
}
