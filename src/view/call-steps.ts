import type { TraceView } from '../shared/contract/traces.ts';
import { duration } from './durations.ts';
import type { Tone } from './field.ts';

/** What Gateway does in a call besides asking providers, as all clients name it. */
export const stepNames = {
  admitted: 'plan',
  queued: 'queue',
  held: 'reserve cost',
  settled: 'record cost',
} as const;

type CallWait = NonNullable<TraceView['waits']>[number];

/** What a call waited for, in a line: `1.2 s for ollama, from position 3`. */
export function waitText({ name, position, ms }: CallWait): string {
  return `${duration(ms)} for ${name}, from position ${position}`;
}

type HookRun = NonNullable<TraceView['hooks']>[number];

/** A step of a call; times in milliseconds since the request arrived. */
export interface HookStep {
  label: string;
  from: number;
  to: number;
  note: string;
  tone: Tone | undefined;
}

/** What a hook decided, in a line: `pii changed the request: 4 texts replaced`. */
export function hookText({ name, on, result, message }: HookRun): string {
  return `${name} ${result === 'failed' ? 'failed on' : result} the ${on}${message === null ? '' : `: ${message}`}`;
}

/** When hooks saw a request, one after the other, and its answer, before its end. */
export function hookSteps({ hooks = [], timings }: Pick<TraceView, 'hooks' | 'timings'>): HookStep[] {
  let from = 0;
  return hooks.map(({ name, on, result, ms, message }) => {
    const start = on === 'request' ? from : Math.max(0, timings.total_ms - ms);
    if (on === 'request') from += ms;
    const note = message === null ? result : `${result}: ${message}`;
    const tone = result === 'refused' || result === 'failed' ? 'bad' : undefined;
    return { label: `${name} · ${on}`, from: start, to: start + ms, note, tone };
  });
}
