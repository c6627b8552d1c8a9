import type { CallLabels } from '../../../shared/constants/call-labels.ts';
import { labelCharactersMax, parseTags } from '../../../shared/constants/call-labels.ts';
import type { ServiceMember } from '../../../shared/contract/service-member.ts';
import { maskText } from '../../../shared/masking/mask-text.ts';

/** What the bodies of all formats say about the caller's users and conversations. */
interface LabellingBody {
  user?: unknown;
  safety_identifier?: unknown;
  metadata?: unknown;
  conversation?: unknown;
  service?: Pick<ServiceMember, 'user' | 'conversation' | 'tags' | 'replay_of' | 'thread'> | null | undefined;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/**
 * Reads the labels of a call. Those meant for the gateway were checked by the contract; a user or conversation that the body
 * names for a provider never fails a call, and is cut if it is too long. A conversation without a name is named after its
 * first response.
 */
export function readLabels(
  headers: Headers,
  body: LabellingBody = {},
  firstResponseId: string | null = null,
): CallLabels {
  const { service } = body;
  const tags = textIn(headers, 'x-service-tags');
  const session = sessionIn(body.metadata);
  return {
    client: masked(clientOf(textIn(headers, 'user-agent'))),
    user: masked(
      textIn(headers, 'x-service-user') ??
        service?.user ??
        label(body.safety_identifier) ??
        label(body.user) ??
        session?.user ??
        null,
    ),
    conversation:
      masked(
        textIn(headers, 'x-service-conversation') ??
          service?.conversation ??
          service?.thread ??
          threadIn(body.conversation) ??
          session?.conversation ??
          null,
      ) ?? firstResponseId,
    tags: maskedTags(tags === undefined ? (service?.tags ?? noTags) : parseTags(tags)),
    replayOf: textIn(headers, 'x-service-replay-of') ?? service?.replay_of ?? null,
  };
}

/** The end user that a request names, whatever else is wrong with it. */
export function readUser(headers: Headers, body: unknown): string | null {
  try {
    const { user } = readLabels(headers, { ...(body as LabellingBody | undefined) });
    return typeof user === 'string' && isOneLine(user) ? user : null;
  } catch {
    // Its tags cannot be read, for example.
    return null;
  }
}

const isOneLine = (text: string) =>
  text.length <= labelCharactersMax && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text) && text.isWellFormed();

const noTags = Object.freeze({});

/** Shorter texts are no credentials that are recognized by their form. */
const secretCharactersMin = 16;

/** Labels are kept, shown and exported; someone may have named a call by a key. */
function masked(text: string | null): string | null {
  return text === null || text.length < secretCharactersMin ? text : maskText(text);
}

function maskedTags(tags: CallLabels['tags']): CallLabels['tags'] {
  const values = Object.values(tags);
  if (values.every((value) => masked(value) === value)) return tags;
  return Object.fromEntries(Object.entries(tags).map(([name, value]) => [name, masked(value) ?? '']));
}

const clientCharactersMax = 64;
const sessionMark = '_session_';

/** A header that occurs once. */
function textIn(headers: Headers, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}

/** The first product of a `User-Agent`: `claude-cli/2.1.4`. */
function clientOf(userAgent: string | undefined): string | null {
  if (userAgent === undefined) return null;
  const end = userAgent.indexOf(' ');
  return label(end < 0 ? userAgent : userAgent.slice(0, end), clientCharactersMax);
}

/** A text of someone else as a label: one line, cut to its maximum length; null if nothing is left. */
function label(value: unknown, charactersMax: number = labelCharactersMax): string | null {
  if (typeof value !== 'string' || value === '') return null;
  const text = isPlain(value, charactersMax) ? value : cleaned(value, charactersMax);
  return text === '' ? null : text;
}

function isPlain(text: string, charactersMax: number): boolean {
  return text.length <= charactersMax && /^[!-~]+$/.test(text);
}

function cleaned(text: string, charactersMax: number): string {
  const start = text.slice(0, 2 * charactersMax).toWellFormed();
  const line = start.replace(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
  return [...line].slice(0, charactersMax).join('').trim();
}

function threadIn(conversation: unknown): string | null {
  if (typeof conversation === 'object' && conversation !== null && 'id' in conversation)
    return label(conversation.id);
  return label(conversation);
}

/**
 * The `metadata.user_id` of coding agents contains a session, `user_…_session_…`, and would differ in each of a user's
 * sessions.
 */
function sessionIn(metadata: unknown): Pick<CallLabels, 'user' | 'conversation'> | undefined {
  if (typeof metadata !== 'object' || metadata === null || !('user_id' in metadata)) return undefined;
  const { user_id: id } = metadata;
  if (typeof id !== 'string') return undefined;
  const at = id.lastIndexOf(sessionMark);
  if (at < 0) return { user: label(id), conversation: null };
  return { user: label(id.slice(0, at)), conversation: label(id.slice(at + sessionMark.length)) };
}
