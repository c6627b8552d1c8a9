import { Command, type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { inWords } from '../../shared/text/in-words.ts';
import { version } from '../../shared/version.ts';
import type { CommonFlags, Context } from '../context.ts';
import { withNpx } from '../output/output.ts';
import { type CommandEntry, isNoun, type NounEntry } from './entry.ts';
import type { CommandLine } from './locate.ts';
import { groups } from './manifest.ts';
import { optionsUnderOtherName } from './other-names.ts';

interface BuiltProgram {
  program: CommandUnknownOpts;
  /** Whether the command takes arguments as well as options. */
  takesArguments: boolean;
  /** Whether one of them is a query of calls. */
  takesQuery: boolean;
}

/** Builds the one command to run, or the names and summaries of all for help and suggestions. */
export async function buildProgram(
  { words, command: entry }: CommandLine,
  context: Context,
): Promise<BuiltProgram> {
  const program = prepare(new Command('gateway'), context)
    .description('A local inference gateway: one daemon and one CLI for model calls, keys, limits and money.')
    .version(version, '-V, --version', 'print the version')
    .addHelpText('after', '\nMore: gateway COMMAND --help, gateway help exit-codes')
    .hook('preAction', (_program, command) => {
      context.inputs = inputsOf(command);
      return applyFlags(command.opts(), context);
    });
  if (!entry) {
    await addSummaries(program, words, context);
    return { program, takesArguments: false, takesQuery: false };
  }
  const command = await buildCommand(entry, context);
  command.showHelpAfterError(seeHelp(words, context));
  const noun = words.length > 1 ? prepare(new Command(words[0]), context) : undefined;
  if (noun) program.addCommand(noun.addCommand(command));
  else program.addCommand(command);
  const names = command.registeredArguments.map((argument) => argument.name());
  return { program, takesArguments: names.length > 0, takesQuery: names.includes('query') };
}

function inputsOf({ options, registeredArguments }: CommandUnknownOpts): string[] {
  const flags = options.flatMap(({ long }) => long ?? []);
  return [...flags, ...registeredArguments.map((argument) => `<${argument.name()}>`)];
}

async function applyFlags({ json, ...flags }: CommonFlags, context: Context): Promise<void> {
  context.setFlags({ ...flags, json: json === '' ? true : json });
  if (flags.jq !== undefined) await (await import('../output/jq.ts')).checkJq(flags.jq);
}

const commonHeading = 'Common options:';
const helpFlags = '-h, --help';
const helpSummary = 'show this help';

/** Loads a command and adds its summary and the common options. */
export async function buildCommand(
  { summary, load, isPlain }: CommandEntry,
  context: Context,
): Promise<CommandUnknownOpts> {
  const command = prepare((await load())(context), context).description(summary);
  if (isPlain) return command;
  return command
    .optionsGroup(commonHeading)
    .option('--json [fields]', 'print JSON, optionally only these fields: --json=id,name')
    .option('--jq <expression>', 'filter the JSON output with a jq expression')
    .option(
      '--host <host>',
      'the daemon to connect to, by name or address (default: GATEWAY_HOST, then the host in use)',
    )
    .option('-q, --quiet', 'print only ids or secrets, and no messages')
    .option('--no-color', 'disable colours')
    .addHelpOption(new Option(helpFlags, helpSummary).helpGroup(commonHeading));
}

async function addSummaries(program: CommandUnknownOpts, words: string[], context: Context): Promise<void> {
  const add = (parent: CommandUnknownOpts, name: string, summary: string, heading: string) => {
    const command = prepare(new Command(name), context).description(summary).helpGroup(heading);
    parent.addCommand(command.showHelpAfterError(seeHelp([name], context)));
    return command;
  };
  for (const { title, commands } of groups) {
    for (const [name, entry] of Object.entries(commands)) {
      const command = add(program, name, entry.summary, `${title}:`);
      if (!isNoun(entry) || name !== words[0]) continue;
      if (entry.aliases) command.description(`${entry.summary}\nAlias: gateway ${inWords(entry.aliases)}`);
      for (const [verb, { summary }] of Object.entries(entry.verbs)) {
        add(command, verb, summary, 'Commands:');
      }
      await addOptionsOf(command, entry, context);
    }
  }
}

/** Adds the options of the verb that the noun alone stands for, for its help. */
async function addOptionsOf(
  noun: CommandUnknownOpts,
  { alone, verbs }: NounEntry,
  context: Context,
): Promise<void> {
  const entry = alone === undefined ? undefined : verbs[alone];
  if (entry === undefined) return;
  const { options } = await buildCommand({ ...entry, isPlain: true }, context);
  for (const option of options) noun.addOption(option.helpGroup(`Options of ${alone}, the default:`));
}

/** The line below an error of the command line. */
function seeHelp(words: string[], { env }: Context): string {
  return withNpx(`See ${['gateway', ...words].join(' ')} --help.`, env);
}

function prepare(command: CommandUnknownOpts, context: Context): CommandUnknownOpts {
  const { io } = context;
  return command
    .exitOverride()
    .helpCommand(false)
    .helpOption(helpFlags, helpSummary)
    .configureHelp({ minWidthToWrap: 20 })
    .showHelpAfterError(seeHelp([], context))
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      getOutHelpWidth: () => io.columns(),
      getErrHelpWidth: () => io.columns(),
      outputError: (text, write) => write(withSuggestion(withoutValues(text), command)),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    });
}

/** Shortens the library's errors, and removes misplaced words: they may be secrets, and error messages end up in logs. */
function withoutValues(text: string): string {
  return text
    .replace(/^(error: too many arguments .*? but got \d+): .*$/s, '$1.\n')
    .replace(
      /^error: command-argument value ('.*?') is invalid for argument '(\S+)'\./s,
      'error: invalid $2 $1.',
    )
    .replace(/^(error: unknown option '--?[\w-]+)=.*?'(\n|$)/s, "$1'$2");
}

/** Suggests the options of which another tool has another name, how fields are given, and `--name` for a name without it. */
function withSuggestion(text: string, command: CommandUnknownOpts): string {
  return text
    .replace(/^(error: unknown option '(--?[\w-]+)')(\n\(Did you mean .*\))?/, (whole, error, option) => {
      const meant = optionsUnderOtherName(option, command);
      return meant.length === 0 ? whole : `${error}\n${didYouMean(meant)}`;
    })
    .replace(/^error: too many arguments .*\./, (error) =>
      (command.opts() as CommonFlags).json === ''
        ? `${error}\nFields follow an equals sign: --json=id,name`
        : error,
    )
    .replace(/^error: too many arguments .* Expected 0 arguments but got 1\./, (error) => {
      const isNamed = command.options.some(({ long }) => long === '--name');
      return isNamed ? `${error}\n${didYouMean(['--name'])}` : error;
    });
}

function didYouMean(names: readonly string[]): string {
  return `(Did you mean ${names.length > 1 ? 'one of ' : ''}${names.join(', ')}?)`;
}
