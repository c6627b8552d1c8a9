import { callCommands } from './call-commands.ts';
import { daemonCommands } from './daemon-commands.ts';
import { keyCommands } from './key-commands.ts';
import { moneyCommands } from './money-commands.ts';
import { peopleCommands } from './people-commands.ts';
import { talkCommands } from './talk-commands.ts';
import { toolCommands } from './tool-commands.ts';
import type { Noun, Verb } from './verb.ts';

/** Every command under the title that it has in the help, in the order of the help. */
export const groups: { title: string; commands: Record<string, Verb | Noun> }[] = [
  { title: 'Daemon', commands: daemonCommands },
  { title: 'Model calls', commands: callCommands },
  { title: 'Keys', commands: keyCommands },
  { title: 'Hosts and people', commands: peopleCommands },
  { title: 'Money', commands: moneyCommands },
  { title: 'Talk', commands: talkCommands },
  { title: 'Tools', commands: toolCommands },
];

/** Every command by its name. */
export const tree: Record<string, Verb | Noun> = Object.assign({}, ...groups.map(({ commands }) => commands));
