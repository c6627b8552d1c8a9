import type { Client } from '../../../shared/client.ts';
import type { EventView } from '../../../shared/contract/events.ts';
import type { SseEvent } from '../../../shared/http/sse.ts';
import type { OpenStream } from '../../hosts/follow-stream.ts';
import type { CommandName } from '../keys/bindings.ts';
import type { Services } from '../services/services.ts';
import type { Field, FormValues } from '../text/form-field.ts';
import type { ListColumn, Sort } from '../text/list-table.ts';
import type { RenderOptions } from '../text/render-options.ts';

/** Text that fills the main pane, such as the details of one row. */
export interface Page {
  title: string;
  lines(options: RenderOptions): string[];
  /** The text that `copy` copies; by default the lines. */
  copy?: string;
  /** Starts scrolled to its end, and stays there as it grows. */
  startsAtEnd?: true;
  /** Of a page with a conversation, which opens at its last turn. */
  turns?(options: RenderOptions): TurnsOfPage;
  /** Shows the time that passes: its lines are computed on every redraw. */
  isTicking?: true;
  /** Replaces the reply of the screen. */
  reply?: Prompt<unknown>;
  updates?: PageUpdates;
  /** Parts of the page, of which one is shown; in place of `lines` and `turns`. */
  tabs?: readonly PageTab[];
  /** The page as a curl command, for `copy-curl`. */
  curl?(): Promise<string>;
}

/** A part of a page. */
export interface PageTab {
  title: string;
  /** How it can be shown; the first one is the default. */
  forms?: readonly string[];
  lines(options: RenderOptions): string[];
  turns?(options: RenderOptions): TurnsOfPage | undefined;
  /** Fetches what it shows, when it is first shown. */
  load?(): Promise<void>;
  /** Fetches more once the end is on the screen; undefined if there is no more. */
  more?(options: { form: string | undefined }): Promise<void> | undefined;
  /** The text that `copy` copies; by default the lines. */
  copy?(): string | undefined;
}

export interface TurnsOfPage {
  /** The index of the line where the last turn begins. */
  lastTurn: number;
  /** Whether something is folded unless `isUnfolded` is given. */
  hasFolds: boolean;
}

/** A page that asks before something that cannot be undone. */
export interface Question {
  page: Page;
  question: string;
  /** The label of the confirm button. */
  verb: string;
  /** Shown until it is done. */
  progress: string;
  /** Resolves to a page to open in place of this one, or to a notice. */
  run(): Promise<Page | string>;
}

/** How a page stays current while it is in front. */
export interface PageUpdates {
  reload(): Promise<Page>;
  /** A stream of the page itself; each event reloads the page. */
  stream?: OpenStream;
  /** Whether an event of the workspace reloads the page. */
  isAffectedBy?(event: EventView): boolean;
  /** Whether an event of the screen's row stream reloads the page. */
  isAffectedByRow?(event: SseEvent): boolean;
}

/** A stream of changes to the rows of a screen. */
export interface RowStream<Row> {
  /** The event ID to start after, given the rows that were loaded. */
  cursor(rows: Row[]): string;
  open(
    client: Client,
    lastId: string | undefined,
    options: Parameters<OpenStream>[1],
  ): AsyncIterable<SseEvent>;
  /** The rows after an event; undefined if they have to be reloaded. */
  apply(rows: Row[], event: SseEvent): Row[] | undefined;
}

/** An action on the marked rows, or else the selected one. */
export interface RowAction<Row> {
  /** Of the other rows, none is acted on. */
  isPossible?(row: Row): boolean;
  /** The confirmation: `Revoke 2 keys?`. */
  question(rows: Row[]): string;
  /** The label of the confirm button. */
  verb: string;
  /** Resolves to a notice. */
  run(rows: Row[], services: Services): Promise<string>;
}

/** An action that takes a line of text. */
export interface Prompt<Row> {
  label: string;
  /** The label once it is known which row it acts on. */
  labelFor?(row: Row): string;
  placeholder: string;
  /** Whether it acts on the selected row. */
  needsRow?: true;
  /** The initial text of the line. */
  initial?(row: Row | undefined): string;
  /** Resolves to a page to open, to a question, or to a notice. */
  run(line: string, services: Services, row: Row | undefined): Promise<Page | Question | string>;
}

/** An action that takes the values of several fields. */
export interface Form<Row> {
  label: string;
  /** The title once it is known which row it acts on. */
  labelFor?(row: Row): string;
  /** Whether it acts on the selected row. */
  needsRow?: true;
  /** The fields, with what is known of the row. */
  fields(row: Row | undefined): readonly Field[];
  /** Resolves to a page to open, to a question, or to a notice. An error with a `param` is shown at its field. */
  submit(values: FormValues, services: Services, row: Row | undefined): Promise<Page | Question | string>;
  /** Does the same by one line, which the command palette takes. */
  runLine?(line: string, services: Services): Promise<Page | Question | string>;
}

/** One screen of the TUI: a list of rows, and what can be done with them. */
export interface Screen<Row = unknown> {
  id: string;
  title: string;
  /** Opens the screen after `g`. */
  letter: string;
  /** More names in the command palette. */
  aliases: readonly string[];
  tabs?: readonly string[];
  /** The tab that is shown first. */
  firstTab?: number;
  /** Whether the number of rows says nothing. */
  hasNoCount?: true;
  /** Shown if there are no rows: what is missing, then how to get it. */
  empty: readonly string[];
  /** The keys in the footer, before those of every screen. */
  footer: readonly CommandName[];
  columns(tab: number): ListColumn<Row>[];
  /** Fetches the rows, unless they are live. */
  load?(services: Services, tab: number): Promise<Row[]>;
  /** The current rows of a screen that does not fetch them. */
  live?(services: Services): Row[];
  refreshEveryMs?: number;
  /** Keeps the rows current between two fetches; while it is unavailable, rows are fetched more often. */
  stream?: RowStream<Row>;
  /** Whether an event of the workspace changes rows, so that they are reloaded. */
  isAffectedBy?(event: EventView): boolean;
  /** Rows that the daemon finds. */
  find?: {
    /** Whether a text is a query, and not part of what a row shows. */
    isQuery(text: string): boolean;
    /** Fails with a sentence for a query that cannot be read. */
    run(
      query: string,
      services: Services,
      options: { after: string | undefined; sort: Sort | undefined },
    ): Promise<{ rows: Row[]; next: string | null }>;
  };
  /** The query of another screen that opening a row shows there, in place of a page. */
  leadsTo?(row: Row, tab: number): { screen: string; query: string } | undefined;
  idOf(row: Row): string;
  copyText(row: Row): string;
  /** The row as a `gateway` command, for `copy-command`. */
  commandText?(row: Row): string | undefined;
  json(row: Row): unknown;
  /** Lines above the list; `height` of the options is that of the pane. */
  summary?(rows: Row[], services: Services, options: RenderOptions): string[];
  /** The preview of a row, next to the list on wide terminals. */
  preview?(row: Row, options: RenderOptions): string[];
  open(row: Row, services: Services): Promise<Page>;
  /** The conversation with the author of a row. */
  conversation?(row: Row, services: Services): Promise<Page>;
  /** What differs between two rows, or between one and the row before it. */
  compare?(rows: readonly Row[], services: Services): Promise<Page>;
  /** The row's path in the API reference; by default its start page. */
  reference?(row: Row, services: Services): Promise<string>;
  remove?: RowAction<Row>;
  compose?: Prompt<Row> | Form<Row>;
  edit?: Prompt<Row> | Form<Row>;
  reply?: Prompt<Row>;
}
