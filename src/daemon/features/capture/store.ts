import type { CaptureLevel } from '../../../shared/constants/capture-levels.ts';
import type { PartKind } from '../../../shared/constants/part-kinds.ts';
import type { contentParts } from '../../../shared/contract/content.ts';
import type { RemovedKind } from '../../../shared/masking/redaction-kinds.ts';

/** What a call was asked, and what was sent for it. */
export interface AskedContent {
  requestId: string;
  workspaceId: string;
  /** Of the key, login or agent that called; null for an unknown caller. */
  keyId: string | null;
  endpoint: string;
  /** The end user and the conversation that the call named. */
  user: string | null;
  conversation: string | null;
  /** Milliseconds since 1970. */
  at: number;
  level: Exclude<CaptureLevel, 'off'>;
  /** Of the request: name, value, name, value. */
  headers: readonly string[];
  body: Uint8Array | string | undefined;
  attempts: readonly AttemptContent[];
}

/** One request to a provider. */
export interface AttemptContent {
  provider: string;
  url: string;
  /** As they were sent, credentials included, which the store removes. */
  headers: Record<string, string>;
  body: Uint8Array | string | undefined;
  /** Null without an answer. */
  status: number | null;
  /** Headers of the answer to keep: name, value, name, value. */
  received: readonly string[];
  /** The body of an answer that is an error. */
  refusal: string | undefined;
}

/** More of a stream that goes on. */
export interface StreamedContent {
  requestId: string;
  /** Whole events. */
  events: string;
  /** As those of `AnsweredContent`. */
  reads: readonly number[];
}

/** What a call was answered. */
export interface AnsweredContent {
  requestId: string;
  /** A whole answer, or the events of a stream after those that were handed over before. */
  answer: Uint8Array | string | undefined;
  isStream: boolean;
  /** Of a stream: when each of its texts was read, in milliseconds since the call arrived, and its length; one after another. */
  reads: readonly number[];
  /** Whether the answer was longer than what is kept. */
  isCut: boolean;
  /** Undefined if it is not to be kept. */
  wire?: WireContent | undefined;
}

/** An answer as it came from the provider, and as the client got it if it was a stream; empty if there was nothing. */
export interface WireContent {
  received: string;
  sent: string;
  /** Whether one of them was longer than what is kept. */
  isCut: boolean;
}

/** A text as it was sent or received, or a page of it. */
export interface ContentText {
  /** Of the whole text. */
  bytes: number;
  text: string;
  /** Where the next page starts; null if there is none. */
  next: number | null;
  /** Whether a part of it was deleted with the call that introduced it. */
  isPartial: boolean;
}

export interface AttemptView extends Omit<AttemptContent, 'headers' | 'body' | 'refusal'> {
  headers: readonly string[];
  body: ContentText | null;
  refusal: ContentText | null;
}

/** What is read of the content of a call: of one part, or of all, so many characters of each text from a place on. */
export interface ContentPage {
  part: (typeof contentParts)[number] | undefined;
  at: number;
  limit: number;
}

/** The content of one call; texts that are not asked for are null. */
export interface CallContent {
  requestId: string;
  keyId: string | null;
  endpoint: string;
  at: number;
  level: AskedContent['level'];
  headers: readonly string[];
  body: ContentText | null;
  attempts: readonly AttemptView[];
  answer: ContentText | null;
  isStream: boolean;
  isCut: boolean;
  /** Whether the call is over. */
  isComplete: boolean;
  /** What was removed from its texts. */
  redacted: readonly RemovedKind[];
  reads: readonly ContentRead[];
  /** Null if it was not kept. */
  wire: { received: ContentText | null; sent: ContentText | null; isCut: boolean } | null;
}

/** A read of a stream. */
export interface ContentRead {
  ms: number;
  bytes: number;
  /** Of the answer's text. */
  characters: number;
}

/** A part of a request, in the order in which models read it. */
export interface RequestPartView {
  /** `messages[3]`. */
  path: string;
  kind: PartKind;
  role: string | null;
  name: string | null;
  bytes: number;
  tokens: number;
  /** Equal texts have the same, in all calls of the workspace. */
  hash: string;
  /** Where its text is in the body. */
  at: number;
  characters: number;
  /** The call that had it first, of those that are kept. */
  firstSeenIn: string | null;
}

