import { PassedTime, type PassedTimeDeps } from '../passed-time.ts';
import type { Writer } from './engine/writer.ts';
import type { WriteCommands } from './write-commands.ts';

/** Notes what time has passed with writes of the same database. */
export function notePassedTime(
  writer: Pick<Writer<WriteCommands>, 'write'>,
  clock: Pick<PassedTimeDeps, 'now' | 'elapsed' | 'noted'>,
): PassedTime {
  return new PassedTime({
    ...clock,
    note: (at) => writer.write('engine.touch', at),
    trust: (at) => writer.write('engine.trustTime', at),
    setBack: async (times) => {
      await writer.write('engine.setBack', times);
    },
    refuse: async (refusal) => {
      await writer.write('engine.refuse', refusal);
    },
  });
}
