import { appendFileSync, writeSync } from 'node:fs';
import type { Debugger, Session } from 'node:inspector';
import { exitCodes } from '../../shared/errors.ts';
import { isoTime } from '../../shared/time/time.ts';

/** What a thread needs to watch the main one. */
export interface MainThreadWatch {
  /** Its only element grows as long as the loop of the main thread turns. Shared. */
  turns: Int32Array<SharedArrayBuffer>;
  /** Gets the last line of the process, besides stderr. */
  logFile: string;
  /** The process may use so much CPU without a turn, in milliseconds. */
  cpuMsMax: number;
  /** How often the thread looks, in milliseconds. */
  everyMs: number;
}

/** V8 cannot interrupt native code: the process is killed if it used this share of the limit again and did not end. */
const patienceShare = 0.5;
/** Other threads can use the limit within a moment, in which the main one is only late. */
const looksMin = 6;
const fatalLevel = 60;
const stderrHandle = 2;

/**
 * Ends the process with code 70 if its main thread never comes back to its loop, which no other thread and no signal handler can
 * see or stop: it writes where the main thread is, without any values. What counts is the CPU time of the process, so that neither
 * a suspended machine nor one that has other work triggers it. Does not keep the thread alive. Until the returned function is called.
 */
export function watchMainThread(watch: MainThreadWatch): () => void {
  const { turns, cpuMsMax, everyMs } = watch;
  const turn = () => Atomics.load(turns, 0);
  const judge = new HangJudge(cpuMsMax, { turn: turn(), cpuMs: cpuMs() });
  const timer = setInterval(() => {
    const seen = turn();
    const verdict = judge.look({ turn: seen, cpuMs: cpuMs() });
    if (verdict === 'interrupt') void endProcess(watch, () => turn() === seen);
    else if (verdict === 'kill') {
      note(watch, undefined);
      process.kill(process.pid, 'SIGKILL');
    }
  }, everyMs).unref();
  return () => clearInterval(timer);
}

interface Sight {
  turn: number;
  /** CPU time, in milliseconds. */
  cpuMs: number;
}

/** Tells a thread that hangs from one that waits, is suspended or gets no CPU. */
export class HangJudge {
  readonly #cpuMsMax: number;
  /** When the last turn was seen. */
  #last: Sight;
  #looks = 0;
  /** How many looks there were when it was interrupted. */
  #interruptedAt: number | undefined;

  constructor(cpuMsMax: number, first: Sight) {
    this.#cpuMsMax = cpuMsMax;
    this.#last = first;
  }

  look(sight: Sight): 'well' | 'interrupt' | 'kill' {
    if (sight.turn !== this.#last.turn) {
      this.#last = sight;
      this.#looks = 0;
      this.#interruptedAt = undefined;
      return 'well';
    }
    this.#looks += 1;
    const usedMs = sight.cpuMs - this.#last.cpuMs;
    if (usedMs < this.#cpuMsMax || this.#looks < looksMin) return 'well';
    if (this.#interruptedAt === undefined) {
      this.#interruptedAt = this.#looks;
      return 'interrupt';
    }
    const isPatient = this.#looks - this.#interruptedAt < looksMin * patienceShare;
    return isPatient || usedMs < this.#cpuMsMax * (1 + patienceShare) ? 'well' : 'kill';
  }
}

/** CPU time of the process, in milliseconds. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Stops the main thread where it is, and exits from there: another thread can only end itself. */
async function endProcess(watch: MainThreadWatch, isStuck: () => boolean): Promise<void> {
  const inspector = await import('node:inspector');
  const session: Session = new inspector.Session();
  session.connectToMainThread();
  const urls = new Map<string, string>();
  session.on('Debugger.scriptParsed', ({ params: { scriptId, url } }) => urls.set(scriptId, url));
  const placeOf = ({ functionName, location }: Debugger.CallFrame): string => {
    const { scriptId, lineNumber, columnNumber = 0 } = location;
    return `at ${functionName || '<anonymous>'} (${urls.get(scriptId)}:${lineNumber + 1}:${columnNumber + 1})`;
  };
  session.on('Debugger.paused', ({ params: { callFrames } }) => {
    const [frame] = callFrames;
    if (frame === undefined || !isStuck()) {
      session.disconnect();
      return;
    }
    note(watch, callFrames.map(placeOf).join('\n'));
    const expression = `process.reallyExit(${exitCodes.workerDied})`;
    session.post('Debugger.evaluateOnCallFrame', { callFrameId: frame.callFrameId, expression });
    session.post('Debugger.resume');
  });
  session.post('Debugger.enable');
  session.post('Debugger.pause');
}

/** Writes the line in the form of the log. */
function note({ logFile, cpuMsMax }: MainThreadWatch, stack: string | undefined): void {
  const line = JSON.stringify({
    level: fatalLevel,
    time: isoTime(Date.now()),
    ...(stack !== undefined && { stack }),
    msg: `the main thread did not return from one task in ${cpuMsMax / 1_000} s of CPU time; exiting`,
  });
  const writers = [
    () => void writeSync(stderrHandle, `${line}\n`),
    () => appendFileSync(logFile, `${line}\n`, { mode: 0o600 }),
  ];
  for (const write of writers) {
    try {
      write();
    } catch {
      // A closed terminal or a full disk must not keep the process alive.
    }
  }
}
