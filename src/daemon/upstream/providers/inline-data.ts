import { ownValue } from '../../../shared/json/json-object.ts';
import { decodePercent } from '../../../shared/text/decode-percent.ts';

/** Bytes with their MIME type, as providers accept them inline. */
export interface InlineData {
  mimeType: string;
  /** Base64, without line breaks. */
  data: string;
}

/** Images by the beginning of their base64. */
const imageStarts: readonly (readonly [start: RegExp, type: string])[] = [
  [/^iVBORw0KGgo/, 'image/png'],
  [/^\/9j\//, 'image/jpeg'],
  [/^R0lGOD[dl]h/, 'image/gif'],
  [/^UklGR.{7}RUJQ/, 'image/webp'],
];

const startCharacters = 16;

/**
 * The type of what claims to be an image, or says nothing, by its first bytes: clients go by the name of a file, and providers
 * refuse what is not as it is called. Also the registered name of `image/jpg`. Source: BerriAI/litellm#24900, home-assistant/core#167208.
 */
export function realType(mimeType: string, base64: string): string {
  if (!/^(image\/.*|application\/octet-stream|)$/.test(mimeType)) return mimeType;
  const start = base64.slice(0, startCharacters);
  const real = imageStarts.find(([pattern]) => pattern.test(start))?.[1];
  return real ?? (mimeType === 'image/jpg' ? 'image/jpeg' : mimeType);
}

/** A URL of an image; a `data:` URL with its real type. */
export function imageUrl(url: string): string {
  const parts = partsOf(url);
  if (!parts?.isBase64) return url;
  const { mimeType, from } = parts;
  const real = realType(mimeType, url.slice(from, from + startCharacters));
  return real === mimeType ? url : `data:${real}${url.slice('data:'.length + parts.typeLength)}`;
}

/** The parts of a `data:` URL (RFC 2397), whose content begins at `from`; undefined if the text is not one. */
function partsOf(url: string) {
  if (!/^data:/i.test(url)) return undefined;
  const comma = url.indexOf(',');
  if (comma < 0) return undefined;
  const [type = '', ...parameters] = url.slice('data:'.length, comma).split(';');
  const isBase64 = parameters.some((parameter) => parameter.trim().toLowerCase() === 'base64');
  return { mimeType: type.trim().toLowerCase(), typeLength: type.length, isBase64, from: comma + 1 };
}

/** Parses a `data:` URL; undefined if the text is not one. */
export function parseDataUrl(url: string): InlineData | undefined {
  const parts = partsOf(url);
  if (parts === undefined) return undefined;
  const payload = url.slice(parts.from);
  const data = parts.isBase64
    ? payload.replace(/\s+/g, '')
    : Buffer.from(decodePercent(payload)).toString('base64');
  return { mimeType: realType(parts.mimeType, data) || 'text/plain', data };
}

/** A file's content, from a `data:` URL or from bare base64 whose type is derived from its name or first bytes. */
export function inlineFile(data: string, filename: string | undefined): InlineData {
  const parsed = parseDataUrl(data);
  if (parsed && parsed.mimeType !== 'application/octet-stream') return parsed;
  const base64 = parsed?.data ?? data.replace(/\s+/g, '');
  return { mimeType: typeByName(filename) ?? typeByBytes(base64), data: base64 };
}

/** A file's address or, where it is bare base64, its content as a `data:` URL. */
export function fileUrl(data: string, filename: string | undefined): string {
  if (/^(data|https?):/i.test(data)) return data;
  const { mimeType, data: base64 } = inlineFile(data, filename);
  return `data:${mimeType};base64,${base64}`;
}

const typesByExtension: Record<string, string> = {
  pdf: 'application/pdf',
  txt: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  html: 'text/html',
  xml: 'text/xml',
  json: 'application/json',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
};

/** The MIME type for the extension of a file name or URL path. */
export function typeByName(name: string | undefined): string | undefined {
  const extension = /\.([a-z0-9]+)(?=[?#]|$)/i.exec(name ?? '')?.[1]?.toLowerCase();
  return ownValue(typesByExtension, extension);
}

/** Decodes a text file; undefined for other types. */
export function inlineText(file: InlineData): string | undefined {
  const isText = /^text\/|^application\/(json|xml|yaml|x-ndjson)/.test(file.mimeType);
  return isText ? Buffer.from(file.data, 'base64').toString('utf8') : undefined;
}

function typeByBytes(base64: string): string {
  // "%PDF-" in base64.
  return base64.startsWith('JVBERi0') ? 'application/pdf' : 'application/octet-stream';
}
