import { PassedTime, type PassedTimeDeps } from '../passed-time.ts';
import type { Writer } from './engine/writer.ts';
import type { WriteCommands } from './write-commands.ts';

/** Of a database. */
interface DatabaseClock extends Pick<PassedTimeDeps, 'now' | 'noted'> {
  /** Milliseconds of a clock that only goes forward; default: that of the machine. */
  elapsed: PassedTimeDeps['elapsed'] | undefined;
}

/** Notes what time has passed with writes of the same database. */
export function notePassedTime(
  writer: Pick<Writer<WriteCommands>, 'write'>,
  { now, noted, elapsed = () => performance.now() }: DatabaseClock,
): PassedTime {
  return new PassedTime({
    now,
    noted,
    elapsed,
    note: (at) => writer.write('engine.touch', at),
    trust: (at) => writer.write('engine.trustTime', at),
    setBack: (times) => writer.write('engine.setBack', times),
    refuse: (refusal) => writer.write('engine.refuse', refusal),
  });
}
