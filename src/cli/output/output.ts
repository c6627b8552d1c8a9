import { exitCodes } from '../../shared/errors.ts';
import type { CsvDelimiter } from '../../shared/text/csv.ts';
import { CliError } from '../failures/cli-error.ts';
import type { Io } from '../io.ts';
import { escapeControls, escapeJson } from './escape-controls.ts';
import { type Paint, painter } from './style.ts';
import type { Column } from './table.ts';

/** Data goes to stdout, in the format that the flags and the reader need; messages go to stderr. */
export interface Output {
  /** Whether `--json` or `--jq` asks for JSON. */
  wantsJson(): boolean;
  isQuiet(): boolean;
  table<Row>(rows: Row[], columns: Column<Row>[], options: { empty: string }): Promise<void>;
  /** Prints rows of a table as they come, with `--json` one per line. */
  rows<Row>(columns: Column<Row>[]): { add(rows: Row[]): Promise<void> };
  /** Prints one field per line. */
  record<Row>(row: Row, columns: Column<Row>[], options?: RecordOptions<Row>): Promise<void>;
  /** Prints JSON whatever the flags. */
  document(value: unknown): Promise<void>;
  /** Prints one element of a stream as a line of JSON. */
  element(value: unknown): Promise<void>;
  /** Prints text unchanged, except that control characters are made visible on a terminal. */
  text(text: string): void;
  /** A message that `--quiet` suppresses. */
  note(line: string): void;
  /** Reports a change: prints JSON if asked for, otherwise the message. */
  done(value: unknown, line: string): Promise<void>;
  /** A message that `--quiet` does not suppress. */
  warn(line: string): void;
  /** Colours for stdout and stderr. */
  paint: { stdout: Paint; stderr: Paint };
  /** Whether a person would see a spinner or a question. */
  isInteractive(): boolean;
}

export interface RecordOptions<Row> {
  /** The columns of the one row that a pipe gets in place of lines. */
  pipedRow?: Column<Row>[];
  /** A secret that cannot be shown again. It goes to stderr if `--json=FIELDS` or `--jq` leaves it out of the output. */
  shownOnce?: Column<Row>;
}

export interface OutputFlags {
  /** True for all fields, or the names of the fields to print, comma-separated. */
  json?: string | true | undefined;
  jq?: string | undefined;
  /** Prints tables as CSV; only commands with this option have it. */
  csv?: boolean | undefined;
  /** What separates the cells of CSV. */
  delimiter?: CsvDelimiter | undefined;
  quiet?: boolean | undefined;
  /** False after `--no-color`. */
  color?: boolean | undefined;
}

interface OutputOptions {
  io: Io;
  env: Record<string, string | undefined>;
  flags: () => OutputFlags;
  /** Whether a call was made that may have changed something. */
  hasChangedData: () => boolean;
}

