import type {
  AnsweredContent,
  AskedContent,
  CallContent,
  Composition,
  ContentMatches,
  ContentPage,
  ContentPreview,
  ContentSearch,
  ContentSelection,
  KeptContent,
  StreamedContent,
} from '../../features/capture/index.ts';
import type { ShelfStatus } from './content-shelf.ts';
import type { DiskBounds } from './disk-shelf.ts';
import type { RedactionRules } from './redactor.ts';

/** What was captured, in the order in which it came. */
export type Captured =
  | { asked: AskedContent }
  | { streamed: StreamedContent }
  | { answered: AnsweredContent };

/** The bodies of requests and answers in it. */
export function contentsOf(captured: Captured): (Uint8Array | string | undefined)[] {
  if ('asked' in captured) return [captured.asked.body, ...captured.asked.attempts.map(({ body }) => body)];
  return 'answered' in captured ? [captured.answered.answer] : [];
}

/** What the thread is asked about the content that it keeps. */
export interface ContentRequests {
  find: [
    question: { workspaceId: string; requestId: string; page: ContentPage | undefined },
    answer: CallContent | undefined,
  ];
  kept: [question: { workspaceId: string; requestIds: readonly string[] }, answer: KeptContent[]];
  previews: [question: { workspaceId: string; requestIds: readonly string[] }, answer: ContentPreview[]];
  compose: [question: { workspaceId: string; requestId: string }, answer: Composition | null | undefined];
  remove: [question: { workspaceId: string; requestId: string }, answer: boolean];
  select: [question: ContentSelection, answer: string[]];
  clear: [question: ContentSelection, answer: number];
  search: [question: ContentSearch, answer: ContentMatches];
  status: [question: { workspaceId: string }, answer: ShelfStatus & { diskBytes: number }];
  /** `isUsed`: whether content is to be kept on disk; otherwise an empty file is deleted. */
  prune: [question: { isUsed: boolean }, answer: undefined];
  isEmpty: [question: undefined, answer: boolean];
}

/** Messages to the thread. */
export interface ToContent extends ContentRequests {
  /** Come before each other message but the last. */
  settings: [question: ContentSettings, answer: undefined];
  /** A batch, and how many of it could not be stored. */
  store: [question: Captured[], answer: number];
  /** Comes last. */
  close: [question: undefined, answer: undefined];
}

/** Messages from the thread. */
export interface FromContent {
  /** Something that the operator should know. */
  warn: [question: string, answer: undefined];
}

/** What the thread reads before each message. */
export interface ContentSettings {
  /** Milliseconds since 1970. */
  now: number;
  memoryBytes: number;
  redaction: RedactionRules;
  /** Those of the host, which are masked wherever they are. */
  secrets: readonly string[];
  disk: DiskBounds;
}

/** What the thread gets when it starts. */
export interface ContentWorkerData {
  /** 32 bytes each. */
  digestKey: Uint8Array;
  disk: { file: string; key: Uint8Array } | undefined;
}
