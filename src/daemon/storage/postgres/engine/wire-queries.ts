import type { FromServer, ServerFailure, Step, StepResult } from './messages.ts';
import { readValue, sentForm, typeOf } from './values.ts';

/** The part of `pg`'s connection that its query objects use. */
export interface WireConnection {
  stream: {
    cork(): void;
    uncork(): void;
    destroy(): void;
    destroyed: boolean;
    once(event: 'close', listener: () => void): void;
  };
  query(text: string): void;
  parse(message: { text: string; name: string; types: readonly number[] }): void;
  bind(message: { portal: string; statement: string; values: readonly unknown[] }): void;
  describe(message: { type: 'P'; name: string }): void;
  execute(message: { portal: string; rows?: number }): void;
  sync(): void;
  on(event: 'readyForQuery', listener: (message: { status: string }) => void): void;
  on(event: 'authenticationSASL', listener: (message: { mechanisms: string[] }) => void): void;
  on(
    event: 'authenticationCleartextPassword' | 'authenticationMD5Password' | 'authenticationSASLFinal',
    listener: () => void,
  ): void;
}

interface RowDescription {
  fields: { name: string; dataTypeID: number }[];
}

/** The results of what is sent to the server, by the calls that `pg`'s client makes for each message of the server. */
abstract class WireQuery {
  readonly results: FromServer['results'] = [];
  failure: ServerFailure | undefined;
  #fields: RowDescription['fields'] = [];
  #rows: StepResult['rows'] = [];

  abstract submit(wire: WireConnection): Error | null;
  /** Whether of a result, by its position, only the number of changed rows is needed. */
  abstract isSilent(index: number): boolean;

  handleRowDescription({ fields }: RowDescription): void {
    this.#fields = fields;
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    this.#rows.push(fields.map((text, index) => readValue(text, this.#fields[index]?.dataTypeID ?? 0)));
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.#end({ changes: changesOf(text), isSuspended: false });
  }

  handlePortalSuspended(): void {
    this.#end({ changes: 0, isSuspended: true });
  }

  handleEmptyQuery(): void {
    this.#end({ changes: 0, isSuspended: false });
  }

  handleError({ code = 'XX000', message }: { code?: string; message: string }): void {
    this.failure ??= { code, message };
  }

  handleReadyForQuery(): void {}
  handleCopyInResponse(): void {}
  handleCopyData(): void {}

  #end(end: Pick<StepResult, 'changes' | 'isSuspended'>): void {
    if (this.isSilent(this.results.length)) this.results.push(end.changes);
    else this.results.push({ columns: this.#fields.map(({ name }) => name), rows: this.#rows, ...end });
    this.#rows = [];
    this.#fields = [];
  }
}

/** Statements prepared on a connection, by their number or text and the types of their values. */
export class PreparedStatements {
  readonly #names = new Map<string, string>();
  #last = 0;

  /** The name of a statement, and whether it is prepared. */
  of(key: string): { name: string; isPrepared: boolean } {
    const known = this.#names.get(key);
    if (known !== undefined) return { name: known, isPrepared: true };
    // Beyond that they are prepared for each use.
    if (this.#names.size >= 2000) return { name: '', isPrepared: false };
    this.#last += 1;
    const name = `s${this.#last}`;
    this.#names.set(key, name);
    return { name, isPrepared: false };
  }

  forget(keys: readonly string[]): void {
    for (const key of keys) this.#names.delete(key);
  }
}

/** Sends all steps before it waits for an answer. */
export class StepsQuery extends WireQuery {
  readonly #steps: readonly Step[];
  readonly #prepared: PreparedStatements;
  #added: string[] = [];

  constructor(steps: readonly Step[], prepared: PreparedStatements) {
    super();
    this.#steps = steps;
    this.#prepared = prepared;
  }

  submit(wire: WireConnection): Error | null {
    wire.stream.cork();
    try {
      for (const step of this.#steps) this.#send(wire, step);
      wire.sync();
    } finally {
      wire.stream.uncork();
    }
    return null;
  }

  isSilent(index: number): boolean {
    return this.#steps[index]?.isSilent === true;
  }

  override handleError(error: { code?: string; message: string }): void {
    super.handleError(error);
    // Those after the one that failed were skipped.
    this.#prepared.forget(this.#added);
  }

  #send(wire: WireConnection, { statement, sql, values, isSilent, limit = 0, portal = '' }: Step): void {
    if (sql !== undefined) {
      const types = values.map(typeOf);
      const key = `${statement ?? sql} ${types.join()}`;
      const { name, isPrepared } = this.#prepared.of(key);
      if (!isPrepared) {
        wire.parse({ text: sql, name, types });
        if (name !== '') this.#added.push(key);
      }
      wire.bind({ portal, statement: name, values: values.map(sentForm) });
    }
    if (!isSilent) wire.describe({ type: 'P', name: portal });
    wire.execute({ portal, rows: limit });
  }
}

/** Runs several statements without values, one after the other. */
export class ScriptQuery extends WireQuery {
  readonly #script: string;

  constructor(script: string) {
    super();
    this.#script = script;
  }

  submit(wire: WireConnection): Error | null {
    wire.query(this.#script);
    return null;
  }

  isSilent(): boolean {
    return true;
  }
}

/** `INSERT 0 3`, `UPDATE 2` */
function changesOf(tag: string): number {
  return /^(INSERT|UPDATE|DELETE|MERGE|COPY) /.test(tag) ? Number(tag.slice(tag.lastIndexOf(' '))) : 0;
}
