import type {
  AnsweredContent,
  AskedContent,
  CallContent,
  Composition,
  ContentMatches,
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

/** Requests to the thread by name, with what they take and return. */
export interface ContentRequests {
  find: [{ workspaceId: string; requestId: string }, CallContent | undefined];
  kept: [{ workspaceId: string; requestIds: readonly string[] }, KeptContent[]];
  compose: [{ workspaceId: string; requestId: string }, Composition | null | undefined];
  remove: [{ workspaceId: string; requestId: string }, boolean];
  select: [ContentSelection, string[]];
  clear: [ContentSelection, number];
  search: [ContentSearch, ContentMatches];
  status: [{ workspaceId: string }, ShelfStatus & { diskBytes: number }];
  /** `isUsed`: whether content is to be kept on disk; otherwise an empty file is deleted. */
  prune: [{ isUsed: boolean }, undefined];
  isEmpty: [object, boolean];
}

export type ContentRequestName = keyof ContentRequests;

/** What the thread reads with each message. */
export interface ContentSettings {
  /** Milliseconds since 1970. */
  now: number;
  memoryBytes: number;
  redaction: RedactionRules;
  disk: DiskBounds;
}

/** What the thread gets when it starts. */
export interface ContentWorkerData {
  /** 32 bytes each. */
  digestKey: Uint8Array;
  disk: { file: string; key: Uint8Array } | undefined;
}

export type ToContent =
  | { captured: Captured[]; settings: ContentSettings }
  | { id: number; name: ContentRequestName; data: unknown; settings: ContentSettings }
  | { close: true };

export type FromContent =
  /** A batch was stored, but for what was dropped. */
  | { stored: true; dropped: number }
  /** Something that the operator should know. */
  | { warning: string }
  | { id: number; result: unknown }
  | { id: number; problem: string };
