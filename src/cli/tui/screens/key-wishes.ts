import { Command, CommanderError } from '@commander-js/extra-typings';
import type { LimitsChange } from '../../../shared/contract/key-limits.ts';
import { limitFlags, limitsChange } from '../../commands/keys/limit-flags.ts';

/** Splits a line as a shell does, as far as quotes go. */
function wordsOf(line: string): string[] {
  const found = line.matchAll(/(?:"([^"]*)"|'([^']*)'|(\S+))/g);
  return [...found].map(([, double, single, bare]) => double ?? single ?? bare ?? '');
}

/** Reads `ci --spend-cap 5/day --rpm 60`: a name, and the flags of `gateway keys issue`. Throws what is wrong in words. */
export async function keyWish(line: string, now: number): Promise<{ name?: string; limits?: LimitsChange }> {
  const { words, change } = await parsed(line, now);
  const name = words.join(' ');
  return {
    ...(name !== '' && { name }),
    ...(Object.keys(change).length > 0 && { limits: change }),
  };
}

/** Reads `--spend-cap 5/day`: the flags of `gateway keys limits set`. Throws what is wrong in words. */
export async function limitsWish(line: string, now: number): Promise<LimitsChange> {
  const { words, change } = await parsed(line, now);
  if (words.length > 0) throw new Error(`"${words[0]}" is not a limit; they look like --spend-cap 5/day.`);
  if (Object.keys(change).length === 0) throw new Error('No limit was named, like --spend-cap 5/day.');
  return change;
}

async function parsed(line: string, now: number): Promise<{ words: string[]; change: LimitsChange }> {
  const command = limitFlags(new Command('key').argument('[name...]'))
    .exitOverride()
    .configureOutput({ writeErr() {}, writeOut() {} });
  try {
    await command.parseAsync(wordsOf(line), { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) throw new Error(error.message.replace(/^error: /, ''));
    throw error;
  }
  return { words: command.args, change: limitsChange(command.opts(), now) };
}
