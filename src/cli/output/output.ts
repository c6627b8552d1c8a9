import { asTyped } from '../as-typed.ts';
import type { CommonFlags } from '../common-flags.ts';
import type { Io } from '../terminal/io.ts';
import { fieldsOf, jsonText, pick, unknownFields } from './json.ts';
import { type Paint, painter } from './style.ts';
import type { Column } from './table.ts';
import { visible } from './visible.ts';

/** Data goes to stdout, in the form that the flags and the reader at the other end ask for; talk goes to stderr. */
export interface Output {
  /** Whether `--json` or `--jq` asks for JSON. */
  wantsJson(): boolean;
  isQuiet(): boolean;
  table<Row>(rows: Row[], columns: Column<Row>[], options: { empty: string }): Promise<void>;
  /** A line a member; where a program reads, one row of `pipedRow` if that is given. */
  record<Row>(row: Row, columns: Column<Row>[], options?: { pipedRow?: Column<Row>[] }): Promise<void>;
  /** A document that is JSON by nature; `--quiet` and tables do not apply. */
  document(value: unknown): Promise<void>;
  /** One element of a stream, on one line. */
  element(value: unknown): Promise<void>;
  /** Text as it is; on a terminal what could steer it is made visible. */
  text(text: string): void;
  /** A line of talk, kept back by `--quiet`. */
  note(line: string): void;
  /** A line of talk that `--quiet` does not keep back. */
  warn(line: string): void;
  /** Colours for stdout and stderr. */
  paint: { stdout: Paint; stderr: Paint };
  /** Whether a spinner or a question would reach a person. */
  isInteractive(): boolean;
}

interface OutputOptions {
  io: Io;
  env: Record<string, string | undefined>;
  flags: () => CommonFlags;
}

export function createOutput({ io, env, flags }: OutputOptions): Output {
  const coloured = (isTty: boolean) =>
    isTty && !env.NO_COLOR && flags().color !== false && env.TERM !== 'dumb' && !env.CI;
  const wantsJson = () => flags().json !== undefined || flags().jq !== undefined;
  const isQuiet = () => flags().quiet === true;
  const safe = (text: string) => (io.stdout.isTty ? visible(text) : text);
  const terminal = () => ({ columns: io.columns(), paint: painter(coloured(io.stdout.isTty)) });
  const warn = (line: string) => {
    const told = asTyped(line, env);
    io.stderr.write(`${io.stderr.isTty ? visible(told) : told}\n`);
  };

  const fieldsWanted = () => {
    const { json: names } = flags();
    return typeof names === 'string' ? names.split(',').filter((name) => name !== '') : [];
  };
  const json = async (value: unknown, { indented }: { indented: boolean }) => {
    const { jq } = flags();
    const fields = fieldsWanted();
    const wanted = fields.length > 0 ? pick(value, fields) : value;
    if (jq === undefined) io.stdout.write(jsonText(wanted, { indented }));
    else io.stdout.write(safe(await (await import('./jq.ts')).runJq(wanted, jq)));
  };
  const whole = (value: unknown) => {
    const unknown = unknownFields(value, fieldsWanted());
    if (unknown.length > 0) {
      warn(`There is no field ${unknown.join(', ')} here; there are ${fieldsOf(value).join(', ')}.`);
    }
    return json(value, { indented: io.stdout.isTty });
  };

  return {
    wantsJson,
    isQuiet,
    warn,
    document: whole,
    element: (value) => json(value, { indented: false }),
    async table(rows, columns, { empty }) {
      if (wantsJson()) return whole(rows);
      const show = await import('./table.ts');
      if (isQuiet()) return void io.stdout.write(safe(show.essentials(rows, columns)));
      if (!io.stdout.isTty) return void io.stdout.write(show.tabSeparatedRows(rows, columns));
      if (rows.length === 0) return warn(empty);
      io.stdout.write(show.alignedTable(rows, columns, terminal()));
    },
    async record(row, columns, { pipedRow } = {}) {
      if (wantsJson()) return whole(row);
      const show = await import('./table.ts');
      if (isQuiet()) return void io.stdout.write(safe(show.essentials([row], columns)));
      if (io.stdout.isTty) return void io.stdout.write(show.alignedRecord(row, columns, terminal()));
      io.stdout.write(
        pipedRow ? show.tabSeparatedRows([row], pipedRow) : show.tabSeparatedRecord(row, columns),
      );
    },
    text: (text) => void io.stdout.write(safe(text)),
    note(line) {
      if (!isQuiet()) warn(line);
    },
    get paint() {
      return { stdout: painter(coloured(io.stdout.isTty)), stderr: painter(coloured(io.stderr.isTty)) };
    },
    isInteractive: () => io.stderr.isTty && !env.CI,
  };
}
