import type {
  AnsweredContent,
  AskedContent,
  CallContent,
  ContentMatches,
  ContentSearch,
  ContentSelection,
} from '../../features/capture/index.ts';
import type { ShelfStatus } from './content-shelf.ts';

/** What was captured, in the order in which it came. */
export type Captured = { asked: AskedContent } | { answered: AnsweredContent };

/** Requests to the thread by name, with what they take and return. */
export interface ContentRequests {
  find: [{ workspaceId: string; requestId: string }, CallContent | undefined];
  remove: [{ workspaceId: string; requestId: string }, boolean];
  clear: [ContentSelection, number];
  search: [ContentSearch, ContentMatches];
  status: [{ workspaceId: string }, ShelfStatus];
  isEmpty: [object, boolean];
}

export type ContentRequestName = keyof ContentRequests;

export type ToContent =
  | { captured: Captured[]; memoryBytes: number }
  | { id: number; name: ContentRequestName; data: unknown }
  | { close: true };

export type FromContent =
  /** Captured content was stored. */
  { stored: true } | { id: number; result: unknown } | { id: number; problem: string };
