/**
 * Files that share a process share its globals: one that leaves its own timers in place of Node's would stop whatever waits in a later
 * file, and one that adds an authority lets a later one trust what it must refuse. Such a file is found by the next one, as Vitest restores
 * spies after a file; the globals are restored.
 */
import { getCACertificates, setDefaultCACertificates } from 'node:tls';

const names = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate', 'Date'] as const;
const holder = globalThis as {
  ownGlobals?: { timers: Record<string, unknown>; authorities: string[]; environment: NodeJS.ProcessEnv };
};
// Vitest's own, which it sets for each file.
const { VITEST_POOL_ID, VITEST_WORKER_ID, ...environment } = process.env;
holder.ownGlobals ??= {
  timers: Object.fromEntries(names.map((name) => [name, globalThis[name]])),
  authorities: getCACertificates('default'),
  environment,
};
const { timers, authorities, environment: usual } = holder.ownGlobals;
const replaced: string[] = names.filter((name) => globalThis[name] !== timers[name]);
Object.assign(globalThis, timers);
for (const name of new Set([...Object.keys(usual), ...Object.keys(environment)])) {
  const value = usual[name];
  if (environment[name] === value) continue;
  replaced.push(`the variable ${name}`);
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
}
// The array is another one once they were set, and Node may break their lines elsewhere.
const bare = (all: readonly string[]) => new Set(all.map((authority) => authority.replaceAll(/\s/g, '')));
const hasAdded = (now: readonly string[]) => {
  const own = bare(authorities);
  return now !== authorities && [...bare(now)].some((authority) => !own.has(authority));
};
if (hasAdded(getCACertificates('default'))) {
  replaced.push('the authorities of TLS');
  setDefaultCACertificates(authorities);
}
if (replaced.length > 0)
  throw new Error(
    `a file that ran before in this process replaces ${replaced.join(', ')} and does not restore it`,
  );
