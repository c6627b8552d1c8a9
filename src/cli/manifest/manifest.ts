import { conversationCommands } from './conversation-commands.ts';
import { daemonCommands } from './daemon-commands.ts';
import { type CommandEntry, isNoun, type NounEntry } from './entry.ts';
import { keyCommands } from './key-commands.ts';
import { modelCommands } from './model-commands.ts';
import { moneyCommands } from './money-commands.ts';
import { peopleCommands } from './people-commands.ts';
import { toolCommands } from './tool-commands.ts';

/** Every command under its heading, in the order of the help. */
export const groups: { title: string; commands: Record<string, CommandEntry | NounEntry> }[] = [
  { title: 'Daemon', commands: daemonCommands },
  { title: 'Model calls', commands: modelCommands },
  { title: 'Keys', commands: keyCommands },
  { title: 'Hosts and people', commands: peopleCommands },
  { title: 'Money', commands: moneyCommands },
  { title: 'Talk', commands: conversationCommands },
  { title: 'Tools', commands: toolCommands },
];

/** Every command by its first word. */
export const manifest: Record<string, CommandEntry | NounEntry> = Object.assign(
  {},
  ...groups.map(({ commands }) => commands),
);

const aliases = new Map(
  Object.entries(manifest).flatMap(([name, entry]) =>
    isNoun(entry) ? (entry.aliases ?? []).map((alias) => [alias, name] as const) : [],
  ),
);

/** The name of a command of which an alias may be given. */
export function nameOf(word: string): string {
  return aliases.get(word) ?? word;
}

/** Every command that runs, with the words that name it. */
export const allCommands: { words: string[]; entry: CommandEntry }[] = Object.entries(manifest).flatMap(
  ([name, entry]) =>
    isNoun(entry)
      ? Object.entries(entry.verbs).map(([verb, command]) => ({ words: [name, verb], entry: command }))
      : [{ words: [name], entry }],
);
