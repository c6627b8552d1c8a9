/**
 * Files that share a process share its timers: one that leaves its own in place of Node's would stop whatever waits in a later file,
 * which is refused instead. Vitest restores spies after a file, so this looks before the next one.
 */
const names = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate', 'Date'] as const;
const holder = globalThis as { ownTimers?: Record<string, unknown> };
holder.ownTimers ??= Object.fromEntries(names.map((name) => [name, globalThis[name]]));
const { ownTimers } = holder;
const replaced = names.filter((name) => globalThis[name] !== ownTimers[name]);
Object.assign(globalThis, ownTimers);
if (replaced.length > 0)
  throw new Error(
    `a file that ran before in this process replaces ${replaced.join(', ')} and does not restore it`,
  );

export {};
