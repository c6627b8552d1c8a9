import { Command, type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { version } from '../../shared/version.ts';
import type { CommonFlags } from '../common-flags.ts';
import type { Context } from '../context.ts';
import { groups } from '../tree/tree.ts';
import { isNoun, type Verb } from '../tree/verb.ts';
import type { CommandLine } from './locate.ts';

interface Built {
  program: CommandUnknownOpts;
  /** Whether the command takes arguments beside its flags. */
  takesArguments: boolean;
}

/** The command that was asked for and nothing else; where none was, the names and summaries of all, for help and for guesses. */
export async function buildProgram({ words, verb }: CommandLine, context: Context): Promise<Built> {
  const program = prepare(new Command('gateway'), context)
    .description('A local inference gateway: one daemon and one CLI for model calls, keys, limits and money.')
    .version(version, '-V, --version', 'print the version')
    .addHelpText('after', '\nMore: gateway COMMAND --help, gateway help exit-codes')
    .hook('preAction', (_program, command) => useFlags(command.opts(), context));
  if (!verb) {
    addSummaries(program, words, context);
    return { program, takesArguments: false };
  }
  const command = await runnable(verb, context);
  const noun = words.length > 1 ? prepare(new Command(words[0]), context) : undefined;
  if (noun) program.addCommand(noun.addCommand(command));
  else program.addCommand(command);
  return { program, takesArguments: command.registeredArguments.length > 0 };
}

async function useFlags({ json, ...flags }: CommonFlags, context: Context): Promise<void> {
  context.setFlags({ ...flags, json: json === '' ? true : json });
  if (flags.jq !== undefined) await (await import('../output/jq.ts')).checkJq(flags.jq);
}

const commonHeading = 'Options that every command has:';
const helpFlags = '-h, --help';
const helpSummary = 'show this help';

/** One command with all of its options. */
export async function runnable(
  { summary, load, isPlain }: Verb,
  context: Context,
): Promise<CommandUnknownOpts> {
  const command = prepare((await load())(context), context).description(summary);
  if (isPlain) return command;
  return command
    .optionsGroup(commonHeading)
    .option('--json [fields]', 'print JSON; with names, only these fields, as in --json=id,name')
    .option('--jq <expression>', 'print what this jq expression makes of the JSON')
    .option(
      '--host <host>',
      'the daemon to speak to, by name or address; else GATEWAY_HOST, else the one in use',
    )
    .option('-q, --quiet', 'print only ids or the secret, and no notes')
    .option('--no-color', 'print without colours')
    .addHelpOption(new Option(helpFlags, helpSummary).helpGroup(commonHeading));
}

function addSummaries(program: CommandUnknownOpts, words: string[], context: Context): void {
  const add = (parent: CommandUnknownOpts, name: string, summary: string, heading: string) => {
    const command = prepare(new Command(name), context).description(summary).helpGroup(heading);
    parent.addCommand(command);
    return command;
  };
  for (const { title, commands } of groups) {
    for (const [name, entry] of Object.entries(commands)) {
      const command = add(program, name, entry.summary, `${title}:`);
      if (!isNoun(entry) || name !== words[0]) continue;
      for (const [verbName, { summary }] of Object.entries(entry.verbs)) {
        add(command, verbName, summary, 'Commands:');
      }
    }
  }
}

function prepare(command: CommandUnknownOpts, { io }: Context): CommandUnknownOpts {
  return command
    .exitOverride()
    .helpCommand(false)
    .helpOption(helpFlags, helpSummary)
    .configureHelp({ minWidthToWrap: 20 })
    .showHelpAfterError('See --help.')
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      getOutHelpWidth: () => io.columns(),
      getErrHelpWidth: () => io.columns(),
      outputError: (text, write) => write(withoutValues(text)),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    });
}

/** What should not have been typed may be a secret, and what is printed is kept in more places: it is not said again. */
function withoutValues(text: string): string {
  return text
    .replace(/^(error: too many arguments .*? but got \d+): .*$/s, '$1.\n')
    .replace(/^(error: unknown option '--?[\w-]+)=.*?'(\n|$)/s, "$1'$2");
}
