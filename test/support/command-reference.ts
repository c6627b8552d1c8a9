import type { CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { runnable } from '../../src/cli/manifest/build-program.ts';
import type { Context } from '../../src/cli/context.ts';
import { tree } from '../../src/cli/tree/tree.ts';
import { isNoun, type Verb } from '../../src/cli/tree/verb.ts';

/** Of a command that is only looked at: no more of it is asked for. */
const context = {
  io: { stdout: { write: () => true }, stderr: { write: () => true }, columns: () => 80 },
} as unknown as Context;

const introduction = `# Commands

Every command of \`gateway\`, with what it takes. [The command line](cli.md) tells what they have in common: which daemon they speak
to, what they print, and their exit codes. Made from the program by \`npm run docs\`.
`;

/** The reference of all commands as Markdown, from the tree of commands alone. */
export async function commandReference(): Promise<string> {
  const parts = [introduction];
  let common = '';
  for (const [name, entry] of Object.entries(tree)) {
    if (!isNoun(entry)) {
      const { text, shared } = await described([name], entry, '##');
      parts.push(text);
      common ||= shared;
      continue;
    }
    const usual = entry.alone === undefined ? '' : ` Alone it means \`${name} ${entry.alone}\`.`;
    parts.push(`## ${name}\n\n${entry.summary}${usual}\n`);
    for (const [verbName, verb] of Object.entries(entry.verbs)) {
      parts.push((await described([name, verbName], verb, '###')).text);
    }
  }
  return `${[...parts, `## Options that every command has\n\nBut for those that have no \`--json\` in their help.\n\n${common}`].join('\n')}`;
}

async function described(words: string[], verb: Verb, heading: string) {
  const command = await runnable(verb, context);
  const isCommon = ({ helpGroupHeading }: Option) => helpGroupHeading !== undefined;
  const rows = (options: readonly Option[]) =>
    options.filter(({ hidden }) => !hidden).map((it) => row(it.flags, meaningOf(it)));
  const args = command.registeredArguments.map((it) => {
    const name = it.variadic ? `${it.name()}…` : it.name();
    return row(it.required ? `<${name}>` : `[${name}]`, meaningOf(it));
  });
  const own = [...args, ...rows(command.options.filter((it) => !isCommon(it)))];
  const [, example = ''] = /Example:\n {2}\$ (.*)/.exec(helpOf(command)) ?? [];
  const text = [
    `${heading} ${words.join(' ')}`,
    `${verb.summary}`,
    `\`\`\`\n${example}\n\`\`\``,
    ...(own.length > 0 ? [`| | |\n| --- | --- |\n${own.join('\n')}`] : []),
  ].join('\n\n');
  const shared = `| | |\n| --- | --- |\n${rows(command.options.filter(isCommon)).join('\n')}\n`;
  return { text: `${text}\n`, shared: command.options.some(isCommon) ? shared : '' };
}

function helpOf(command: CommandUnknownOpts): string {
  let text = '';
  command.configureOutput({
    writeOut: (piece) => {
      text += piece;
    },
  });
  command.outputHelp();
  return text;
}

interface Described {
  description: string;
  argChoices?: string[] | undefined;
  defaultValue?: unknown;
}

function meaningOf({ description, argChoices, defaultValue }: Described): string {
  const choices = argChoices ? ` (${argChoices.map((it) => `\`${it}\``).join(', ')})` : '';
  const usual =
    defaultValue === undefined || typeof defaultValue === 'boolean'
      ? ''
      : `; \`${defaultValue}\` unless told`;
  return `${description}${choices}${usual}`;
}

const row = (name: string, meaning: string) =>
  `| \`${name.replaceAll('|', '\\|')}\` | ${meaning.replaceAll('|', '\\|')} |`;
