import type { ExportContent } from '../../../../shared/contract/traces-export.ts';
import { type ExportedCall, type ExportWriter, headersOf, jsonOrText } from './exported-call.ts';

/** A trace per line, with its content as members. */
export function jsonlWriter(wanted: ExportContent): ExportWriter {
  return { head: '', call: (call) => `${JSON.stringify(rowOf(call, wanted))}\n`, tail: '' };
}

function rowOf({ view, content }: ExportedCall, wanted: ExportContent): object {
  if (wanted === 'none') return view;
  if (content === undefined) return { ...view, content: null };
  const { body, answer, attempts, headers } = content;
  const texts = { request: jsonOrText(body), answer: jsonOrText(answer) };
  const isPartial = [body, answer].some((text) => text?.isPartial === true);
  if (wanted === 'text') return { ...view, content: { ...texts, is_partial: isPartial } };
  const sent = attempts.map((attempt) => ({
    provider: attempt.provider,
    url: attempt.url,
    headers: headersOf(attempt.headers),
    body: jsonOrText(attempt.body),
    status: attempt.status,
    response_headers: headersOf(attempt.received),
    response_body: jsonOrText(attempt.refusal),
  }));
  return {
    ...view,
    content: { headers: headersOf(headers), ...texts, is_partial: isPartial, attempts: sent },
  };
}
