import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { KnownSecrets } from '../../shared/masking/known-secrets.ts';
import { maskText } from '../../shared/masking/mask-text.ts';
import { inWords } from '../../shared/text/in-words.ts';
import { type OtlpConfig, otlpProtocols } from '../config/telemetry.ts';

/** What a collector says to an export without spans, and what to change; `remedy` is null where nothing is wrong. */
export interface CollectorAnswer {
  problem: 'key' | 'path' | 'protocol' | 'unreachable' | 'partial' | 'failing' | null;
  message: string;
  remedy: string | null;
}

const timeoutMs = 5_000;
/** Of an answer, so much is read and shown. */
const readMax = 64 * 1024;
const shownMax = 200;

const ok = (message: string): CollectorAnswer => ({ problem: null, message, remedy: null });

/** Sends an export without spans, as spans are sent, and says what keeps them from arriving. */
export async function askCollector(config: OtlpConfig): Promise<CollectorAnswer> {
  const { protocol } = config;
  if (!otlpProtocols.some((one) => one === protocol))
    return {
      problem: 'protocol',
      message: `no spans are sent: ${protocol} is not supported`,
      remedy: `Set OTEL_EXPORTER_OTLP_PROTOCOL to ${inWords(otlpProtocols, 'or')}.`,
    };
  try {
    return answerOf(await sendEmpty(config), config);
  } catch (error) {
    return failureOf(error as NodeJS.ErrnoException, config);
  }
}

interface HttpAnswer {
  status: number;
  type: string;
  location: string | undefined;
  text: string;
}

function sendEmpty({ url, headers, protocol }: OtlpConfig): Promise<HttpAnswer> {
  const isJson = protocol === 'http/json';
  // In protobuf, a request without spans has no bytes.
  const body = isJson ? '{"resourceSpans":[]}' : '';
  const type = isJson ? 'application/json' : 'application/x-protobuf';
  const request = url.startsWith('https:') ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': type, 'content-length': Buffer.byteLength(body) },
      agent: false,
      signal: AbortSignal.timeout(timeoutMs),
    });
    sent.on('error', reject);
    sent.on('response', (response) => {
      read(response).then((text) => {
        const { statusCode = 0, headers: received } = response;
        const { 'content-type': answered = '', location } = received;
        resolve({ status: statusCode, type: answered, location, text });
      }, reject);
    });
    sent.end(body);
  });
}

async function read(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) {
    text += chunk;
    if (text.length > readMax) break;
  }
  return text;
}

function answerOf({ status, type, location, text }: HttpAnswer, config: OtlpConfig): CollectorAnswer {
  const said = status >= 400 && text ? `: ${shown(text, config)}` : '';
  const answered = `it answers ${status}${said}`;
  if (status === 401 || status === 403) {
    const names = Object.keys(config.headers);
    const sent =
      names.length === 0 ? 'no header with a key is sent' : `the headers sent are ${inWords(names, 'and')}`;
    const remedy = 'Set OTEL_EXPORTER_OTLP_HEADERS to what it expects, such as authorization=Bearer%20KEY.';
    return { problem: 'key', message: `${answered}; ${sent}`, remedy };
  }
  if (status >= 300 && status < 400)
    return {
      problem: 'path',
      message: `${answered}, and names ${location ?? 'another address'}, which is not followed`,
      remedy: pathRemedy(config),
    };
  if (status === 404 || status === 405 || (status < 300 && type.startsWith('text/html'))) {
    const message = status < 300 ? 'it answers with a web page' : answered;
    return { problem: 'path', message, remedy: pathRemedy(config) };
  }
  if (status === 415 || status === 406 || (status === 400 && text !== '' && config.protocol === 'http/json'))
    return {
      problem: 'protocol',
      message: `${answered}, to ${config.protocol}`,
      remedy: protocolRemedy(config),
    };
  // Some refuse a request without spans, and take those that have some.
  if (status === 400) return ok(`${answered}, to an export without spans`);
  if (status >= 400)
    return {
      problem: 'failing',
      message: answered,
      remedy: 'Look at the log of the collector; spans are sent again.',
    };
  return partialIn(text, config) ?? ok(`it takes spans (${config.protocol})`);
}

/** A collector may say that it refused something although all is well: only spans or a message count. */
function partialIn(text: string, config: OtlpConfig): CollectorAnswer | undefined {
  let body: { partialSuccess?: { rejectedSpans?: number | string; errorMessage?: string } | null };
  try {
    body = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { rejectedSpans = 0, errorMessage = '' } = body?.partialSuccess ?? {};
  if (Number(rejectedSpans) === 0 && errorMessage === '') return undefined;
  const why = errorMessage === '' ? '' : `: ${shown(errorMessage, config)}`;
  return {
    problem: 'partial',
    message: `it takes only a part of what is sent${why}`,
    remedy:
      'Change what the collector refuses; gateway_spans_total of /metrics counts the spans that are lost.',
  };
}

function failureOf({ code = '', message, name }: NodeJS.ErrnoException, config: OtlpConfig): CollectorAnswer {
  const { url } = config;
  const { host, port, protocol } = new URL(url);
  // Of HTTP/2, and so of gRPC, the first bytes are no answer of HTTP/1.1; some close the connection.
  if (code.startsWith('HPE_') || (/^(ECONNRESET|EPIPE)$/.test(code) && port === '4317')) {
    const remedy = 'Name its port for HTTP, which usually is 4318 and not 4317.';
    return {
      problem: 'protocol',
      message: `${host} does not speak HTTP/1.1; it may be a port for gRPC`,
      remedy,
    };
  }
  if (protocol === 'https:' && /^(EPROTO|ERR_SSL_.*)$/.test(code)) {
    const remedy = 'If it has no TLS, write http:// in the address.';
    return { problem: 'unreachable', message: `${host} does not speak TLS (${code})`, remedy };
  }
  const isLate = name === 'TimeoutError' || name === 'AbortError';
  const why = isLate ? `no answer within ${timeoutMs / 1000} seconds` : code || message;
  return {
    problem: 'unreachable',
    message: `${host} cannot be reached: ${why}`,
    remedy: 'Start the collector, or correct OTEL_EXPORTER_OTLP_ENDPOINT.',
  };
}

function pathRemedy({ url }: OtlpConfig): string {
  const { pathname } = new URL(url);
  const where = `Spans are sent to ${pathname}.`;
  return `${where} OTEL_EXPORTER_OTLP_ENDPOINT gets /v1/traces appended; OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is used as it is.`;
}

function protocolRemedy({ protocol }: OtlpConfig): string {
  const [other] = otlpProtocols.filter((one) => one !== protocol);
  return `Set OTEL_EXPORTER_OTLP_PROTOCOL=${other}.`;
}

/** The beginning of what a collector says, which may repeat the key. */
function shown(text: string, { headers }: OtlpConfig): string {
  const line = maskText(text, { known: new KnownSecrets(Object.values(headers)) })
    .replaceAll(/\s+/g, ' ')
    .trim();
  return line.length > shownMax ? `${line.slice(0, shownMax)}…` : line;
}
