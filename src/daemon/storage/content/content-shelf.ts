import type { ContentSelection } from '../../features/capture/index.ts';
import type { ContentRecord } from './content-record.ts';

export interface ShelfStatus {
  /** Of the workspace. */
  calls: number;
  /** Of all workspaces, which share the space. */
  bytes: number;
  /** Of the workspace: milliseconds since 1970; null without calls. */
  oldestAt: number | null;
}

/** Where records and their parts are kept. A part that several records have in common is kept once. */
export interface ContentShelf {
  status(workspaceId: string): ShelfStatus;
  /** The number of calls of the workspace. */
  count(workspaceId: string): number;
  /** The id of a part, which the call with this number uses; undefined if there is no such part. */
  usePart(digest: string, number: number): number | undefined;
  /** Copies the part; `number` is of the call that introduces it. Returns its id. */
  addPart(digest: string, packed: Uint8Array, number: number): number;
  /** Undefined if it was deleted. */
  part(id: number): { packed: Uint8Array; number: number } | undefined;
  hasPart(id: number): boolean;
  /** Puts another text in the place of a part, for all calls that have it; later calls do not use it. */
  replacePart(id: number, packed: Uint8Array): void;
  save(record: ContentRecord): void;
  find(requestId: string): ContentRecord | undefined;
  /** Whether someone deleted the record of this request, as long as that is known. */
  wasDeleted(requestId: string): boolean;
  /** The request of the record with this number. */
  requestAt(number: number): string | undefined;
  newestFirst(workspaceId: string, before?: number): Iterable<ContentRecord>;
  /** Forgets a record and the parts that it introduced. */
  remove(record: ContentRecord): void;
  clear(selection: ContentSelection): number;
}
