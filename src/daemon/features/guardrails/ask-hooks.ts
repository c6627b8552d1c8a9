import { ApiError } from '../../../shared/errors.ts';
import { messageOf } from '../../../shared/faults/message-of.ts';
import type { Log } from '../../base/log.ts';
import type { World } from '../../base/world.ts';
import { matchesPattern } from '../catalog/index.ts';
import type { HookRun } from '../metering/index.ts';
import type { Hook, HookMoment } from './settings.ts';
import { type HookReply, readVerdict, type Verdict } from './verdict.ts';

export interface AskDeps {
  world: Pick<World, 'elapsed' | 'sleep'>;
  /** Asks a hook with JSON text. Rejects for one that fails, and with the signal's reason. */
  ask: (hook: Hook, question: string, signal: AbortSignal) => Promise<HookReply>;
  log: Pick<Log, 'warn'>;
}

/** Whether a hook, or the redaction, is for a model. */
export function isFor({ models }: Pick<Hook, 'models'>, model: string | undefined): boolean {
  return models === undefined || (model !== undefined && models.some((one) => matchesPattern(one, model)));
}

interface Questions {
  on: HookMoment;
  hooks: readonly Hook[];
  /** What a hook is asked; after each change anew. */
  question: () => object;
  /** Applies a change; fails with a `HookFailure`. */
  apply: (changed: Extract<Verdict, { action: 'change' }>['changed']) => void;
  signal: AbortSignal;
  /** Where the runs are noted. */
  runs: HookRun[];
}

/**
 * Asks hooks one after the other. Fails with `guardrail_refused` when one refuses, with `unavailable` when one fails that must not, and
 * with the signal's reason.
 */
export async function askHooks(
  { world, ask, log }: AskDeps,
  { on, hooks, question, apply, signal, runs }: Questions,
): Promise<void> {
  for (const hook of hooks) {
    const startedAt = world.elapsed();
    const note = (result: HookRun['result'], message?: string) =>
      noteRun(runs, {
        name: hook.name,
        on,
        result,
        ms: world.elapsed() - startedAt,
        ...(message && { message }),
      });
    const over = new AbortController();
    const ended = AbortSignal.any([over.signal, signal]);
    const late = world
      .sleep(hook.timeoutMs, ended)
      .then(() => over.abort(new Error(`it took longer than ${hook.timeoutMs} ms`)))
      .catch(() => {});
    let verdict: Verdict;
    try {
      const reply = await ask(hook, JSON.stringify(question()), ended);
      verdict = readVerdict(reply);
      if (verdict.action === 'change') apply(verdict.changed);
    } catch (error) {
      signal.throwIfAborted();
      const reason: unknown = over.signal.aborted ? over.signal.reason : error;
      const message = messageOf(reason);
      note('failed', message);
      log.warn({ hook: hook.name, on, err: reason }, 'a hook failed');
      if (hook.failsOpen) continue;
      throw new ApiError('unavailable', {
        message: `The hook ${hook.name} failed, so the ${on} was not let through.`,
        cause: reason,
      });
    } finally {
      over.abort();
      await late;
    }
    if (verdict.action === 'refuse') {
      note('refused', verdict.message);
      throw new ApiError('guardrail_refused', {
        message: `The hook ${hook.name} refused the ${on}: ${verdict.message}`,
      });
    }
    note(verdict.action === 'change' ? 'changed' : 'passed');
  }
}

const results: readonly HookRun['result'][] = ['passed', 'changed', 'failed', 'refused'];

/** Several questions about one answer are one run. */
export function noteRun(runs: HookRun[], { ms, ...run }: HookRun): void {
  const rounded = (of: number) => Math.round(of * 10) / 10;
  const at = runs.findIndex(({ name, on }) => name === run.name && on === run.on);
  const before = runs[at];
  if (before === undefined) {
    runs.push({ ...run, ms: rounded(ms) });
    return;
  }
  const isWorse = results.indexOf(run.result) > results.indexOf(before.result);
  runs[at] = { ...before, ...(isWorse && run), ms: rounded(before.ms + ms) };
}
