import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';

const source = pathToFileURL(resolve('src/daemon/process/outlive-faults.ts')).href;

/** Runs a program in a process of its own; returns what it printed. */
const run = (program: string): string[] =>
  execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8', stdio: 'pipe' })
    .trim()
    .split('\n');

const log = `{ error: ({ err, origin }, message) => console.log(origin, err.message, message) }`;

test.each([
  ['an exception in a timer', `setTimeout(() => { throw new Error('here') })`, 'uncaughtException'],
  [
    'an `error` event without a listener',
    `setImmediate(() => new EventEmitter().emit('error', new Error('here')))`,
    'uncaughtException',
  ],
  [
    'an exception in a listener of a signal',
    `const c = new AbortController(); c.signal.addEventListener('abort', () => { throw new Error('here') }); c.abort()`,
    'uncaughtException',
  ],
  ['a rejection', `Promise.reject(new Error('here'))`, 'unhandledRejection'],
])('%s is logged, and the process goes on', (_what, fault, origin) => {
  const printed = run(`
    import { EventEmitter } from 'node:events';
    import { outliveFaults } from '${source}';
    outliveFaults(${log});
    // After faults of the same turn, too.
    setTimeout(() => setImmediate(() => console.log('still here')), 50);
    ${fault};`);
  expect(printed).toEqual([`${origin} here an unexpected fault; the daemon goes on`, 'still here']);
});

test('a log that fails does not end the process either', () => {
  const printed = run(`
    import { outliveFaults } from '${source}';
    outliveFaults({ error() { throw new Error('no log') } });
    setTimeout(() => console.log('still here'), 50);
    Promise.reject(new Error('here'));`);
  expect(printed).toEqual(['still here']);
});

test('faults end the process again after the end', () => {
  const program = `
    import { outliveFaults } from '${source}';
    outliveFaults(${log})();
    Promise.reject(new Error('here'));`;
  expect(() => run(program)).toThrow(/here/);
});
