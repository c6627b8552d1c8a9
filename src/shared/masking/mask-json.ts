import { isObject } from '../json/json-object.ts';
import { isExactNumber, parseExactly } from '../json/json-text.ts';
import { KnownSecrets } from './known-secrets.ts';
import { isSecretHeader } from './mask-headers.ts';
import { addCredential, type MaskOptions, maskServerUrl, maskText, removedText } from './mask-text.ts';

type Json = Record<string, unknown>;

/** The tools that a request names, of OpenAI's and of Anthropic's format. */
export interface ToolMembers {
  tools?: unknown;
  mcp_servers?: unknown;
}

/** A JSON text without secrets, those of MCP servers included. */
export function maskJsonText(text: string, options: MaskOptions = {}): string {
  const known = options.known ?? new KnownSecrets();
  return maskText(namesServers.test(text) ? maskServers(text, known) : text, { ...options, known });
}

const namesServers = /"(?:mcp_servers|server_url|type"\s{0,16}:\s{0,16}"mcp)"/;

function maskServers(text: string, known: KnownSecrets): string {
  try {
    const value = parseExactly(text);
    const masked = maskServersIn(value, known);
    return masked === value ? text : JSON.stringify(masked);
  } catch {
    // It is no JSON, or nested too deeply.
    return text;
  }
}

/** Every string of a JSON value without secrets, and the names of members. */
export function maskJson(value: unknown, known = new KnownSecrets()): unknown {
  return maskStrings(maskServersIn(value, known), known);
}

function maskStrings(value: unknown, known: KnownSecrets): unknown {
  if (typeof value === 'string') return maskText(value, { known });
  if (Array.isArray(value)) return value.map((item) => maskStrings(item, known));
  if (!isPlain(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const isSecret = typeof member === 'string' && isSecretMember.test(name) && member !== '';
      if (isSecret) addCredential(known, member);
      return [maskText(name, { known }), isSecret ? removedText : maskStrings(member, known)];
    }),
  );
}

const isSecretMember =
  /^(?:(?:proxy-)?authorization|authorization_token|(?:x-)?(?:goog-)?api[-_]?key|client_secret|(?:access|refresh)_token|password)$/i;

/** The same value if it names no MCP server. */
function maskServersIn(value: unknown, known: KnownSecrets, isServer = false): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => maskServersIn(item, known, isServer));
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  if (!isPlain(value)) return value;
  if (isServer || isMcpServer(value)) return maskServer(value, known);
  let masked: Json | undefined;
  for (const [name, member] of Object.entries(value)) {
    const clean = maskServersIn(member, known, name === 'mcp_servers');
    if (clean === member) continue;
    masked ??= { ...value };
    masked[name] = clean;
  }
  return masked ?? value;
}

function isMcpServer(value: Json): boolean {
  return value.type === 'mcp' || typeof value.server_url === 'string';
}

/** An MCP server as it may be kept and shown: what gives access to it has to be sent with each request. */
function maskServer(server: Json, known: KnownSecrets): Json {
  const masked: Json = {};
  for (const name of ['authorization', 'authorization_token']) {
    const value = server[name];
    if (typeof value !== 'string' || value === removedText) continue;
    addCredential(known, value);
    masked[name] = removedText;
  }
  for (const name of ['server_url', 'url']) {
    const url = server[name];
    const clean = typeof url === 'string' ? maskServerUrl(url, known) : url;
    if (clean !== url) masked[name] = clean;
  }
  if (isObject(server.headers)) masked.headers = maskServerHeaders(server.headers, known);
  return Object.keys(masked).length === 0 ? server : { ...server, ...masked };
}

function maskServerHeaders(headers: Json, known: KnownSecrets): Json {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      if (typeof value !== 'string') return [name, value];
      if (isSecretHeader(name)) addCredential(known, value);
      else known.addUnusual(value);
      return [name, removedText];
    }),
  );
}

/** A tool as an answer repeats it. As in OpenAI's API, the credential of an MCP server is left out. */
export function shownTool(tool: Json): Json {
  if (!isMcpServer(tool)) return tool;
  const { authorization: _secret, ...shown } = maskServer(tool, new KnownSecrets());
  return shown;
}

/** The secrets of the MCP servers that a request names. */
export function secretsOfServers({ tools, mcp_servers }: ToolMembers): KnownSecrets {
  const known = new KnownSecrets();
  if (Array.isArray(tools)) maskServersIn(tools, known);
  if (Array.isArray(mcp_servers)) maskServersIn(mcp_servers, known, true);
  return known;
}

/** Whether a text has a secret, those of the MCP servers of its request included. */
export function hasSecret(text: string, request: ToolMembers = {}): boolean {
  return maskText(text, { known: secretsOfServers(request) }) !== text;
}

function isPlain(value: unknown): value is Json {
  return isObject(value) && !isExactNumber(value);
}
