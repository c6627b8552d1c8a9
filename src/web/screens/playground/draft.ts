import { signal } from '@preact/signals';
import { getTrace } from '../../../shared/endpoints.ts';
import {
  isReplayed,
  type ReplayedEndpoint,
  whyNotRepeatable,
} from '../../../shared/replay/prepare-replay.ts';
import { call } from '../../data/api.ts';
import { readText } from '../../data/call-text.ts';

export type Json = Record<string, unknown>;

export const lanesMax = 4;
export const repeatsMax = 20;

/** A request that is being written, and the models that it is for. It stays in the tab. */
export interface Draft {
  endpoint: ReplayedEndpoint;
  body: Json;
  models: readonly string[];
  /** How often each model is asked. */
  repeat: number;
  /** The id of the request that it repeats. */
  replayOf: string | undefined;
  /** Why the request cannot be repeated as it was. */
  warning: string | undefined;
}

const storageKey = 'gateway.playground';

export const emptyDraft: Draft = {
  endpoint: '/v1/responses',
  body: { input: '' },
  models: [''],
  repeat: 1,
  replayOf: undefined,
  warning: undefined,
};

export const draft = signal<Draft>(stored() ?? emptyDraft);

draft.subscribe((value) => {
  try {
    sessionStorage.setItem(storageKey, JSON.stringify(value));
  } catch {
    // A long request does not fit; it is lost with the page.
  }
});

function stored(): Draft | undefined {
  const text = sessionStorage.getItem(storageKey);
  // Only this module writes it.
  return text === null ? undefined : { ...emptyDraft, ...(JSON.parse(text) as Draft) };
}

export function change(changes: Partial<Draft>): void {
  draft.value = { ...draft.value, ...changes };
}

/** Changes members of the request; undefined removes one. */
export function changeBody(members: Json): void {
  const body = { ...draft.value.body, ...members };
  for (const [name, value] of Object.entries(members)) if (value === undefined) delete body[name];
  change({ body });
}

/** Takes a captured request as the draft. Rejects with the error of the daemon, or a sentence if it cannot be repeated. */
export async function loadRequest(id: string, model: string | undefined, signal: AbortSignal): Promise<void> {
  const [trace, { text }] = await Promise.all([
    call(getTrace, { params: { request_id: id } }, { signal }),
    readText(id, 'request', { signal }),
  ]);
  const { endpoint } = trace;
  if (!isReplayed(endpoint)) throw new TypeError(`Calls of ${endpoint} cannot be repeated.`);
  if (text === undefined) throw new TypeError('Nothing was kept of the request.');
  const body = objectIn(text.text);
  if (body === undefined) throw new TypeError('The request is not a JSON object.');
  draft.value = {
    endpoint,
    body,
    models: [...new Set([String(body.model ?? trace.model ?? ''), ...(model ? [model] : [])])],
    repeat: 1,
    replayOf: id,
    warning: whyNotRepeatable(text.text, text.isPartial),
  };
}

export function objectIn(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
  } catch {
    return undefined;
  }
}
