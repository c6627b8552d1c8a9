import type { Client } from '../../shared/client.ts';
import type { EventView } from '../../shared/contract/events.ts';
import type { SseEvent } from '../../shared/sse.ts';
import type { OpenStream } from '../follow-stream.ts';
import type { Paint, Style } from '../output/style.ts';
import type { CallLog } from './call-log/call-log.ts';
import type { CommandName } from './keys/command-names.ts';
import type { CallStore } from './live/call-store.ts';
import type { Follow } from './live/follow.ts';

/** What every screen may use. */
export interface Services {
  client: Client;
  /** The requests of the workspace, as they happen. */
  calls: CallStore;
  /** The calls that the program itself made. */
  log: CallLog;
  /** What keys are called, by their ids, as far as they were listed. */
  keyNames: Map<string, string>;
  follow: Follow;
  /** The model that answers where none is named. */
  defaultModel(): Promise<string>;
  /** Milliseconds since 1970. */
  now(): number;
}

/** With what text is drawn: how wide, in which colours. */
export interface Drawing {
  /** In cells of the terminal. */
  width: number;
  paint: Paint;
  /** For screen readers: words instead of drawn bars. */
  isPlain: boolean;
  now: number;
}

export interface ScreenColumn<Row> {
  title: string;
  /** In cells; the least of one that grows. */
  width: number;
  /** Takes what room is left. */
  grows?: true;
  /** Left out where there is no room; the highest number goes first. */
  spare?: number;
  align?: 'right';
  text(row: Row, drawing: Drawing): string;
  style?(row: Row): Style | undefined;
}

/** What fills the main pane while one thing is looked at. */
export interface Page {
  title: string;
  lines(drawing: Drawing): string[];
  /** What `copy` copies; the lines unless told. */
  copy?: string;
  /** Shows its last lines first, and follows them as it grows. */
  beginsAtEnd?: true;
  /** Answers whom it is with, wherever it was opened. */
  reply?: Composition<unknown>;
  life?: PageLife;
}

/** What keeps a page current while it is in front. */
export interface PageLife {
  /** Fetches it anew. */
  renew(): Promise<Page>;
  /** A stream of its own: each of its events has the page fetched anew. */
  open?: OpenStream;
  /** Whether an event of the screen's stream is about it. */
  isTold?(event: SseEvent): boolean;
}

/** A stream that tells what becomes of a screen's rows. */
export interface RowStream<Row> {
  /** After which event it begins, so that nothing is missed between the fetched rows and the first event. */
  cursor(rows: Row[]): string;
  open(
    client: Client,
    lastId: string | undefined,
    options: Parameters<OpenStream>[1],
  ): AsyncIterable<SseEvent>;
  /** The rows after an event; undefined where only fetching them tells. */
  see(rows: Row[], event: SseEvent): Row[] | undefined;
}

/** What a screen does with the rows that were marked, or the one that is selected. */
export interface RowAction<Row> {
  /** Asked before it is done: `Revoke 2 keys?`. */
  question(rows: Row[]): string;
  /** On the button that does it. */
  verb: string;
  /** Resolves to what a person is told afterwards. */
  run(rows: Row[], services: Services): Promise<string>;
}

/** What a screen does with a line that a person writes. */
export interface Composition<Row> {
  label: string;
  /** Shown while nothing is written. */
  hint: string;
  /** Whether it is about the selected row. */
  needsRow?: true;
  /** Resolves to a page to show, or to what a person is told. */
  run(line: string, services: Services, row: Row | undefined): Promise<Page | string>;
}

/** One view of the program. Methods take rows of the screen's own kind; the frame hands back what it was given. */
export interface Screen<Row = unknown> {
  id: string;
  title: string;
  /** After `g`. */
  letter: string;
  /** Further names in the command palette. */
  aliases: readonly string[];
  tabs?: readonly string[];
  /** Said where there are no rows: what is missing, then how to get it. */
  empty: readonly string[];
  /** The keys that are shown at the foot, before those of every screen. */
  footer: readonly CommandName[];
  columns(tab: number): ScreenColumn<Row>[];
  /** Fetches the rows; a screen without it has its rows at hand. */
  load?(services: Services, tab: number): Promise<Row[]>;
  /** The rows as they are now, of a screen that has them at hand. */
  live?(services: Services): Row[];
  /** How often rows are fetched while the screen is seen. */
  refreshEveryMs?: number;
  /** What tells of the rows between two fetches; while it cannot be followed, rows are fetched more often. */
  stream?: RowStream<Row>;
  /** Whether an event of the workspace changes rows, so that they are to be fetched anew. */
  isTouchedBy?(event: EventView): boolean;
  idOf(row: Row): string;
  copyText(row: Row): string;
  /** Another form of the same, for `copy-command`. */
  commandText?(row: Row): string | undefined;
  json(row: Row): unknown;
  /** Lines above the list. */
  summary?(rows: Row[], services: Services, drawing: Drawing): string[];
  /** Beside the list, where there is room. */
  aside?(row: Row, drawing: Drawing): string[];
  open(row: Row, services: Services): Promise<Page>;
  /** What was said with whom the row is from. */
  conversation?(row: Row, services: Services): Promise<Page>;
  /** Where the API reference tells of the row; its first page unless told. */
  reference?(row: Row, services: Services): Promise<string>;
  remove?: RowAction<Row>;
  compose?: Composition<Row>;
  edit?: Composition<Row>;
  reply?: Composition<Row>;
}
