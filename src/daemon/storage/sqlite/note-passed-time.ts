import { PassedTime, type PassedTimeDeps } from '../passed-time.ts';
import type { Writer } from './engine/writer.ts';
import type { WriteCommands } from './write-commands.ts';

/** Notes what time has passed with writes of the same database. */
export function notePassedTime(
  writer: Pick<Writer<WriteCommands>, 'write'>,
  clock: Pick<PassedTimeDeps, 'now' | 'noted'>,
): PassedTime {
  return new PassedTime({
    ...clock,
    note: (at) => void writer.write('engine.touch', at).catch(() => {}),
    trust: (at) => void writer.write('engine.trustTime', at).catch(() => {}),
    expire: async (times) => {
      await writer.write('engine.expire', times);
    },
  });
}
