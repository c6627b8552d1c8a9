import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { inWords } from '../../shared/text/in-words.ts';
import { isNoun, type NounEntry } from './entry.ts';
import type { CommandLine } from './locate.ts';
import { manifest, nameOf } from './manifest.ts';

/**
 * What users of gh, stripe, litellm, OpenRouter, llm and Ollama type, by the command line to use instead. A name also stands
 * for its plural.
 */
const commandLines: Record<string, string> = {
  'gateway --help': 'list',
  'gateway --version; for the version of the daemon, use gateway status': 'version',
  'gateway serve': 'start up daemon',
  'gateway stop': 'down',
  'gateway stop, then gateway serve': 'restart',
  'gateway status': 'ps health',
  'gateway doctor': 'check',
  'gateway config': 'settings',
  'gateway config get aliases': 'alias',
  'gateway calls export; for all data, use gateway backup': 'export',
  'gateway config import; for all data, use gateway restore': 'import',
  'gateway open; in the terminal, use gateway tui': 'dashboard ui',
  'gateway respond': 'ask prompt generate',
  'gateway tail': 'listen event',
  'gateway calls': 'call request activity',
  'gateway usage': 'spend cost',
  'gateway models': 'price',
  'gateway providers': 'upstream',
  'gateway engine add': 'pull',
  'gateway keys': 'api-key',
  'gateway keys limits or gateway budgets': 'limit',
  'gateway provider-keys': 'secret credential',
  'gateway alerts': 'webhook',
  'gateway login': 'auth',
  'gateway workspaces': 'team org project',
  'gateway threads': 'conversation',
  'gateway wallet balance or gateway credit': 'balance',
};

const withVerbs: Record<string, string[]> = {
  'gateway stop': ['daemon stop'],
  'gateway status': ['daemon status'],
  'gateway logs': ['daemon logs'],
  'gateway doctor': ['config check', 'config validate'],
  'gateway tail': ['calls tail'],
  'gateway provider-keys set': ['providers add'],
  'gateway providers health': ['providers list', 'providers ls'],
  'gateway capture set': ['capture on', 'capture off'],
  'gateway pay': ['wallet pay', 'wallet send', 'invoice pay'],
  'gateway invoice create': ['wallet invoice', 'wallet receive'],
  'gateway payments list': ['wallet payments', 'wallet history'],
  // Its `remove` is for members.
  'gateway workspaces leave': ['workspaces delete'],
};

/** The command line to use, by the name of a command that does not exist. */
export const commandNames: Readonly<Record<string, string>> = Object.fromEntries([
  ...['claude', 'codex', 'opencode', 'aider', 'qwen'].map((tool) => [tool, `gateway run ${tool}`]),
  ...Object.entries(commandLines).flatMap(([use, names]) => names.split(' ').map((name) => [name, use])),
  ...Object.entries(withVerbs).flatMap(([use, names]) => names.map((name) => [name, use])),
]);

/** Verbs that mean the same: of `have`, the first that a command has is suggested for each of `said`. */
export const verbs: readonly { said: readonly string[]; have: readonly string[] }[] = [
  ['create new add issue set', 'create add issue set install post send sign-up buy'],
  ['set edit update', 'update set limits refresh'],
  ['list ls', 'list show get status health'],
  ['show get view describe info', 'show get status balance list health'],
  ['delete remove rm revoke clear disable', 'delete remove revoke clear unset uninstall archive'],
  ['start enable run', 'run resume install'],
  ['stop disable', 'stop cancel pause'],
  ['switch', 'use'],
  ['pull', 'add refresh'],
  ['cp', 'copy'],
].map(([said = '', have = '']) => ({ said: said.split(' '), have: have.split(' ') }));

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
  const known = [name, name.replace(/(?<=s)es$|s$/, '')].find((each) => Object.hasOwn(commandNames, each));
  return known === undefined ? undefined : commandNames[known];
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
export const optionNames: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  [
    ['-o --output --format', '--json --csv'],
    ['-v', '--version'],
    ['--by', '--group-by'],
    ['--failed', '--status'],
    ['-s --system', '--instructions'],
    ['--max-tokens', '--max-output-tokens'],
    ['--schema', '--json-schema'],
    ['-a --attachment --image', '--file --input'],
    ['--thinking', '--reasoning-effort'],
    ['-p', '--port'],
    ['-n', '--limit --lines'],
    ['--last --from', '--since --after'],
    ['--to', '--until --before'],
    ['--tail', '--lines --limit'],
    ['-f --force', '--yes'],
    ['--base-url', '--host'],
    ['--max-budget', '--spend-cap'],
    ['--duration', '--expires'],
    ['--rpm-limit', '--rpm --rate'],
    ['--key-alias', '--name'],
    ['--search', '--match'],
    ['--temp', '--temperature'],
    ['-c --continue', '--previous'],
    ['--api-key', '--from-env --key-stdin'],
    ['--verbose --debug', '--log-level'],
  ].flatMap(([names = '', have = '']) => names.split(' ').map((name) => [name, have.split(' ')])),
);

/** The options of a command that are known as another, without its value. */
export function optionsUnderOtherName(option: string, command: CommandUnknownOpts): string[] {
  const meant = (Object.hasOwn(optionNames, option) ? optionNames[option] : undefined) ?? [];
  return meant.filter((name) => command.options.some(({ long }) => long === name));
}
