/**
 * Reads and writes server-sent events. Source: the WHATWG HTML standard, "Server-sent events", parsing an event stream.
 */

export interface SseEvent {
  /** The `event:` field; `message` when there was none. */
  event: string;
  data: string;
  id: string | undefined;
}

/**
 * Maximum length of a line or an event. A single event may contain a whole answer, images included, so this equals the
 * maximum size of an answer.
 */
export const sseEventCharsMax = 32 * 1024 * 1024;

/** How many characters a line of data counts for at least: that is what joining a shorter one to its event takes in memory. */
const lineCharsMin = 64;

export class SseTooLong extends Error {
  constructor() {
    super(`a server-sent event is longer than ${sseEventCharsMax} characters`);
    this.name = 'SseTooLong';
  }
}

/**
 * An incremental reader: accepts bytes split anywhere and returns complete events. CR, LF and CRLF end lines; comments
 * and unknown fields are dropped; a leading byte order mark is skipped. Of streams of JSON, it also reads what the standard
 * does not: events without a blank line between them, and JSON without a field.
 */
export class SseReader {
  readonly #decoder = new TextDecoder('utf-8');
  #rest = '';
  /** Whether the last character was a CR: a following LF belongs to the same line end. */
  #endedInCr = false;
  #event = '';
  /** The last line that named an event: in most streams, nearly all are the same. */
  #eventLine = '';
  #eventOfLine = '';
  #id: string | undefined;
  #data: string | undefined;
  #dataLength = 0;
  /** The last line of data of an event with several: to ask `#data` for its end would join its lines each time. */
  #lastLine: string | undefined;
  /** JSON of several lines without a field, which only its end completes. */
  #bare = '';
  #bareLength = 0;

  push(bytes: Uint8Array): SseEvent[] {
    const events: SseEvent[] = [];
    const fresh = this.#fresh(bytes);
    let start = 0;
    // Search again only after passing the previous hit: one search per line would be quadratic when there is none.
    let cr = fresh.indexOf('\r');
    let lf = fresh.indexOf('\n');
    for (;;) {
      if (cr >= 0 && cr < start) cr = fresh.indexOf('\r', start);
      if (lf >= 0 && lf < start) lf = fresh.indexOf('\n', start);
      const end = cr < 0 || (lf >= 0 && lf < cr) ? lf : cr;
      if (end < 0) break;
      if (start === 0 && this.#rest !== '') this.#takeLine(this.#rest + fresh.slice(0, end), events);
      else if (fresh.startsWith(dataField, start)) this.#addValue(dataIn(fresh, start, end), events);
      else this.#takeLine(fresh.slice(start, end), events);
      start = end + 1;
      if (end !== cr) continue;
      if (start === fresh.length) this.#endedInCr = true;
      else if (start === lf) start += 1;
    }
    // A line without an end grows: scanning it from its start for each chunk would be quadratic.
    this.#keep(start === 0 ? this.#rest + fresh : fresh.slice(start));
    return events;
  }

  #fresh(bytes: Uint8Array): string {
    const text = this.#decoder.decode(bytes, { stream: true });
    if (!this.#endedInCr || text === '') return text;
    this.#endedInCr = false;
    return text.charCodeAt(0) === 10 ? text.slice(1) : text;
  }

  /** The content of a last, unterminated event: the standard drops it, some providers rely on it. */
  end(): SseEvent[] {
    const events: SseEvent[] = [];
    const text = this.#rest + this.#decoder.decode();
    this.#keep('');
    for (const line of text.split(/\r\n|\r|\n/)) if (line !== '') this.#takeLine(line, events);
    this.#takeLine('', events);
    if (this.#bare !== '') events.push({ event: 'message', data: this.#bare, id: this.#id });
    this.#bare = '';
    return events;
  }

  #keep(rest: string): void {
    if (rest.length > sseEventCharsMax) throw new SseTooLong();
    this.#rest = rest;
  }

  #takeLine(line: string, into: SseEvent[]): void {
    if (line === '') {
      this.#dispatch(into);
      this.#event = '';
      return;
    }
    if (line === this.#eventLine) {
      this.#event = this.#eventOfLine;
      return;
    }
    const colon = line.indexOf(':');
    if (colon === 0) return;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + (line.charCodeAt(colon + 1) === 32 ? 2 : 1));
    if (field === 'data') this.#addValue(value, into);
    else if (field === 'event') {
      this.#event = value;
      this.#eventOfLine = value;
      this.#eventLine = line;
    } else if (field === 'id' && !value.includes('\0')) this.#id = value;
    else if (this.#bare !== '' || bareStart.test(line)) this.#addBare(line, into);
  }

  #dispatch(into: SseEvent[]): void {
    if (this.#data === undefined) return;
    into.push({ event: this.#event || 'message', data: this.#data, id: this.#id });
    this.#data = undefined;
    this.#dataLength = 0;
    this.#lastLine = undefined;
  }

  /** Takes a line of JSON without a field: an object on one line is an event. */
  #addBare(line: string, into: SseEvent[]): void {
    const text = line.trim();
    if (this.#bare === '' && text.startsWith('{') && text.endsWith('}')) {
      this.#dispatch(into);
      into.push({ event: 'message', data: text, id: this.#id });
      return;
    }
    this.#bareLength += Math.max(line.length + 1, lineCharsMin);
    if (this.#bareLength > sseEventCharsMax) throw new SseTooLong();
    this.#bare += `${line}\n`;
  }

  #addValue(value: string, into: SseEvent[]): void {
    // Within JSON, no object follows another one without a comma. Source: rexxars/eventsource-parser#31.
    if (this.#data !== undefined && startsEvent.test(value) && (this.#lastLine ?? this.#data).endsWith('}'))
      this.#dispatch(into);
    this.#dataLength += Math.max(value.length + 1, lineCharsMin);
    if (this.#dataLength > sseEventCharsMax) throw new SseTooLong();
    if (this.#data === undefined) this.#data = value;
    else {
      this.#data = `${this.#data}\n${value}`;
      this.#lastLine = value;
    }
  }
}

const dataField = 'data:';

/** The value of a line of data, which most are, without a text for the line itself. */
function dataIn(text: string, start: number, end: number): string {
  const from = start + dataField.length;
  return text.slice(text.charCodeAt(from) === 32 && from < end ? from + 1 : from, end);
}

const startsEvent = /^(\{|\[DONE\])/;
const bareStart = /^\s*[[{]/;

/** Formats one event, blank line included. `json` must be JSON text, which contains no raw line break. */
export function sseEvent(json: string, event?: string): string {
  return event === undefined ? `data: ${json}\n\n` : `event: ${event}\ndata: ${json}\n\n`;
}

export const sseDone = 'data: [DONE]\n\n';
