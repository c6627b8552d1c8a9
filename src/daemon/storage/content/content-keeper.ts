import { hash } from 'node:crypto';
import { AnswerAssembler } from '../../../shared/assemble-answer.ts';
import { keptHeadersIn } from '../../../shared/kept-headers.ts';
import { secretsIn, withoutSecretParameters, withoutSecrets } from '../../../shared/redaction.ts';
import type {
  AnsweredContent,
  AskedContent,
  AttemptContent,
  CallContent,
  ContentRead,
  ContentSelection,
  ContentText,
} from '../../features/capture/index.ts';
import type { ContentRecord, StoredAttempt, StoredText } from './content-record.ts';
import type { ContentShelf } from './content-shelf.ts';
import { pack, unpack } from './packed.ts';
import { splitJson } from './split-json.ts';

/** Turns what was captured into records without credentials, and records into what is shown. */
export class ContentKeeper {
  readonly #shelf: ContentShelf;
  /** Makes digests useless for guessing a text, and different for each workspace. */
  readonly #key: Uint8Array;

  constructor(shelf: ContentShelf, key: Uint8Array) {
    this.#shelf = shelf;
    this.#key = key;
  }

  asked({ headers, body, attempts, ...call }: AskedContent): void {
    const number = this.#shelf.nextNumber();
    const owner = { workspaceId: call.workspaceId, number };
    this.#shelf.save({
      ...call,
      number,
      headers: headers.map((text) => withoutSecrets(text, [])),
      body: this.#store(body, owner),
      attempts: attempts.map((attempt) => this.#attempt(attempt, owner)),
      answer: null,
      isStream: false,
      isCut: false,
      isComplete: false,
      reads: null,
    });
  }

  answered({ requestId, answer, isStream, isCut, reads }: AnsweredContent): void {
    const record = this.#shelf.find(requestId);
    // It was not kept, or has been deleted.
    if (record === undefined) return;
    const assembled =
      isStream && typeof answer === 'string' ? assemble(answer, reads) : { text: answer, reads: undefined };
    this.#shelf.save({
      ...record,
      answer: this.#store(assembled.text, record),
      isStream,
      isCut,
      reads: this.#store(assembled.reads && JSON.stringify(assembled.reads), record),
      isComplete: true,
    });
  }

  find(workspaceId: string, requestId: string): CallContent | undefined {
    const record = this.#shelf.find(requestId);
    if (record?.workspaceId !== workspaceId) return undefined;
    const { number: _number, workspaceId: _workspace, ...content } = record;
    return {
      ...content,
      body: this.#show(record.body),
      answer: this.#show(record.answer),
      reads: readsIn(this.#show(record.reads)),
      attempts: record.attempts.map((attempt) => ({
        ...attempt,
        body: this.#show(attempt.body),
        refusal: this.#show(attempt.refusal),
      })),
    };
  }

  remove(workspaceId: string, requestId: string): boolean {
    const record = this.#shelf.find(requestId);
    if (record?.workspaceId !== workspaceId) return false;
    this.#shelf.remove(record);
    return true;
  }

  clear(selection: ContentSelection): number {
    return this.#shelf.clear(selection);
  }

  #attempt(
    { body, refusal, url, headers, ...attempt }: AttemptContent,
    owner: Pick<ContentRecord, 'workspaceId' | 'number'>,
  ): StoredAttempt {
    const secrets = secretsIn(url, headers);
    const clean = (texts: readonly string[]) => texts.map((text) => withoutSecrets(text, secrets));
    return {
      ...attempt,
      url: withoutSecrets(withoutSecretParameters(url), secrets),
      headers: clean(keptHeadersIn(headers)),
      received: clean(attempt.received),
      body: this.#store(body, owner, secrets),
      refusal: this.#store(refusal, owner, secrets),
    };
  }

  #store(
    content: Uint8Array | string | undefined,
    { workspaceId, number }: Pick<ContentRecord, 'workspaceId' | 'number'>,
    secrets: readonly string[] = [],
  ): StoredText | null {
    if (content === undefined) return null;
    const text = typeof content === 'string' ? content : Buffer.from(content).toString();
    const bytes = Buffer.from(withoutSecrets(text, secrets));
    const prefix = Buffer.concat([this.#key, Buffer.from(workspaceId)]);
    const parts = splitJson(bytes).map((part) => {
      const digest = hash('sha256', Buffer.concat([prefix, part]), 'base64url').slice(0, 22);
      return this.#shelf.usePart(digest) ?? this.#shelf.addPart(digest, pack(part), number);
    });
    return { bytes: bytes.length, parts };
  }

  #show(text: StoredText | null): ContentText | null {
    if (text === null) return null;
    const parts = text.parts.map((id) => this.#shelf.part(id));
    const known = parts.filter((part) => part !== undefined);
    return {
      bytes: text.bytes,
      text: Buffer.concat(known.map(({ packed }) => unpack(packed))).toString(),
      isPartial: known.length < parts.length,
    };
  }
}

/** The whole answer of a stream, and how much of its text each read had. */
function assemble(events: string, lengths: readonly number[]): { text: string | undefined; reads: number[] } {
  const assembler = new AnswerAssembler();
  const reads: number[] = [];
  let start = 0;
  for (let at = 0; at < lengths.length; at += 2) {
    const [ms = 0, length = 0] = lengths.slice(at, at + 2);
    const text = events.slice(start, start + length);
    start += length;
    reads.push(ms, Buffer.byteLength(text), assembler.push(text));
  }
  const answer = assembler.answer();
  return { text: answer && JSON.stringify(answer), reads };
}

function readsIn(stored: ContentText | null): ContentRead[] {
  if (stored === null || stored.isPartial) return [];
  const numbers = JSON.parse(stored.text) as number[];
  const reads: ContentRead[] = [];
  for (let at = 0; at < numbers.length; at += 3) {
    const [ms = 0, bytes = 0, characters = 0] = numbers.slice(at, at + 3);
    reads.push({ ms, bytes, characters });
  }
  return reads;
}
