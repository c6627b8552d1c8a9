import { appendFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Environment, foldersOf } from '../../../shared/folders.ts';

const historyFile = 'chat-history';
const lastFile = 'chat-last.json';
/** Prompts that are kept; the file is shortened once it has twice as many. */
const promptsMax = 500;
const promptCharactersMax = 10_000;
const hostsMax = 50;

/** The prompts of earlier chats on this machine, oldest first. */
export function readHistory(environment: Environment): string[] {
  const path = join(foldersOf(environment).data, historyFile);
  const all = (readText(path) ?? '').split('\n').flatMap(promptOf);
  const kept = all.slice(-promptsMax);
  if (all.length > 2 * promptsMax)
    writePrivate(environment, historyFile, kept.map((text) => `${JSON.stringify(text)}\n`).join(''));
  return kept;
}

/** Adds a prompt, unless it is very long or starts with a blank, as in shells. */
export function addToHistory(environment: Environment, text: string): void {
  if (text.startsWith(' ') || text.length > promptCharactersMax) return;
  const { data } = foldersOf(environment);
  mkdirSync(data, { recursive: true, mode: 0o700 });
  appendFileSync(join(data, historyFile), `${JSON.stringify(text)}\n`, { mode: 0o600 });
}

/** A line that was cut off is left out. */
function promptOf(line: string): string[] {
  try {
    const text: unknown = JSON.parse(line);
    return typeof text === 'string' ? [text] : [];
  } catch {
    return [];
  }
}

/** The last response of the last conversation with a host; undefined without one. */
export function lastConversation(environment: Environment, host: string): string | undefined {
  const response = readLast(environment)[host];
  return typeof response === 'string' ? response : undefined;
}

export function keepLastConversation(environment: Environment, host: string, response: string): void {
  const { [host]: _, ...others } = readLast(environment);
  const entries = [...Object.entries(others), [host, response]].slice(-hostsMax);
  writePrivate(environment, lastFile, `${JSON.stringify(Object.fromEntries(entries))}\n`);
}

function readLast(environment: Environment): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(readText(join(foldersOf(environment).data, lastFile)) ?? '{}');
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function writePrivate(environment: Environment, name: string, text: string): void {
  const { data } = foldersOf(environment);
  mkdirSync(data, { recursive: true, mode: 0o700 });
  const partial = join(data, `${name}.${process.pid}.partial`);
  writeFileSync(partial, text, { mode: 0o600 });
  renameSync(partial, join(data, name));
}
