import { hash } from 'node:crypto';
import { conventionAnswer, conventionRequest } from '../../shared/formats/convention-messages.ts';
import { jsonOrText } from '../../shared/json/json-object.ts';
import type { UsageRecord } from '../features/metering/index.ts';
import type { ExportedContent, Rejection } from '../features/traces/index.ts';
import type { Attributes } from './attributes.ts';
import { type CallSpan, finishedCallSpans, rejectedCallSpan } from './call-spans.ts';

/*
 * Calls in the JSON form of OTLP, as a file of a collector has them. Sources: "OpenTelemetry Protocol File Exporter", and
 * the semantic conventions for generative AI for the attributes of messages.
 */

const spanKinds = { server: 2, client: 3 } as const;
const statusError = 2;

interface OtlpSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: object }[];
  status: object;
}

/** Writes a call as one `ExportTraceServiceRequest`. Ids follow from the request's id: the same call has the same ones each time. */
export function otlpLineWriter(version: string) {
  const resource = { attributes: keyValues({ 'service.name': 'gateway', 'service.version': version }) };
  const scope = { name: 'gateway', version };
  return (record: UsageRecord | Rejection, content: ExportedContent | undefined): string => {
    const spans = spansOf(record, content);
    return JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ scope, spans }] }] });
  };
}

function spansOf(record: UsageRecord | Rejection, content: ExportedContent | undefined): OtlpSpan[] {
  const { requestId } = record;
  const traceId = idOf(requestId, 32);
  const rootId = idOf(`${requestId} 0`, 16);
  const finishReason = 'more' in record ? null : (record.trace?.finishReason ?? null);
  const messages = content === undefined ? {} : messageAttributes(content, finishReason);
  if ('more' in record) {
    const { endpoint, errorCode: code, completedAt: at, totalMs: ms, more } = record;
    const span = rejectedCallSpan({ endpoint, requestId, code, at, ms });
    const attributes = {
      ...span.attributes,
      ...(more > 0 && { 'gateway.rejected.more': more }),
      ...messages,
    };
    return [otlpSpan({ ...span, attributes }, { traceId, spanId: rootId })];
  }
  // How long the settlement took is not recorded.
  const { request, attempts } = finishedCallSpans(record, 0);
  return [
    otlpSpan(request, { traceId, spanId: rootId }),
    ...attempts.map((attempt, index) => {
      const isLast = index === attempts.length - 1;
      const attributes = isLast ? { ...attempt.attributes, ...messages } : attempt.attributes;
      const spanId = idOf(`${requestId} ${index + 1}`, 16);
      return otlpSpan({ ...attempt, attributes }, { traceId, spanId, parentSpanId: rootId });
    }),
  ];
}

function idOf(text: string, characters: number): string {
  return hash('sha256', text).slice(0, characters);
}

function otlpSpan(
  { name, kind, startedAt, endedAt, attributes, isError }: CallSpan,
  ids: Pick<OtlpSpan, 'traceId' | 'spanId' | 'parentSpanId'>,
): OtlpSpan {
  return {
    ...ids,
    name,
    kind: spanKinds[kind],
    startTimeUnixNano: nanoseconds(startedAt),
    endTimeUnixNano: nanoseconds(endedAt),
    attributes: keyValues(attributes),
    status: isError ? { code: statusError } : {},
  };
}

function nanoseconds(ms: number): string {
  return `${BigInt(Math.round(ms * 1000)) * 1000n}`;
}

function keyValues(attributes: Attributes): { key: string; value: object }[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: anyValue(value) }));
}

function anyValue(value: Attributes[string]): object {
  if (Array.isArray(value)) return { arrayValue: { values: value.map(anyValue) } };
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

/** What was said, as JSON in attributes. */
function messageAttributes({ body, answer }: ExportedContent, finishReason: string | null): Attributes {
  const asked = conventionRequest(contentOf(body?.text));
  const texts: [name: string, value: object[]][] = [
    ['gen_ai.system_instructions', asked.instructions],
    ['gen_ai.tool.definitions', asked.tools],
    ['gen_ai.input.messages', asked.messages],
    ['gen_ai.output.messages', conventionAnswer(contentOf(answer?.text), finishReason)],
  ];
  const known = texts.filter(([_name, value]) => value.length > 0);
  return Object.fromEntries(known.map(([name, value]) => [name, JSON.stringify(value)]));
}

function contentOf(text: string | undefined): unknown {
  return text === undefined ? undefined : jsonOrText(text);
}
