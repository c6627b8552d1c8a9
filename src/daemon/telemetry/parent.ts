import { RecentMap } from '../../shared/recent-map.ts';
/** The parent span from a `traceparent` header. */
export interface ParentSpan {
  traceId: string;
  spanId: string;
  traceFlags: number;
}

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Undefined if invalid. Source: W3C Trace Context, whose later versions may append fields. */
function parseTraceParent(text: string): ParentSpan | undefined {
  const [, version, traceId = '', spanId = '', flags = '', more] = form.exec(text.trim()) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1 };
}

const parentsMax = 4096;

/** The parents of requests in progress. Entries of calls that never settle are evicted by later ones. */
export class Parents {
  readonly #parents = new RecentMap<string, ParentSpan>(parentsMax);

  note(requestId: string, header: string | string[]): void {
    const parent = typeof header === 'string' ? parseTraceParent(header) : undefined;
    if (parent === undefined) return;
    this.#parents.set(requestId, parent);
  }

  take(requestId: string): ParentSpan | undefined {
    if (this.#parents.size === 0) return undefined;
    const parent = this.#parents.get(requestId);
    this.#parents.delete(requestId);
    return parent;
  }
}
