import { ownValue } from '../../../shared/json/json-object.ts';
import { decodePercent } from '../../../shared/text/decode-percent.ts';

/** Bytes with their MIME type, as providers accept them inline. */
export interface InlineData {
  mimeType: string;
  /** Base64, without line breaks. */
  data: string;
}

/** A type with its registered name: clients write `image/jpg`, which providers refuse. Source: NousResearch/hermes-agent#55432. */
function registeredType(mimeType: string): string {
  return mimeType === 'image/jpg' ? 'image/jpeg' : mimeType;
}

/** A URL whose `image/jpg` is `image/jpeg`. */
export function withJpegNamed(url: string): string {
  return /^data:image\/jpg\b/i.test(url) ? `data:image/jpeg${url.slice('data:image/jpg'.length)}` : url;
}

/** Parses a `data:` URL (RFC 2397); undefined if the text is not one. */
export function parseDataUrl(url: string): InlineData | undefined {
  if (!/^data:/i.test(url)) return undefined;
  const comma = url.indexOf(',');
  if (comma < 0) return undefined;
  const [mimeType = '', ...parameters] = url.slice(5, comma).split(';');
  const payload = url.slice(comma + 1);
  const isBase64 = parameters.some((parameter) => parameter.trim().toLowerCase() === 'base64');
  return {
    mimeType: registeredType(mimeType.trim().toLowerCase()) || 'text/plain',
    data: isBase64 ? payload.replace(/\s+/g, '') : Buffer.from(decodePercent(payload)).toString('base64'),
  };
}

/** A file's content, from a `data:` URL or from bare base64 whose type is derived from its name or first bytes. */
export function inlineFile(data: string, filename: string | undefined): InlineData {
  const parsed = parseDataUrl(data);
  if (parsed && parsed.mimeType !== 'application/octet-stream') return parsed;
  const base64 = parsed?.data ?? data.replace(/\s+/g, '');
  return { mimeType: typeByName(filename) ?? typeByBytes(base64), data: base64 };
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
