import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { tools } from '../../src/cli/commands/run/tools.ts';

/** Where CI installs them: `npm install --prefix .coding-tools`. */
const installed = join(import.meta.dirname, '../../.coding-tools/node_modules/.bin');

export type CodingTool = 'claude' | 'codex';

const programOf = (name: CodingTool) => join(installed, name);

/** Whether tests can run a tool. Without it, they are skipped and say why. */
export const hasCodingTool = (name: CodingTool): boolean => existsSync(programOf(name));

export function codingToolSkipReason(name: CodingTool): string {
  return hasCodingTool(name) ? '' : ` (skipped: ${name} is not installed; .ci/run installs it)`;
}

/** No updates, no telemetry, and what would leave the machine all the same ends at a closed port. */
const offline = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
  DISABLE_TELEMETRY: '1',
  DISABLE_ERROR_REPORTING: '1',
  HTTP_PROXY: 'http://127.0.0.1:9',
  HTTPS_PROXY: 'http://127.0.0.1:9',
  NO_PROXY: '127.0.0.1',
};

export interface ToolRun {
  name: CodingTool;
  /** The folder that it works in, and its home folder. */
  folder: string;
  home: string;
  daemon: { url: string; key: string };
  model: string;
  contextLength: number;
  args: readonly string[];
  /** Settings of the tool that a user has. */
  env?: Readonly<Record<string, string>>;
  /** Whether it keeps its own login. */
  isSubscribed?: boolean;
}

/** Runs a tool with the settings of `gateway run`. Resolves when it has ended. */
export function runCodingTool(run: ToolRun) {
  const { name, folder, home, daemon, model, contextLength, args, env: own, isSubscribed } = run;
  const tool = tools.find(({ command }) => command === name);
  const settings = isSubscribed
    ? tool?.subscription?.({ ...daemon, model })
    : tool?.settings({ ...daemon, model, contextLength, outputTokensMax: null });
  const env = { PATH: process.env.PATH, HOME: home, CODEX_HOME: home, ...offline, ...own, ...settings?.env };
  const child = spawn(programOf(name), [...(settings?.args ?? []), ...args], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const texts = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream].on('data', (bytes) => {
      texts[stream] += bytes;
    });
  return new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, ...texts }));
  });
}
