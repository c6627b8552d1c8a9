import { Command, Option } from '@commander-js/extra-typings';
import type { LimitsChange } from '../../../shared/contract/key-limits.ts';
import { getModel, listTraces } from '../../../shared/endpoints.ts';
import { exitCodes } from '../../../shared/errors.ts';
import { ReceivedError } from '../../../shared/faults/received-error.ts';
import { inWords } from '../../../shared/text/in-words.ts';
import { trimEnd } from '../../../shared/text/trim-text.ts';
import { dollars } from '../../../view/money.ts';
import { count } from '../../../view/numbers.ts';
import type { Context } from '../../context.ts';
import { CliError, usageError } from '../../failures/cli-error.ts';
import { collectPages } from '../../hosts/pages.ts';
import { example } from '../../options.ts';
import type { Column } from '../../output/table.ts';
import { spendCap } from '../keys/limits.ts';
import { modelOf } from '../respond/choose-model.ts';
import { sumUsage } from '../usage.ts';
import { issueRunKey, type RunKey, revokeRunKey } from './run-key.ts';
import { type Shell, shells, shellText, usualShell } from './shell-text.ts';
import { findProgram, startTool } from './start-tool.ts';
import { toolEnvironment } from './tool-environment.ts';
import { adviceFor, type Tool, type ToolSettings, tools } from './tools.ts';

interface RunFlags {
  model?: string | undefined;
  spendCap?: LimitsChange['spend_cap'];
  env?: string | undefined;
  subscription?: true | undefined;
  print?: true | undefined;
  shell?: Shell | undefined;
  list?: true | undefined;
}

const dayMs = 24 * 60 * 60 * 1000;
/** A key is revoked when its tool ends, and expires if that was not possible. */
const runDays = 7;
/** A printed key is never revoked by itself. */
const printedDays = 30;

export const runCommand = (context: Context) =>
  new Command('run')
    .argument('[tool]', `the tool to start: ${tools.map(({ command }) => command).join(', ')}`)
    .argument('[args...]', 'its own arguments; put -- before the first option')
    .option('-m, --model <model>', "the model (default: GATEWAY_MODEL, then the daemon's default)")
    .addOption(
      new Option('--spend-cap <usd/period>', 'spending limit of this run: 5/day, 100/total').argParser(
        spendCap,
      ),
    )
    .option('--env <names>', 'API keys of your environment that the tool gets, too: BRAVE_API_KEY,OTHER')
    .option(
      '--subscription',
      "keep the tool's own login: your plan pays, and calls are seen and limited here",
    )
    .option('--print', `print shell statements with a key for ${printedDays} days, and start nothing`)
    .addOption(new Option('--shell <shell>', 'the syntax of --print (default: from SHELL)').choices(shells))
    .option('--list', 'list the tools and where they are installed')
    .addHelpText('after', example('gateway run codex -m gpt-5-mini --spend-cap 5/day -- --search'))
    .action((name, args, flags) => {
      if (flags.list) return listTools(context);
      const tool = toolNamed(name);
      return flags.print ? printSettings(context, tool, flags) : runTool(context, tool, args, flags);
    });

function toolNamed(name: string | undefined): Tool {
  const tool = tools.find(({ command }) => command === name);
  if (tool) return tool;
  throw new CliError(name === undefined ? 'No tool was named.' : `${name} cannot be started.`, {
    exit: exitCodes.usage,
    next: adviceFor(name ?? ''),
  });
}

/** Starts a tool with a key of its own, and reports what it cost. The exit code is the tool's. */
async function runTool(context: Context, tool: Tool, args: string[], flags: RunFlags): Promise<void> {
  const { command, title, install } = tool;
  const path = findProgram(command, context.env);
  if (path === undefined) {
    throw new CliError(`${title} is not installed: there is no ${command} on the PATH.`, {
      exit: exitCodes.failed,
      next: `Install it: ${install}`,
    });
  }
  const startedAt = context.now();
  const { key, settings } = await prepare(context, tool, { ...flags, days: runDays });
  try {
    const own = flags.subscription ? ['CLAUDE_CODE_OAUTH_TOKEN'] : [];
    const passed = [...(flags.env?.split(',') ?? []), ...own];
    const { env, withheld } = toolEnvironment(context.env, { settings, passed });
    if (withheld.length > 0) {
      context.out.note(`${command} does not get ${withheld.join(', ')}. To pass one on: --env NAME`);
    }
    context.exit = await startTool(path, settings, { env, args });
  } finally {
    // Revoked first: this ends calls that are still running, whose cost counts, too.
    await revokeRunKey(context, key);
    await reportCalls(context, tool, { key, startedAt });
  }
}

async function printSettings(context: Context, tool: Tool, flags: RunFlags): Promise<void> {
  const { key, settings } = await prepare(context, tool, { ...flags, days: printedDays });
  if (context.out.wantsJson()) await context.out.document(settings);
  else context.out.text(shellText(tool.command, settings, flags.shell ?? usualShell(context.env)));
  if (key.id !== undefined)
    context.out.note(`The key expires in ${printedDays} days. To end it now: gateway keys revoke ${key.id}`);
}

