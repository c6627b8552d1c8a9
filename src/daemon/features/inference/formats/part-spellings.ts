import { isObject, type Json } from '../../../../shared/faults/invalid-request.ts';

/**
 * Parts of messages that a client wrote as another format has them: SDKs and agents that speak several formats mix them. Providers refuse
 * the whole request. Source: LuthienResearch/luthien-proxy#108, Xerxes-2/clewdr#121.
 */

type Written =
  | { is: 'text'; text: unknown }
  | { is: 'image'; url: string; detail?: unknown }
  | { is: 'file'; filename?: unknown; data: string };

type Format = 'chat' | 'responses' | 'messages';

const ownTypes: Readonly<Record<Format, ReadonlySet<unknown>>> = {
  chat: new Set(['text', 'image_url', 'file', 'input_audio', 'refusal', 'thinking', 'reasoning']),
  responses: new Set(['input_text', 'output_text', 'text', 'refusal', 'input_file', 'input_audio']),
  messages: new Set([
    'text',
    'image',
    'document',
    'tool_use',
    'tool_result',
    'thinking',
    'redacted_thinking',
  ]),
};

/** Messages with the parts of their format. The same list if they have no others. */
export function withOwnParts<Message extends { content?: unknown }>(
  messages: readonly Message[],
  format: Format,
): readonly Message[] {
  return changed(messages, (message) => {
    const content = ownContent(message.content, format);
    return content === message.content ? message : { ...message, content };
  });
}

/** Content with the parts of a format. The same if it has no others. */
export function ownContent(content: unknown, format: Format): unknown {
  return Array.isArray(content) ? changed(content, (part) => ownPart(part, format)) : content;
}

function ownPart(part: unknown, format: Format): unknown {
  if (!isObject(part)) return part;
  if (format === 'messages' && part.type === 'tool_result' && Array.isArray(part.content)) {
    const content = ownContent(part.content, format);
    return content === part.content ? part : { ...part, content };
  }
  if (ownTypes[format].has(part.type)) return part;
  if (format === 'responses' && part.type === 'input_image' && !isObject(part.image_url)) return part;
  const written = readPart(part);
  if (written === undefined) return part;
  const { cache_control: mark } = part;
  return { ...writtenAs(written, format), ...(mark !== undefined && { cache_control: mark }) };
}

/** What a part of any format says; undefined for other parts, and for files that were uploaded to a provider. */
function readPart(part: Json): Written | undefined {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
      return { is: 'text', text: part.text };
    case 'image_url':
    case 'input_image': {
      const { url, detail = part.detail } = isObject(part.image_url)
        ? part.image_url
        : { url: part.image_url };
      return typeof url === 'string'
        ? { is: 'image', url, ...(detail !== undefined && { detail }) }
        : undefined;
    }
    case 'file':
    case 'input_file': {
      const { filename, file_data: data, file_url: url } = isObject(part.file) ? part.file : part;
      const given = data ?? url;
      return typeof given === 'string' ? { is: 'file', filename, data: given } : undefined;
    }
    case 'image': {
      const url = sourceUrl(part.source);
      return url === undefined ? undefined : { is: 'image', url };
    }
    case 'document': {
      const url = sourceUrl(part.source);
      return url === undefined ? undefined : { is: 'file', filename: part.title, data: url };
    }
    default:
      return undefined;
  }
}

function sourceUrl(source: unknown): string | undefined {
  if (!isObject(source)) return undefined;
  const { type, media_type: mime, data, url } = source;
  if (type === 'url' && typeof url === 'string') return url;
  return type === 'base64' && typeof data === 'string' ? `data:${mime};base64,${data}` : undefined;
}

function writtenAs(written: Written, format: Format): Json {
  switch (written.is) {
    case 'text':
      return { type: 'text', text: written.text };
    case 'image': {
      const { url, ...detail } = {
        url: written.url,
        ...(written.detail !== undefined && { detail: written.detail }),
      };
      if (format === 'chat') return { type: 'image_url', image_url: { url, ...detail } };
      if (format === 'responses') return { type: 'input_image', image_url: url, ...detail };
      return { type: 'image', source: sourceOf(url) };
    }
    case 'file': {
      const { filename, data } = written;
      const name = typeof filename === 'string' && filename !== '';
      const file = { ...(name && { filename }), file_data: data };
      if (format === 'chat') return { type: 'file', file };
      if (format === 'responses') return { type: 'input_file', ...file };
      return { type: 'document', source: sourceOf(data), ...(name && { title: filename }) };
    }
  }
}

function sourceOf(url: string): Json {
  const comma = url.startsWith('data:') ? url.indexOf(',') : -1;
  if (comma < 0)
    return /^https?:/i.test(url)
      ? { type: 'url', url }
      : { type: 'base64', media_type: 'application/pdf', data: url };
  const [mime = ''] = url.slice('data:'.length, comma).split(';');
  return { type: 'base64', media_type: mime || 'application/octet-stream', data: url.slice(comma + 1) };
}

/** The list with each element changed; the same list if none is. */
function changed<Element>(
  list: readonly Element[],
  change: (element: Element) => Element,
): readonly Element[] {
  let result: Element[] | undefined;
  for (const [at, element] of list.entries()) {
    const made = change(element);
    if (made !== element) result ??= list.slice(0, at);
    result?.push(made);
  }
  return result ?? list;
}
