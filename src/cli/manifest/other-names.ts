import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { isNoun } from './entry.ts';
import type { CommandLine } from './locate.ts';
import { manifest } from './manifest.ts';

/** What commands are called elsewhere, or by what they do, and the command lines to use instead. */
export const commandNames: Record<string, string> = {
  version: 'gateway --version; for the version of the daemon, use gateway status',
  ...sameFor('start up server proxy init setup', 'gateway serve'),
  ...sameFor('down kill shutdown quit', 'gateway stop'),
  restart: 'gateway stop, then gateway serve',
  ...sameFor('ps health ping info', 'gateway status'),
  install: 'gateway service install',
  ...sameFor('settings configure', 'gateway config'),
  ...sameFor('ui web dashboard', 'gateway open; in the terminal, use gateway tui'),
  top: 'gateway tui',
  ...sameFor('ask prompt query generate complete completions', 'gateway respond'),
  ...sameFor('embedding embeddings', 'gateway embed'),
  ...sameFor('watch follow listen', 'gateway tail'),
  ...sameFor('calls request requests history activity', 'gateway traces'),
  ...sameFor('spend spending cost costs billing', 'gateway usage'),
  ...sameFor('price prices pricing', 'gateway models'),
  ...sameFor('upstream upstreams backend backends', 'gateway providers'),
  pull: 'gateway engine add',
  ...sameFor('limit limits quota quotas', 'gateway keys limits or gateway budgets'),
  ...sameFor('secret secrets credentials', 'gateway provider-keys'),
  ...sameFor('claude codex opencode aider qwen', 'gateway run'),
  ...sameFor('auth signin', 'gateway login'),
  ...sameFor('signout', 'gateway logout'),
  me: 'gateway whoami',
  ...sameFor('team teams org orgs project projects', 'gateway workspaces'),
  balance: 'gateway wallet balance or gateway credit',
  ...sameFor('send withdraw', 'gateway pay'),
  ...sameFor('receive deposit', 'gateway invoice create'),
  ...sameFor('topup top-up', 'gateway credit buy'),
  ...sameFor('dm dms messages', 'gateway whispers'),

  'models pull': 'gateway engine add',
  ...sameFor(['wallet pay', 'wallet send', 'wallet withdraw'], 'gateway pay'),
  ...sameFor(['wallet invoice', 'wallet receive', 'wallet deposit'], 'gateway invoice create'),
  // Its `remove` is for members.
  ...sameFor(['workspaces delete', 'workspaces rm'], 'gateway workspaces leave'),
};

/** Verbs that mean the same: of `have`, the first that a command has is suggested for each of `said`. */
export const verbs: readonly { said: readonly string[]; have: readonly string[] }[] = [
  {
    said: ['create', 'new', 'add', 'issue', 'register', 'generate', 'invite', 'set'],
    have: ['create', 'add', 'issue', 'set', 'install', 'post', 'send', 'sign-up', 'buy'],
  },
  { said: ['set', 'edit', 'update', 'change', 'modify'], have: ['update', 'set', 'limits', 'refresh'] },
  { said: ['list', 'ls', 'all'], have: ['list', 'show', 'get', 'status'] },
  {
    said: ['show', 'get', 'view', 'describe', 'info', 'inspect', 'status'],
    have: ['show', 'get', 'status', 'balance', 'list'],
  },
  {
    said: ['delete', 'remove', 'rm', 'revoke', 'clear', 'purge', 'flush', 'disable', 'uninstall', 'archive'],
    have: ['delete', 'remove', 'revoke', 'clear', 'unset', 'uninstall', 'archive'],
  },
  { said: ['start', 'enable', 'run', 'launch'], have: ['run', 'resume', 'install'] },
  { said: ['stop', 'disable'], have: ['stop', 'cancel', 'pause'] },
  { said: ['switch', 'select'], have: ['use'] },
  { said: ['pull', 'download'], have: ['add', 'refresh'] },
  { said: ['sync', 'reload'], have: ['refresh'] },
  { said: ['move', 'migrate'], have: ['copy'] },
  { said: ['tail', 'follow', 'listen', 'stream'], have: ['watch'] },
];

function sameFor(names: string | readonly string[], use: string): Record<string, string> {
  return Object.fromEntries(
    (typeof names === 'string' ? names.split(' ') : names).map((name) => [name, use]),
  );
}

/** The command line to use in place of one that names no command, if it is known under another name. */
export function underOtherName({ words: [noun = ''], rest: [verb] }: CommandLine): string | undefined {
  const name = verb === undefined ? noun : `${noun} ${verb}`;
  if (Object.hasOwn(commandNames, name)) return commandNames[name];
  const entry = Object.hasOwn(manifest, noun) ? manifest[noun] : undefined;
  if (verb === undefined || !entry || !isNoun(entry)) return undefined;
  const found = verbs.flatMap(({ said, have }) =>
    said.includes(verb) ? (have.find((each) => Object.hasOwn(entry.verbs, each)) ?? []) : [],
  );
  if (found.length === 0) return undefined;
  return [...new Set(found)].map((each) => `gateway ${noun} ${each}`).join(' or ');
}

/** Options of other tools, with those that mean the same: the first that a command has is suggested. */
export const optionNames: Record<string, readonly string[]> = {
  ...sameOption('-o --output --format', '--json --csv'),
  '-v': ['--version'],
  ...sameOption('-s --system --system-prompt', '--instructions'),
  ...sameOption('--max-tokens --max-completion-tokens', '--max-output-tokens'),
  ...sameOption('--schema --response-format', '--json-schema'),
  ...sameOption('-a --attach --attachment --image --file', '--file --input'),
  ...sameOption('--reasoning --effort --thinking', '--reasoning-effort'),
  '-p': ['--port'],
  ...sameOption('-n --count --max --head', '--limit --lines'),
  ...sameOption('--last --from --start --today', '--since --after'),
  ...sameOption('--to --end', '--until --before'),
  ...sameOption('--tail', '--lines --limit'),
  ...sameOption('-f --force --assume-yes --no-confirm', '--yes'),
  ...sameOption('--server --remote --endpoint --base-url', '--host'),
  ...sameOption('--budget --limit --max-budget', '--spend-cap'),
  ...sameOption('--ttl --expiry --expires-in --expires-at', '--expires'),
  ...sameOption('--scopes --permission --permissions', '--scope'),
  ...sameOption('--data-dir --dir --home', '--data'),
};

function sameOption(names: string, have: string): Record<string, readonly string[]> {
  return Object.fromEntries(names.split(' ').map((name) => [name, have.split(' ')]));
}

/** The option of a command that is known as another, without its value; undefined if there is none. */
export function optionUnderOtherName(option: string, command: CommandUnknownOpts): string | undefined {
  const meant = Object.hasOwn(optionNames, option) ? optionNames[option] : undefined;
  return meant?.find((name) => command.options.some(({ long }) => long === name));
}
