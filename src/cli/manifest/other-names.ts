import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { inWords } from '../../shared/text/in-words.ts';
import { isNoun, type NounEntry } from './entry.ts';
import type { CommandLine } from './locate.ts';
import { manifest, nameOf } from './manifest.ts';

/** The tools of `gateway run`. */
const tools = ['claude', 'codex', 'opencode', 'aider', 'qwen'];

/** What commands are called elsewhere, or by what they do, and the command lines to use instead. */
export const commandNames: Record<string, string> = {
  version: 'gateway --version; for the version of the daemon, use gateway status',
  ...sameFor('list ls commands man manual docs documentation', 'gateway --help'),
  ...sameFor('start up server proxy daemon init setup onboard onboarding quickstart', 'gateway serve'),
  ...sameFor('down kill shutdown quit', 'gateway stop'),
  restart: 'gateway stop, then gateway serve',
  ...sameFor('ps health ping info', 'gateway status'),
  ...sameFor('check test verify validate diagnose debug troubleshoot', 'gateway doctor'),
  install: 'gateway service install',
  ...sameFor('settings configure env', 'gateway config'),
  ...sameFor('alias aliases', 'gateway config get aliases'),
  ...sameFor('fallback fallbacks', 'gateway config get fallbacks'),
  ...sameFor('db database migrate migrations', 'gateway storage'),
  ...sameFor('dump snapshot', 'gateway backup'),
  recover: 'gateway restore',
  export: 'gateway calls export; for all data, use gateway backup',
  import: 'gateway config import; for all data, use gateway restore',
  ...sameFor('sim simulate simulator mock', 'gateway serve --simulate'),
  record: 'gateway serve --record',
  replay: 'gateway serve --replay; for one call, use gateway calls replay',
  ...sameFor('ui web dashboard browser', 'gateway open; in the terminal, use gateway tui'),
  top: 'gateway tui',
  ...sameFor('ask prompt query generate complete completions', 'gateway respond'),
  ...sameFor('image images picture pictures', 'gateway respond'),
  ...sameFor('batch background', 'gateway respond --background'),
  ...sameFor('playground repl shell console talk', 'gateway chat; in the browser, use gateway open'),
  ...sameFor('eval evals evaluate', 'gateway decide eval'),
  ...sameFor('embedding embeddings', 'gateway embed'),
  ...sameFor('watch follow listen monitor live event events', 'gateway tail'),
  ...sameFor('call request requests history activity audit span spans', 'gateway calls'),
  ...sameFor('error errors failures', 'gateway calls --status failed'),
  ...sameFor(
    'spend spending cost costs billing stats statistics analytics metrics report reports',
    'gateway usage',
  ),
  ...sameFor('customer customers', 'gateway usage --group-by user'),
  ...sameFor('tag tags', 'gateway usage --group-by tag'),
  ...sameFor('price prices pricing', 'gateway models'),
  ...sameFor('upstream upstreams backend backends', 'gateway providers'),
  pull: 'gateway engine add',
  ...sameFor('api-key api-keys apikey apikeys virtual-key virtual-keys', 'gateway keys'),
  ...sameFor('limit limits quota quotas rate-limit rate-limits', 'gateway keys limits or gateway budgets'),
  ...sameFor('secret secrets credential credentials', 'gateway provider-keys'),
  ...sameFor('webhook webhooks', 'gateway alerts'),
  ...sameFor('code exec wrap', 'gateway run'),
  ...Object.fromEntries(tools.map((tool) => [tool, `gateway run ${tool}`])),
  'claude-code': 'gateway run claude',
  ...sameFor('auth signin', 'gateway login'),
  ...sameFor('signout', 'gateway logout'),
  ...sameFor('me account', 'gateway whoami'),
  ...sameFor('context contexts', 'gateway host'),
  ...sameFor('use switch', 'gateway host use'),
  ...sameFor('team teams org orgs organization organizations project projects', 'gateway workspaces'),
  ...sameFor('member members', 'gateway workspaces members'),
  invite: 'gateway workspaces invite; for an account on the host, use gateway users add',
  ...sameFor('conversation conversations', 'gateway threads'),
  balance: 'gateway wallet balance or gateway credit',
  ...sameFor('send withdraw', 'gateway pay'),
  ...sameFor('receive deposit', 'gateway invoice create'),
  ...sameFor('transaction transactions', 'gateway payments'),
  faucet: 'gateway wallet faucet',
  ...sameFor('ln lightning', 'gateway wallet'),
  ...sameFor('l402 x402 402', 'gateway paywalls; to pay, use gateway fetch'),
  ...sameFor('curl wget', 'gateway fetch'),
  ...sameFor('topup top-up', 'gateway credit buy'),
  ...sameFor('dm dms message messages', 'gateway whispers'),

  'daemon start': 'gateway serve',
  'daemon stop': 'gateway stop',
  'daemon restart': 'gateway stop, then gateway serve',
  'daemon status': 'gateway status',
  'daemon logs': 'gateway logs',
  ...sameFor(['keys rotate', 'keys roll', 'keys regenerate'], 'gateway keys issue, then gateway keys revoke'),
  ...sameFor(['keys usage', 'keys spend'], 'gateway keys show'),
  ...sameFor(['config validate', 'config check', 'config test'], 'gateway doctor'),
  'config reset': 'gateway config unset',
  'cache reset': 'gateway cache clear',
  ...sameFor(['calls tail', 'calls follow', 'calls watch', 'calls stream'], 'gateway tail'),
  ...sameFor(['calls delete', 'calls clear', 'calls purge'], 'gateway capture clear'),
  ...sameFor(['models search', 'models find', 'models filter'], 'gateway models list --match'),
  'models pull': 'gateway engine add',
  ...sameFor(['providers add', 'providers set', 'providers create'], 'gateway provider-keys set'),
  ...sameFor(['providers list', 'providers ls'], 'gateway providers health'),
  ...sameFor(['providers test', 'providers check'], 'gateway provider-keys check'),
  ...sameFor(['providers reset', 'providers unbench', 'providers clear'], 'gateway providers retry'),
  ...sameFor(
    ['capture enable', 'capture disable', 'capture start', 'capture stop', 'capture on', 'capture off'],
    'gateway capture set',
  ),
  'usage export': 'gateway usage --csv',
  ...sameFor(['wallet pay', 'wallet send', 'wallet withdraw', 'invoice pay'], 'gateway pay'),
  ...sameFor(
    ['wallet invoice', 'wallet receive', 'wallet deposit', 'wallet address'],
    'gateway invoice create',
  ),
  'wallet invoices': 'gateway invoice list',
  ...sameFor(
    ['wallet payments', 'wallet history', 'wallet transactions', 'wallet list'],
    'gateway payments list',
  ),
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
  { said: ['list', 'ls', 'all'], have: ['list', 'show', 'get', 'status', 'health'] },
  {
    said: ['show', 'get', 'view', 'describe', 'info', 'inspect', 'status', 'stats'],
    have: ['show', 'get', 'status', 'balance', 'list', 'health'],
  },
  {
    said: [
      'delete',
      'remove',
      'rm',
      'revoke',
      'clear',
      'purge',
      'flush',
      'disable',
      'block',
      'uninstall',
      'archive',
    ],
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

/**
 * The command line to use in place of one that names no command, if it is known under another name. A command without
 * verbs, such as `key`, may stand for the noun with this verb: `keys`.
 */
export function underOtherName({ words, rest: [verb] }: CommandLine): string | undefined {
  const [name = '', known] = words;
  if (known !== undefined) return undefined;
  const noun = nounNamed(name);
  const withVerb =
    verb === undefined ? undefined : (ownName(`${name} ${verb}`) ?? (noun && withVerbOf(noun, verb)));
  if (withVerb !== undefined || Object.hasOwn(manifest, name)) return withVerb;
  return ownName(name) ?? (noun === undefined ? undefined : `gateway ${noun}`);
}

function ownName(name: string): string | undefined {
  return Object.hasOwn(commandNames, name) ? commandNames[name] : undefined;
}

/** The noun that has this name, or is known under it, or in the other number: `keys` for `key` and `api-keys`. */
function nounNamed(name: string): string | undefined {
  const other = /^gateway ([a-z-]+)$/.exec(ownName(name) ?? '')?.[1];
  return [name, other, `${name}s`, name.replace(/s$/, '')]
    .map((each) => each && nameOf(each))
    .find((each) => each !== undefined && verbsOf(each) !== undefined);
}

function verbsOf(noun: string): NounEntry['verbs'] | undefined {
  const entry = Object.hasOwn(manifest, noun) ? manifest[noun] : undefined;
  return entry && isNoun(entry) ? entry.verbs : undefined;
}

function withVerbOf(noun: string, said: string): string | undefined {
  const have = verbsOf(noun) ?? {};
  if (Object.hasOwn(have, said)) return `gateway ${noun} ${said}`;
  const found = verbs.flatMap((same) =>
    same.said.includes(said) ? (same.have.find((each) => Object.hasOwn(have, each)) ?? []) : [],
  );
  const lines = [...new Set(found)].map((each) => `gateway ${noun} ${each}`);
  return ownName(`${noun} ${said}`) ?? (lines.length > 0 ? inWords(lines) : undefined);
}

/** Options of other tools, with those that mean the same: those that a command has are suggested. */
export const optionNames: Record<string, readonly string[]> = {
  ...sameOption('-o --output --format', '--json --csv'),
  '-v': ['--version'],
  ...sameOption('--by --group -g', '--group-by'),
  ...sameOption('--failed --errors --error --state', '--status'),
  ...sameOption('-s --system --system-prompt', '--instructions'),
  ...sameOption('--max-tokens --max-completion-tokens', '--max-output-tokens'),
  ...sameOption('--schema --response-format', '--json-schema'),
  ...sameOption('-a --attach --attachment --image --file', '--file --input'),
  ...sameOption('--reasoning --effort --thinking', '--reasoning-effort'),
  '-p': ['--port'],
  ...sameOption('-n --count --max --head', '--limit --lines'),
  ...sameOption('--last --from --start --today --days --week --month', '--since --after'),
  ...sameOption('--to --end', '--until --before'),
  ...sameOption('--tail', '--lines --limit'),
  ...sameOption('-f --force --assume-yes --no-confirm', '--yes'),
  ...sameOption('--server --remote --endpoint --base-url', '--host'),
  ...sameOption('--budget --limit --max-budget', '--spend-cap'),
  ...sameOption('--ttl --expiry --expires-in --expires-at --duration', '--expires'),
  ...sameOption('--rps --rate-limit --rpm-limit --requests-per-minute', '--rpm --rate'),
  ...sameOption('--alias --key-alias --label --title', '--name'),
  ...sameOption('--memo --message --comment', '--description'),
  ...sameOption('--filter --search --grep --query', '--match'),
  ...sameOption('--temp -t', '--temperature'),
  '--no-cache': ['--cache'],
  ...sameOption('-c --continue --resume', '--previous'),
  ...sameOption('--api-key --key', '--from-env --key-stdin'),
  ...sameOption('--no-browser --no-open --url', '--print'),
  ...sameOption('--verbose --debug', '--log-level'),
  '--amount': ['--sats'],
  ...sameOption('--scopes --permission --permissions', '--scope'),
  ...sameOption('--data-dir --dir --home', '--data'),
};

function sameOption(names: string, have: string): Record<string, readonly string[]> {
  return Object.fromEntries(names.split(' ').map((name) => [name, have.split(' ')]));
}

/** The options of a command that are known as another, without its value. */
export function optionsUnderOtherName(option: string, command: CommandUnknownOpts): string[] {
  const meant = (Object.hasOwn(optionNames, option) ? optionNames[option] : undefined) ?? [];
  return meant.filter((name) => command.options.some(({ long }) => long === name));
}
