/** A JSON-RPC message as far as it has to be understood here to be passed on. */
export interface Message {
  id: string | number | undefined;
  method: string | undefined;
  params: Record<string, unknown>;
}

/** The daemon tells what is wrong with a message; here, one that cannot be read has no parts. */
export function messageOf(line: string): Message {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {}
  const { id, method, params } = objectOf(value);
  return {
    id: typeof id === 'string' || typeof id === 'number' ? id : undefined,
    method: typeof method === 'string' ? method : undefined,
    params: objectOf(params),
  };
}

const versionMember = 'io.modelcontextprotocol/protocolVersion';

/** Which parameter names what a request is for. */
const nameMembers: Record<string, string> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};

/**
 * What a message says over stdio in its body alone and over HTTP in headers too. Source: the Model Context Protocol,
 * revisions 2025-06-18 (version) and 2026-07-28 (method and name), streamable HTTP.
 */
export function headersOf({ method, params }: Message, agreed: string | undefined): Record<string, string> {
  const claimed = objectOf(params._meta)[versionMember];
  const version = typeof claimed === 'string' ? claimed : agreed;
  const headers: Record<string, string> = {};
  if (version !== undefined) headers['mcp-protocol-version'] = headerText(version);
  if (typeof claimed !== 'string' || method === undefined) return headers;
  headers['mcp-method'] = headerText(method);
  const name = params[nameMembers[method] ?? ''];
  if (typeof name === 'string') headers['mcp-name'] = headerText(name);
  return headers;
}

/** What is more than visible ASCII travels as base64 between marks. */
function headerText(text: string): string {
  if (/^[\x21-\x7e]+$/.test(text) && !text.startsWith('=?base64?')) return text;
  return `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

export function objectOf(value: unknown): Record<string, unknown> {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as Record<string, unknown>) : {};
}