/** What differs between a request and an earlier one. */
export interface RequestChanges {
  /** What both begin with. */
  unchanged: readonly { tokens: number; bytes: number }[];
  /** Parameters that were added, changed or left out. */
  changedParameters: readonly string[];
  /** Where what both begin with ends, unless one of them continues the other. */
  broke: {
    path: string;
    change: 'changed' | 'inserted' | 'removed';
    before: string;
    after: string;
  } | null;
}

/** What the request of a call consists of. */
export interface Composition {
  parts: readonly RequestPartView[];
  /** The request before it in the same conversation. */
  previous: (RequestChanges & { requestId: string; at: number }) | null;
}

/** What is kept of a call. */
export interface KeptContent {
  requestId: string;
  /** `deleted`: by someone; what made room for newer calls is not known. */
  state: AskedContent['level'] | 'deleted';
  parts: readonly KeptPart[];
}

/** The last question and the beginning of the answer, on one line each; null if there is none. */
export interface ContentPreview {
  requestId: string;
  question: string | null;
  answer: string | null;
}

export type KeptPart = 'request' | 'attempts' | 'answer' | 'timing' | 'wire';

export interface ContentSearch {
  workspaceId: string;
  text: string;
  keyId: string | undefined;
  since: number | undefined;
  until: number | undefined;
  /** Only calls before this one; undefined for the newest. */
  after: string | undefined;
  limit: number;
}

export interface ContentMatch {
  requestId: string;
  at: number;
  part: 'request' | 'answer' | 'attempt';
  /** Text around the match, and where the match is in it. */
  snippet: string;
  start: number;
  end: number;
}

export interface ContentMatches {
  matches: ContentMatch[];
  /** Calls that this search has looked at. */
  scanned: number;
  /** All calls of the workspace whose content is kept; only of a search without `after`, as counting takes time. */
  of?: number;
  /** The last call that was looked at, where there are more. */
  next: string | null;
}

export interface ContentStatus {
  calls: number;
  /** Of all workspaces, in memory and on disk. */
  bytes: number;
  diskBytes: number;
  /** Milliseconds since 1970; null without calls. */
  oldestAt: number | null;
  /** Calls since the start whose content was not kept, as more came than could be stored. */
  dropped: number;
}

/** Which calls of a workspace to forget. */
export interface ContentSelection {
  workspaceId: string;
  keyId: string | undefined;
  /** The end user for whom they were made. */
  user: string | undefined;
  before: number | undefined;
  /** Only these. */
  requestIds?: ReadonlySet<string>;
}

/** Keeps the content of calls. No call waits for it: what cannot be kept is dropped and counted. */
export interface ContentStore {
  /** Whether a call would be dropped now; it is then counted as such, and must not be handed over. */
  isFull(): boolean;
  asked(content: AskedContent): void;
  /** False if it was dropped. */
  streamed(content: StreamedContent): boolean;
  answered(content: AnsweredContent): void;
  /** All of it without a page. */
  find(workspaceId: string, requestId: string, page?: ContentPage): Promise<CallContent | undefined>;
  /** What is kept of these calls, in any order, without those of which nothing is known. Includes what is not stored yet. */
  kept(workspaceId: string, requestIds: readonly string[]): Promise<KeptContent[]>;
  /** Of these calls, in their order, without those of which no content is kept. */
  previews(workspaceId: string, requestIds: readonly string[]): Promise<ContentPreview[]>;
  /** What its request consists of; null if it has no body that is an object. */
  compose(workspaceId: string, requestId: string): Promise<Composition | null | undefined>;
  /** What this call introduced also disappears from later calls that repeat it. Returns whether there was such a call. */
  remove(workspaceId: string, requestId: string): Promise<boolean>;
  /** The ids of the selected calls, the newest first. */
  select(selection: ContentSelection): Promise<string[]>;
  /** Returns how many calls were forgotten. */
  clear(selection: ContentSelection): Promise<number>;
  search(search: ContentSearch): Promise<ContentMatches>;
  status(workspaceId: string): Promise<ContentStatus>;
  /** Deletes what is older than it may be. */
  prune(): Promise<void>;
  /** Ends; what is in memory only is gone. */
  close(): Promise<void>;
}
