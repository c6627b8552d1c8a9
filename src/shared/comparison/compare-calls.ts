import { type ParameterChange, parameterChanges } from './parameter-changes.ts';
import { type CacheComparison, type CachedRequest, compareCache } from './prompt-cache.ts';
import { answerParts, type CallPart, requestParts } from './request-parts.ts';
import { alignedKeys, type Hunk, textChanges, wholeText } from './text-changes.ts';

/** One of two calls. Its request is the body as JSON, or text where it is none; undefined if it is not kept. */
export interface ComparedCall extends CachedRequest {
  /** The whole answer; undefined if it is not kept. */
  answer: unknown;
}

export interface PartChange {
  change: 'same' | 'added' | 'removed' | 'changed';
  kind: CallPart['kind'];
  role: string;
  /** In the later call; of a removed part, in the earlier one. */
  path: string;
  /** Of the later call's part; of a removed part, of the earlier one. */
  characters: number;
  /** What changed in the text; empty if nothing did. */
  hunks: Hunk[];
}

export interface CallComparison {
  /** Those that differ. */
  parameters: ParameterChange[];
  parts: PartChange[];
  /** Null if one of the requests is not kept. */
  cache: CacheComparison | null;
  answer: PartChange[];
}

/** Compares two calls, of which the first is the earlier one. */
export function compareCalls(before: ComparedCall, after: ComparedCall): CallComparison {
  const parameters = parameterChanges(before.request, after.request);
  const isKept = before.request !== undefined && after.request !== undefined;
  const earlier = requestParts(before.request);
  const later = requestParts(after.request);
  const answers = before.answer !== undefined && after.answer !== undefined;
  return {
    parameters: isKept ? parameters : [],
    parts: isKept ? partChanges(earlier, later) : [],
    cache: isKept ? compareCache(before, after, parameters) : null,
    answer: answers ? partChanges(answerParts(before.answer), answerParts(after.answer)) : [],
  };
}

/** Parts in their order; of those that were replaced, as many as are alike in kind and role are pairs. */
function partChanges(before: readonly CallPart[], after: readonly CallPart[]): PartChange[] {
  const runs = alignedKeys(
    before.map(({ key }) => key),
    after.map(({ key }) => key),
  );
  const changes: PartChange[] = [];
  const at = { before: 0, after: 0 };
  for (let index = 0; index < runs.length; index += 1) {
    const run = runs[index] as (typeof runs)[number];
    if (run.change === 'same') {
      for (const part of after.slice(at.after, at.after + run.count)) changes.push(changeOf('same', part));
      at.before += run.count;
      at.after += run.count;
      continue;
    }
    // A run of added parts follows one of removed parts, or the other way around.
    const next = runs[index + 1];
    const both = next && next.change !== 'same' && next.change !== run.change ? [run, next] : [run];
    if (both.length === 2) index += 1;
    const removed = both.find(({ change }) => change === 'removed')?.count ?? 0;
    const added = both.find(({ change }) => change === 'added')?.count ?? 0;
    changes.push(
      ...replacedParts(before.slice(at.before, at.before + removed), after.slice(at.after, at.after + added)),
    );
    at.before += removed;
    at.after += added;
  }
  return changes;
}

function replacedParts(removed: readonly CallPart[], added: readonly CallPart[]): PartChange[] {
  const left = [...removed];
  const changes = added.map((part): PartChange => {
    const twin = left.findIndex(
      (one) => one.type === part.type && one.kind === part.kind && one.role === part.role,
    );
    if (twin < 0) return changeOf('added', part);
    const [earlier] = left.splice(twin, 1) as [CallPart];
    return { ...changeOf('changed', part), hunks: textChanges(earlier.text, part.text) };
  });
  return [...left.map((part) => changeOf('removed', part)), ...changes];
}

function changeOf(change: PartChange['change'], { kind, role, path, text }: CallPart): PartChange {
  const hunks = change === 'added' || change === 'removed' ? wholeText(change, text) : [];
  return { change, kind, role, path, characters: text.length, hunks };
}
