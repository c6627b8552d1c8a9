/** Where the content of a call is kept, from the least to the most. */
export const captureLevels = ['off', 'memory'] as const;

export type CaptureLevel = (typeof captureLevels)[number];

/** What a call was asked, and what was sent for it. */
export interface AskedContent {
  requestId: string;
  workspaceId: string;
  /** Of the key, login or agent that called; null for an unknown caller. */
  keyId: string | null;
  endpoint: string;
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

/** What a call was answered. */
export interface AnsweredContent {
  requestId: string;
  /** A whole answer, or the events of a stream. */
  answer: Uint8Array | string | undefined;
  isStream: boolean;
  /** Of a stream: when each of its texts was read, in milliseconds since the call arrived, and its length; one after another. */
  reads: readonly number[];
  /** Whether the answer was longer than what is kept. */
  isCut: boolean;
}

/** A text as it was sent or received. */
export interface ContentText {
  bytes: number;
  text: string;
  /** Whether a part of it was deleted with the call that introduced it. */
  isPartial: boolean;
}

export interface AttemptView extends Omit<AttemptContent, 'headers' | 'body' | 'refusal'> {
  headers: readonly string[];
  body: ContentText | null;
  refusal: ContentText | null;
}

/** The content of one call. */
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
  reads: readonly ContentRead[];
}

/** A read of a stream. */
export interface ContentRead {
  ms: number;
  bytes: number;
  /** Of the answer's text. */
  characters: number;
}

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
  /** The last call that was looked at, where there are more. */
  next: string | null;
}

export interface ContentStatus {
  calls: number;
  bytes: number;
  /** Milliseconds since 1970; null without calls. */
  oldestAt: number | null;
  /** Calls since the start whose content was not kept, as more came than could be stored. */
  dropped: number;
}

/** Which calls of a workspace to forget. */
export interface ContentSelection {
  workspaceId: string;
  keyId: string | undefined;
  before: number | undefined;
}

/** Keeps the content of calls. No call waits for it: what cannot be kept is dropped and counted. */
export interface ContentStore {
  /** Whether a call would be dropped now; it is then counted as such, and must not be handed over. */
  isFull(): boolean;
  asked(content: AskedContent): void;
  answered(content: AnsweredContent): void;
  find(workspaceId: string, requestId: string): Promise<CallContent | undefined>;
  /** What this call introduced also disappears from later calls that repeat it. Returns whether there was such a call. */
  remove(workspaceId: string, requestId: string): Promise<boolean>;
  /** Returns how many calls were forgotten. */
  clear(selection: ContentSelection): Promise<number>;
  search(search: ContentSearch): Promise<ContentMatches>;
  status(workspaceId: string): Promise<ContentStatus>;
}
