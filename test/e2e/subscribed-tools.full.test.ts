import { mkdtempSync, writeFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { codingToolSkipReason, hasCodingTool, runCodingTool } from '../support/coding-tools.ts';
import { type FakeAnthropic, startFakeAnthropic } from '../support/fake-anthropic.ts';
import { type FakeOpenAi, startFakeOpenAi } from '../support/fake-openai.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

/** Coding agents with logins of their own, as `gateway run --subscription` starts them. */

const claudeToken = 'sk-ant-oat01-LOGINCANARY-0123456789abcdef';
const part = (json: object) => Buffer.from(JSON.stringify(json)).toString('base64url');
const account = 'acct_0123456789';
const jwt = (more: object) =>
  [
    part({ alg: 'none' }),
    part({
      exp: 4_000_000_000,
      'https://api.openai.com/auth': { chatgpt_account_id: account, chatgpt_plan_type: 'pro' },
      ...more,
    }),
    part({}),
  ].join('.');
const chatGptToken = jwt({ sub: 'user' });

let folder: string;
let anthropic: FakeAnthropic;
let openAi: FakeOpenAi;
let daemon: RunningDaemon;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-subscribed-'));
  anthropic = await startFakeAnthropic({ keys: [], logins: [claudeToken] });
  openAi = await startFakeOpenAi({ keys: [chatGptToken] });
  daemon = await startDaemon({
    config: `local_servers: false
providers:
  anthropic: {base_url: "${anthropic.baseUrl}"}
  openai: {base_url: "http://127.0.0.1:9/v1", login_url: "${openAi.baseUrl}"}
`,
  });
});

afterAll(async () => {
  await daemon?.stop();
  await Promise.all([anthropic?.close(), openAi?.close()]);
  await rm(folder, { recursive: true, force: true });
});

async function lastTrace(): Promise<Record<string, unknown>> {
  const headers = { authorization: `Bearer ${daemon.login}` };
  const answer = await daemon.fetch('/v1/traces?limit=1&status=completed', { headers });
  return ((await answer.json()) as { data: Record<string, unknown>[] }).data[0] ?? {};
}

const place = () => ({ folder, home: folder, daemon, contextLength: 128_000, isSubscribed: true });

test.runIf(hasCodingTool('claude'))(
  `Claude Code asks with the token of its plan${codingToolSkipReason('claude')}`,
  async () => {
    // A file of its settings may name another place.
    await mkdir(join(folder, '.claude'));
    const env = { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9', ANTHROPIC_AUTH_TOKEN: 'of-another-place' };
    await writeFile(join(folder, '.claude/settings.json'), JSON.stringify({ env }));
    const { code, stdout, stderr } = await runCodingTool({
      ...place(),
      name: 'claude',
      model: 'claude-sonnet-5',
      args: ['-p', 'Hello.'],
      env: { CLAUDE_CODE_OAUTH_TOKEN: claudeToken },
    });
    expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: 'Hello from Claude.\n' });
    expect(anthropic.requests.length).toBeGreaterThan(0);
    for (const { headers } of anthropic.requests) {
      expect(headers.authorization).toBe(`Bearer ${claudeToken}`);
      expect(headers['anthropic-beta']).toContain('oauth-');
    }
    expect(await lastTrace()).toMatchObject({ billing: 'subscription', own_key: true, charged_usd: '0' });
  },
);

test.runIf(hasCodingTool('codex'))(
  `Codex asks with the token of its login${codingToolSkipReason('codex')}`,
  async () => {
    const auth = {
      OPENAI_API_KEY: null,
      tokens: {
        id_token: jwt({ email: 'user@example.com' }),
        access_token: chatGptToken,
        refresh_token: 'none',
        account_id: account,
      },
      last_refresh: new Date().toISOString(),
    };
    writeFileSync(join(folder, 'auth.json'), JSON.stringify(auth), { mode: 0o600 });
    const { code, stdout, stderr } = await runCodingTool({
      ...place(),
      name: 'codex',
      model: 'gpt-5',
      args: ['exec', '--skip-git-repo-check', 'Hello.'],
    });
    expect(code, stdout + stderr).toBe(0);
    expect(openAi.requests.length).toBeGreaterThan(0);
    for (const { headers } of openAi.requests) {
      expect(headers.authorization).toBe(`Bearer ${chatGptToken}`);
      expect(headers['chatgpt-account-id']).toBe(account);
    }
    expect(await lastTrace()).toMatchObject({ billing: 'subscription', own_key: true, charged_usd: '0' });
  },
);
