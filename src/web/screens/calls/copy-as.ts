import { replayedHeaders } from '../../../shared/replay/prepare-replay.ts';
import { curlCode, javaScriptCode, pythonCode, type WrittenCall } from '../../../shared/samples/call-code.ts';
import { respondCommand } from '../../../shared/samples/respond-command.ts';
import { typed } from '../../data/command.ts';

/** A captured request, to be sent again by other programs. */
export interface CopiedCall {
  /** `http://127.0.0.1:4100` */
  baseUrl: string;
  requestId: string;
  /** The path of the endpoint. */
  endpoint: string;
  headers: readonly { name: string; value: string }[];
  /** The body as it was received. */
  body: string;
}

export const copyForms = {
  curl: { title: 'curl', textOf: asCurl },
  cli: { title: 'gateway', textOf: asCommand },
  javascript: { title: 'JavaScript SDK', textOf: (call: CopiedCall) => withKey('//', javaScriptCode, call) },
  python: { title: 'Python SDK', textOf: (call: CopiedCall) => withKey('#', pythonCode, call) },
  json: { title: 'JSON', textOf: ({ body }: CopiedCall) => body },
} as const;

export type CopyForm = keyof typeof copyForms;

/** The key is read when the command runs, so that it reaches neither clipboard nor history. */
const defaultKey = typed('$(gateway keys default)');

function written({ baseUrl, endpoint, headers, body }: CopiedCall): WrittenCall {
  return {
    method: 'POST',
    baseUrl,
    path: endpoint,
    headers: replayedHeaders(headers),
    needsKey: true,
    body: parsed(body),
    answer: 'json',
  };
}

function asCurl(call: CopiedCall): string {
  return curlCode(written(call), { key: defaultKey, bodyText: call.body });
}

function withKey(comment: string, code: (call: WrittenCall) => string, call: CopiedCall): string {
  return `${comment} export GATEWAY_KEY=${defaultKey}\n${code(written(call))}\n`;
}

/** What `gateway respond` cannot ask is repeated by its id. */
function asCommand({ requestId, body }: CopiedCall): string {
  const request = parsed(body);
  const known = isObject(request) ? respondCommand(request) : undefined;
  return typed(known && 'command' in known ? known.command : `gateway calls replay ${requestId}`);
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
