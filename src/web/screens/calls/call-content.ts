import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { getTraceContent as contract } from '../../../shared/contract/content.ts';
import type { Input, Result } from '../../../shared/contract/endpoint.ts';
import { getTraceContent } from '../../../shared/endpoints.ts';
import { type CallText, readOn, textWith } from '../../../view/call-text.ts';
import { firstPageOf, pageReader } from '../../data/call-text.ts';
import { type Query, useQuery } from '../../data/query.ts';

/** Texts are read in pieces of 256 KiB; up to this length without a question. */
const readCharactersMax = 2 * 1024 * 1024;

type ContentQuery = Input<typeof contract>['query'];

/** The content that each tab of a call shows; the comparison reads that of two calls itself. */
export const contentQueries = {
  conversation: firstPageOf('request'),
  timeline: { part: 'composition' },
  request: firstPageOf('request'),
  answer: firstPageOf('answer'),
  attempts: { part: 'attempts' },
  cost: undefined,
  diff: undefined,
  // The shortest page of the request that has them.
  headers: { part: 'request', limit: 1 },
  raw: undefined,
} as const satisfies Record<string, ContentQuery | undefined>;

/** Content of a call. Without a query, nothing is asked for. */
export function useContent(id: string, query: ContentQuery | undefined): Query<Result<typeof contract>> {
  const params = { request_id: id };
  const content = useQuery(query && getTraceContent, { params, query: query ?? {} });
  // There was none while the call ran: what is asked again once it has ended may be there.
  return content.isLoading ? { ...content, error: undefined } : content;
}

interface Reading {
  text: CallText | undefined;
  error: unknown;
  /** Whether more of it is being read. */
  isLoading: boolean;
  /** Reads the rest of a long text. */
  readAll: () => void;
}

/** The body of a request or an answer, piece by piece. */
export function useCallText(id: string, part: 'request' | 'answer'): Reading {
  const { data: begun, error, isLoading } = useContent(id, contentQueries[part]);
  const first = useMemo(() => begun && textWith(begun, part), [begun, part]);
  const more = useSignal<CallText | undefined>(undefined);
  const failure = useSignal<unknown>(undefined);
  const max = useSignal(readCharactersMax);
  const wanted = max.value;
  useEffect(() => {
    const known = more.peek() ?? first;
    if (!known) return;
    const abort = new AbortController();
    const onPage = (text: CallText) => {
      more.value = text;
    };
    const pageAt = pageReader(id, part, abort);
    readOn(known, part, pageAt, { max: wanted, onPage }).catch((reason) => {
      if (!abort.signal.aborted) failure.value = reason;
    });
    return () => abort.abort();
  }, [id, part, wanted, first, more, failure]);
  const text = more.value ?? first;
  return {
    text,
    error: begun ? failure.value : error,
    isLoading: text ? text.next !== null && text.text.length < wanted : isLoading,
    readAll: () => {
      max.value = Number.POSITIVE_INFINITY;
    },
  };
}