/** Checks the model, issues the key, and returns what to start the tool with. */
async function prepare(
  context: Context,
  tool: Tool,
  { model: named, spendCap, days, subscription }: RunFlags & { days: number },
): Promise<{ key: RunKey; settings: ToolSettings }> {
  const url = addressOf(context);
  if (subscription) {
    if (tool.subscription === undefined) throw noSubscription(tool);
    const key = await issueRunKey(context, { name: tool.command, spendCap, expiresInMs: days * dayMs });
    return { key, settings: tool.subscription({ url, key: key.secret, model: named }) };
  }
  const model = await modelOf(context, { model: named });
  const { service } = await context.client().call(getModel, { params: { model } });
  if (service.capabilities.kind === 'embedding') {
    throw usageError(
      `${model} is an embedding model, and ${tool.title} needs a chat model.`,
      'To list them: gateway models',
    );
  }
  const key = await issueRunKey(context, {
    name: tool.command,
    spendCap,
    expiresInMs: days * dayMs,
  });
  const { context_length: contextLength, max_output_tokens: outputTokensMax } = service;
  const target = { url, key: key.secret, model, contextLength, outputTokensMax };
  return { key, settings: tool.settings(target) };
}

function noSubscription({ title }: Tool): CliError {
  const others = tools.filter(({ subscription }) => subscription !== undefined);
  return new CliError(`${title} has no login that can be passed on.`, {
    exit: exitCodes.usage,
    next: `--subscription works with ${inWords(
      others.map(({ command }) => command),
      'and',
    )}`,
  });
}

/** The address for programs that know no Unix sockets. */
function addressOf(context: Context): string {
  const { url } = context.host();
  if (/^https?:/.test(url)) return trimEnd(url, '/');
  throw usageError(
    'Tools cannot connect to a Unix socket.',
    'Give the address with its port: --host 127.0.0.1:4100',
  );
}

/**
 * Reports on stderr what the calls since the start cost, and which were rejected. Does not throw, since the tool's own result
 * matters more.
 */
async function reportCalls(
  context: Context,
  { command }: Tool,
  { key, startedAt }: { key: RunKey; startedAt: number },
): Promise<void> {
  try {
    const since = new Date(startedAt).toISOString();
    const filter = key.id === undefined ? {} : { key: key.id };
    const { total, data } = await sumUsage(context.client(), { ...filter, since, group_by: 'model' });
    const rejections = await rejectionsOf(context, { ...filter, since });
    if (total.requests === 0 && rejections.length === 0)
      return context.out.note(`${command} made no model calls.`);
    for (const line of rejections) context.out.note(`${command}: ${line}`);
    if (total.requests === 0) return;
    const requests = requestCount(total.requests);
    const tokens = count(total.tokens.input + total.tokens.output);
    const models = data.flatMap(({ group, requests: calls }) => (calls > 0 ? [group] : [])).join(', ');
    const unpriced = total.unpriced_requests > 0 ? `, ${count(total.unpriced_requests)} without a price` : '';
    context.out.note(
      `${command}: ${requests}${unpriced}, ${tokens} tokens, ${dollars(total.cost.total_usd)} (${models})`,
    );
  } catch {
    context.out.note(`The cost is not available now: gateway usage --group-by key`);
  }
}

/** A flood of rejections is summed up once a minute: the last of so many similar ones may not be counted yet. */
const floodMin = 10;
const rejectionsMax = 1000;

/** A line for each reason for which calls were rejected, and how many; none where the key may not read traces. */
async function rejectionsOf(context: Context, filter: { key?: string; since: string }): Promise<string[]> {
  const query = { ...filter, status: 'rejected' } as const;
  const client = context.client();
  const traces = await collectPages(rejectionsMax, (page) =>
    client.call(listTraces, { query: { ...query, ...page } }),
  ).catch((error: unknown) => {
    if (error instanceof ReceivedError && error.code === 'out_of_scope') return [];
    throw error;
  });
  const kinds = Map.groupBy(traces, ({ error_code, rejection }) => `${error_code} ${rejection?.param}`);
  return [...kinds.values()].map((kind) => {
    const number = kind.reduce((sum, { rejection }) => sum + 1 + (rejection?.more ?? 0), 0);
    const atLeast = number >= floodMin ? 'at least ' : '';
    return `${atLeast}${requestCount(number)} rejected (${kind[0]?.error_code}): ${kind[0]?.rejection?.message}`;
  });
}

function requestCount(number: number): string {
  return number === 1 ? '1 call' : `${count(number)} calls`;
}

async function listTools(context: Context): Promise<void> {
  const rows = tools.map((tool) => ({ ...tool, path: findProgram(tool.command, context.env) ?? null }));
  await context.out.table(rows, toolColumns, { empty: '' });
}

const toolColumns: Column<Pick<Tool, 'command' | 'title' | 'install'> & { path: string | null }>[] = [
  { title: 'command', value: ({ command }) => command },
  { title: 'title', value: ({ title }) => title },
  {
    title: 'path',
    value: ({ path }) => path,
    show: ({ path }) => path ?? 'not installed',
    style: ({ path }) => (path === null ? 'dim' : 'green'),
  },
  { title: 'install', value: ({ install }) => install, isSpare: true },
];
