import { Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { listTraces } from './traces.ts';

export const exportFormats = ['jsonl', 'csv', 'har', 'otlp'] as const;
export const exportContents = ['none', 'text', 'wire'] as const;

export type ExportFormat = (typeof exportFormats)[number];
export type ExportContent = (typeof exportContents)[number];

export const exportContentTypes: Record<ExportFormat, string> = {
  jsonl: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8',
  har: 'application/har+json',
  otlp: 'application/x-ndjson; profile=otlp',
};

const { limit: _limit, fields: _fields, sort: _sort, ...filters } = listTraces.query.properties;

export const exportTraces = endpoint({
  id: 'exportTraces',
  method: 'GET',
  path: '/v1/traces/export',
  summary: 'Export traces.',
  description: [
    'All finished and rejected requests that match, as a stream, most recent first. `jsonl`: a trace as of `GET /v1/traces` per line.',
    '`csv`: a row per request, with a header; cells that a spreadsheet would take for formulas begin with an apostrophe. `har`: one document',
    'in the HTTP Archive format 1.2. `otlp`: one `ExportTraceServiceRequest` per line, with a span for the request and one per attempt.',
    'A stream that broke off is continued by `after` with the id of the last request that was received as a whole.',
    'At most four exports run at a time; they are read in slices, so that calls do not wait for them.',
  ].join(' '),
  tag: 'Traces',
  access: listTraces.access,
  query: Type.Object({
    ...filters,
    format: Type.Optional(
      Type.Enum([...exportFormats], { default: 'jsonl', description: 'What each request is written as.' }),
    ),
    delimiter: Type.Optional(
      Type.Enum(['comma', 'semicolon', 'tab'], {
        default: 'comma',
        description: 'What separates the cells of CSV. With semicolons, numbers have decimal commas.',
      }),
    ),
    content: Type.Optional(
      Type.Enum([...exportContents], {
        default: 'none',
        description:
          'With what was asked and answered, where it is kept: `text` adds request and answer, `wire` also headers and what was sent to each provider. Keys need the scope `content:read`.',
      }),
    ),
  }),
  result: Type.String(),
  contentType: Object.values(exportContentTypes),
  errors: ['rate_limited'],
});
