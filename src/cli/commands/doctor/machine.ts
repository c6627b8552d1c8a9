import type { Context } from '../../context.ts';
import type { Finding } from './finding.ts';

const oldestNode = [22, 19] as const;

/** The version of Node that runs this. */
export function checkNode(): Finding[] {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const isOld = major < oldestNode[0] || (major === oldestNode[0] && minor < oldestNode[1]);
  return [
    {
      check: 'node',
      state: isOld ? 'broken' : 'ok',
      message: `Node ${process.versions.node}`,
      remedy: isOld ? `Install Node ${oldestNode.join('.')} or newer.` : null,
    },
  ];
}

/** No clock of a machine that runs this program stands before this day; one that does fails limits, expiry and TLS. */
const programMadeAt = Date.UTC(2026, 0, 1);

/** Whether the clock can be right. */
export function checkClock({ now }: Context): Finding[] {
  const isWrong = now() < programMadeAt;
  return [
    {
      check: 'clock',
      state: isWrong ? 'broken' : 'ok',
      message: new Date(now()).toISOString(),
      remedy: isWrong ? 'Set the clock, best by NTP.' : null,
    },
  ];
}
