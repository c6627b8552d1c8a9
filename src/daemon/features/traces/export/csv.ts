import type { TraceView } from '../../../../shared/contract/traces.ts';
import type { ExportContent } from '../../../../shared/contract/traces-export.ts';
import { type CsvDelimiter, csvRow } from '../../../../shared/text/csv.ts';
import type { ExportedCall, ExportWriter } from './exported-call.ts';

type Cell = string | number | boolean | null | undefined;

const columns: Record<string, (view: TraceView) => Cell> = {
  request_id: ({ request_id: id }) => id,
  created_at: ({ created_at: at }) => at,
  completed_at: ({ completed_at: at }) => at,
  endpoint: ({ endpoint }) => endpoint,
  model: ({ model }) => model,
  provider: ({ provider }) => provider,
  key: ({ key }) => key,
  status: ({ status }) => status,
  error_code: ({ error_code: code }) => code,
  http_status: ({ http_status: status }) => status,
  message: ({ rejection, attempts }) =>
    rejection?.message ?? attempts.findLast((one) => one.message)?.message,
  streamed: ({ streamed }) => streamed,
  finish_reason: ({ finish_reason: reason }) => reason,
  client: ({ client }) => client,
  user: ({ user }) => user,
  conversation: ({ conversation }) => conversation,
  tags: ({ tags }) =>
    Object.entries(tags)
      .map(([name, value]) => `${name}=${value}`)
      .join(','),
  replay_of: ({ replay_of: repeated }) => repeated,
  cache: ({ cache }) => cache,
  attempts: ({ attempts }) => attempts.length,
  input_tokens: ({ tokens }) => tokens.input,
  cached_input_tokens: ({ tokens }) => tokens.cached_input,
  cache_write_tokens: ({ tokens }) => tokens.cache_write,
  output_tokens: ({ tokens }) => tokens.output,
  reasoning_tokens: ({ tokens }) => tokens.reasoning,
  tokens_reported: ({ tokens_reported: reported }) => reported,
  cost_usd: ({ cost }) => cost?.total_usd,
  provider_cost_usd: ({ cost }) => cost?.provider_usd,
  charged_usd: ({ charged_usd: charged }) => charged,
  own_key: ({ own_key: own }) => own,
  first_token_ms: ({ timings }) => timings.first_token_ms,
  total_ms: ({ timings }) => timings.total_ms,
  more: ({ rejection }) => rejection?.more,
};

/** A row per call, after RFC 4180. */
export function csvWriter(wanted: ExportContent, delimiter?: CsvDelimiter): ExportWriter {
  const hasTexts = wanted !== 'none';
  const titles = [...Object.keys(columns), ...(hasTexts ? ['request', 'answer'] : [])];
  const call = ({ view, content }: ExportedCall) =>
    csvRow(
      [
        ...Object.values(columns).map((value) => value(view)),
        ...(hasTexts ? [content?.body?.text, content?.answer?.text] : []),
      ],
      delimiter,
    );
  return { head: csvRow(titles, delimiter), call, tail: '' };
}
