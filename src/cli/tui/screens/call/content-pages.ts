import type { Client } from '../../../../shared/client.ts';
import type { TraceContent } from '../../../../shared/contract/content.ts';
import type { TraceView } from '../../../../shared/contract/traces.ts';
import { getTraceContent } from '../../../../shared/endpoints.ts';
import { ReceivedError } from '../../../../shared/faults/received-error.ts';
import { type CallText, type TextPart as Part, textWith } from '../../../../view/call-text.ts';
import { type StoredContent, storedContent } from '../../../content/call-content.ts';

/** Longer bodies are shown as they are, page by page: they are not read to be laid out as a conversation. */
const readableCharactersMax = 4 * 1024 * 1024;

/** A body that is fetched page by page. */
export interface Body extends CallText {
  /** The JSON, once all of it is there. */
  json: unknown;
}

/** What is kept of one call, each part fetched when it is first shown. */
export class ContentPages {
  readonly bodies: { request?: Body; answer?: Body } = {};
  content: Partial<TraceContent> = {};
  /** The stored response, where the content itself is not kept. */
  stored: StoredContent | undefined;
  /** Why nothing is kept: a sentence. */
  reason: string | undefined;
  readonly #client: Client;
  readonly #trace: TraceView;
  #paging: Promise<void> | undefined;
  readonly #loads = new Map<string, Promise<void>>();

  constructor(client: Client, trace: TraceView) {
    this.#client = client;
    this.#trace = trace;
  }

  /** Fetches a part once. */
  load(part: Part | 'attempts' | 'composition'): Promise<void> {
    let loading = this.#loads.get(part);
    if (!loading) {
      loading = this.#load(part).catch((error: unknown) => {
        this.#loads.delete(part);
        throw error;
      });
      this.#loads.set(part, loading);
    }
    return loading;
  }

  async #load(part: Part | 'attempts' | 'composition'): Promise<void> {
    try {
      const found = await this.#fetch(part, 0);
      this.content = { ...this.content, ...definedOf(found) };
      if (part !== 'request' && part !== 'answer') return;
      const body = textWith(found, part);
      if (!body) return;
      this.bodies[part] = { ...body, json: undefined };
      if (body.bytes <= readableCharactersMax) await this.#loadAll(part);
    } catch (error) {
      if (!(error instanceof ReceivedError)) throw error;
      this.reason = error.message;
      const isStored = this.#trace.response_id !== null && (part === 'request' || part === 'answer');
      if (isStored && !this.stored) {
        this.stored = await storedContent(this.#client, this.#trace.response_id ?? '').catch(() => undefined);
      }
    }
  }

  async #loadAll(part: Part): Promise<void> {
    while (this.bodies[part]?.next != null) await this.more(part);
    const body = this.bodies[part];
    if (body) body.json = parsed(body.text);
  }

  /** Fetches the next page of a body; while one is being fetched, that one. */
  more(part: Part): Promise<void> {
    this.#paging ??= this.#more(part).finally(() => {
      this.#paging = undefined;
    });
    return this.#paging;
  }

  async #more(part: Part): Promise<void> {
    const body = this.bodies[part];
    if (!body || body.next === null) return;
    Object.assign(body, textWith(await this.#fetch(part, body.next), part, body));
  }

  async #fetch(part: Part | 'attempts' | 'composition', at: number): Promise<TraceContent> {
    const params = { request_id: this.#trace.request_id };
    return await this.#client.call(getTraceContent, { params, query: { part, ...(at > 0 && { at }) } });
  }
}

function definedOf(content: TraceContent): Partial<TraceContent> {
  return Object.fromEntries(Object.entries(content).filter(([, value]) => value !== null));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