export function createOutput({ io, env, flags, hasChangedData }: OutputOptions): Output {
  const usesColor = (isTty: boolean) =>
    isTty && !env.NO_COLOR && flags().color !== false && env.TERM !== 'dumb' && !isInCi(env);
  const wantsJson = () => flags().json !== undefined || flags().jq !== undefined;
  const isQuiet = () => flags().quiet === true;
  const safe = (text: string) => (io.stdout.isTty ? escapeControls(text) : text);
  const terminal = () => ({ columns: io.columns(), paint: painter(usesColor(io.stdout.isTty)) });
  const warn = (line: string) => {
    const text = withNpx(line, env);
    io.stderr.write(`${io.stderr.isTty ? escapeControls(text) : text}\n`);
  };

  const note = (line: string) => {
    if (!isQuiet()) warn(line);
  };

  const wantedFields = () => {
    const { json: names } = flags();
    return typeof names === 'string' ? names.split(',').filter((name) => name !== '') : [];
  };
  const json = async (value: unknown, fields: string[], { indented }: { indented: boolean }) => {
    const { jq } = flags();
    const wanted = fields.length > 0 ? pick(value, fields) : value;
    if (jq === undefined) return jsonText(wanted, { indented });
    return safe(await (await import('./jq.ts')).runJq(wanted, jq));
  };
  /** The JSON, or what `--json=FIELDS` and `--jq` select of it. */
  const documentText = (value: unknown) => {
    const fields = wantedFields();
    const unknown = unknownFields(value, fields);
    const options = { indented: io.stdout.isTty };
    if (unknown.length === 0) return json(value, fields, options);
    const message = `Unknown ${unknown.length === 1 ? 'field' : 'fields'}: ${unknown.join(', ')}.`;
    const next = `Valid fields: ${fieldsOf(value).join(', ')}`;
    if (!hasChangedData()) throw new CliError(message, { exit: exitCodes.usage, next });
    // The change was made, so its result is printed anyway.
    warn(`${message} ${next}`);
    return json(value, fields, options);
  };
  const document = async (value: unknown, shownOnce?: { title: string; value: string }) => {
    let text = '';
    try {
      text = await documentText(value);
      io.stdout.write(text);
    } finally {
      if (shownOnce && !text.includes(shownOnce.value)) {
        warn(`Missing from the output, and not shown again: ${shownOnce.title} ${shownOnce.value}`);
      }
    }
  };

  const element = async (value: unknown) => {
    io.stdout.write(await json(value, wantedFields(), { indented: false }));
  };

  return {
    wantsJson,
    isQuiet,
    warn,
    document: async (value) => document(value),
    element,
    async table(rows, columns, { empty }) {
      if (wantsJson()) return document(rows);
      const show = await import('./table.ts');
      if (flags().csv) return void io.stdout.write(safe(show.csvTable(rows, columns, flags().delimiter)));
      if (isQuiet()) return void io.stdout.write(safe(show.essentials(rows, columns)));
      if (!io.stdout.isTty) return void io.stdout.write(show.tabSeparatedRows(rows, columns));
      if (rows.length === 0) return warn(empty);
      io.stdout.write(show.alignedTable(rows, columns, terminal()));
    },
    rows(columns) {
      let hasTitles = true;
      return {
        async add(rows) {
          if (rows.length === 0) return;
          if (wantsJson()) {
            for (const row of rows) await element(row);
            return;
          }
          const show = await import('./table.ts');
          if (isQuiet()) return void io.stdout.write(safe(show.essentials(rows, columns)));
          if (!io.stdout.isTty) return void io.stdout.write(show.tabSeparatedRows(rows, columns));
          io.stdout.write(show.alignedTable(rows, columns, { ...terminal(), hasTitles }));
          hasTitles = false;
        },
      };
    },
    async record(row, columns, { pipedRow, shownOnce } = {}) {
      const secret = shownOnce?.value(row);
      if (wantsJson())
        return document(
          row,
          shownOnce && secret ? { title: shownOnce.title, value: String(secret) } : undefined,
        );
      const show = await import('./table.ts');
      if (isQuiet()) return void io.stdout.write(safe(show.essentials([row], columns)));
      if (io.stdout.isTty) return void io.stdout.write(show.alignedRecord(row, columns, terminal()));
      io.stdout.write(
        pipedRow ? show.tabSeparatedRows([row], pipedRow) : show.tabSeparatedRecord(row, columns),
      );
    },
    text: (text) => void io.stdout.write(safe(text)),
    note,
    async done(value, line) {
      if (wantsJson()) await document(value);
      else note(line);
    },
    get paint() {
      return { stdout: painter(usesColor(io.stdout.isTty)), stderr: painter(usesColor(io.stderr.isTty)) };
    },
    isInteractive: () => io.stderr.isTty && !isInCi(env),
  };
}

/** Whether nobody watches. Files with variables also say that it is not so. */
export function isInCi({ CI = '' }: Record<string, string | undefined>): boolean {
  return !/^(|0|false|no|off)$/i.test(CI);
}

/** Writes `gateway` commands in a text as `npx gateway` where npx started this process, because then `gateway` is not on the PATH. */
export function withNpx(text: string, env: Record<string, string | undefined>): string {
  return env.npm_command === 'exec' ? text.replace(/\bgateway (?=[a-z]|--)/g, 'npx gateway ') : text;
}

/** Picks fields of a record or of each record in a list; missing fields are null. */
function pick(value: unknown, fields: string[]): unknown {
  if (Array.isArray(value)) return value.map((one) => pick(one, fields));
  if (typeof value !== 'object' || value === null) return value;
  const record = value as Record<string, unknown>;
  return Object.fromEntries(fields.map((field) => [field, record[field] ?? null]));
}

/** The `fields` that no record has. */
function unknownFields(value: unknown, fields: string[]): string[] {
  const known = fieldsOf(value);
  return known.length === 0 ? [] : fields.filter((field) => !known.includes(field));
}

/** The fields of a record, or of all records in a list. */
function fieldsOf(value: unknown): string[] {
  const records = Array.isArray(value) ? value : [value];
  return [...new Set(records.flatMap((one) => (typeof one === 'object' && one ? Object.keys(one) : [])))];
}

/** JSON on one line, or indented. */
export function jsonText(value: unknown, { indented }: { indented: boolean }): string {
  return `${escapeJson(JSON.stringify(value, null, indented ? 2 : undefined) ?? 'null')}\n`;
}
