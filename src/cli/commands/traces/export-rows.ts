import type { ExportFormat } from '../../../shared/contract/traces-export.ts';

/** Takes an export as it arrives, and passes on whole requests only, so that it can go on after any of them. */
export interface ExportRows {
  /** The last request that was passed on. */
  readonly last: string | undefined;
  /** How many requests were passed on. */
  readonly count: number;
  /** Takes more of the text, and returns what of it is whole. */
  take(text: string): string;
  /** The connection was lost: what is not whole comes again, after a head. */
  restart(): void;
  /** The export is complete: returns the rest. */
  end(): string;
}

export function exportRows(format: ExportFormat): ExportRows {
  if (format === 'csv') return new CsvRows();
  return format === 'har' ? new HarRows() : new JsonRows(format);
}

/** One request a line. */
class JsonRows implements ExportRows {
  last: string | undefined;
  count = 0;
  #rest = '';
  readonly #idIn: (line: string) => string | undefined;

  constructor(format: 'jsonl' | 'otlp') {
    this.#idIn = format === 'jsonl' ? idOfTrace : idOfSpans;
  }

  take(text: string): string {
    const all = this.#rest + text;
    const end = all.lastIndexOf('\n') + 1;
    this.#rest = all.slice(end);
    if (end === 0) return '';
    const lines = all.slice(0, end - 1).split('\n');
    this.last = this.#idIn(lines.at(-1) ?? '') ?? this.last;
    this.count += lines.length;
    return all.slice(0, end);
  }

  restart(): void {
    this.#rest = '';
  }

  end(): string {
    return this.#rest;
  }
}

function idOfTrace(line: string): string | undefined {
  return (JSON.parse(line) as { request_id?: string }).request_id;
}

interface OtlpLine {
  resourceSpans: {
    scopeSpans: { spans: { attributes: { key: string; value: { stringValue?: string } }[] }[] }[];
  }[];
}

function idOfSpans(line: string): string | undefined {
  const spans = (JSON.parse(line) as OtlpLine).resourceSpans.flatMap(({ scopeSpans }) =>
    scopeSpans.flatMap((scope) => scope.spans),
  );
  const attributes = spans.flatMap((span) => span.attributes);
  return attributes.find(({ key }) => key === 'gateway.request.id')?.value.stringValue;
}

/** A row may have several lines; the first one is the head. */
class CsvRows implements ExportRows {
  last: string | undefined;
  count = 0;
  #rest = '';
  #scanned = 0;
  #isQuoted = false;
  #isHead = true;
  #hasHead = false;

  take(text: string): string {
    this.#rest += text;
    let rows = '';
    let start = 0;
    for (let at = this.#scanned; at < this.#rest.length; at += 1) {
      const character = this.#rest[at];
      if (character === '"') this.#isQuoted = !this.#isQuoted;
      if (character !== '\n' || this.#isQuoted) continue;
      rows += this.#row(this.#rest.slice(start, at + 1));
      start = at + 1;
    }
    this.#rest = this.#rest.slice(start);
    this.#scanned = this.#rest.length;
    return rows;
  }

  #row(row: string): string {
    if (!this.#isHead) {
      this.last = row.slice(0, row.search(/[,;\t]/));
      this.count += 1;
      return row;
    }
    this.#isHead = false;
    if (this.#hasHead) return '';
    this.#hasHead = true;
    return row;
  }

  restart(): void {
    this.#rest = '';
    this.#scanned = 0;
    this.#isQuoted = false;
    this.#isHead = true;
  }

  end(): string {
    return this.#rest;
  }
}

/** An entry per line, between a head and a tail; a request may have several, which belong together. */
class HarRows implements ExportRows {
  last: string | undefined;
  count = 0;
  #rest = '';
  #isHead = true;
  #hasHead = false;
  #open: { id: string; entries: string[] } | undefined;
  #hasEntries = false;

  take(text: string): string {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    return lines.map((line) => this.#line(line)).join('');
  }

  #line(line: string): string {
    if (this.#isHead) {
      this.#isHead = false;
      if (this.#hasHead) return '';
      this.#hasHead = true;
      return `${line}\n`;
    }
    if (line.startsWith(']')) return `${this.#closed()}${line}\n`;
    const entry = line.startsWith(',') ? line.slice(1) : line;
    const id = (JSON.parse(entry) as { _request_id: string })._request_id;
    if (this.#open?.id === id) {
      this.#open.entries.push(entry);
      return '';
    }
    const before = this.#closed();
    this.#open = { id, entries: [entry] };
    return before;
  }

  /** The entries of the request that ended. */
  #closed(): string {
    if (this.#open === undefined) return '';
    const { id, entries } = this.#open;
    this.#open = undefined;
    this.last = id;
    this.count += 1;
    const text = `${this.#hasEntries ? ',' : ''}${entries.join('\n,')}\n`;
    this.#hasEntries = true;
    return text;
  }

  restart(): void {
    this.#rest = '';
    this.#isHead = true;
    this.#open = undefined;
  }

  end(): string {
    return this.#rest;
  }
}
