import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Static, Type } from 'typebox';
import { FileUnreadable, readNamedFile } from '../../runtime/read-named-file.ts';
import { readYaml, type YamlFault } from '../../yaml/read-yaml.ts';
import { type SchemaFault, schemaFaults } from '../../yaml/schema-faults.ts';

/*
 * The file of one recorded call: YAML that people can read and edit. Faults quote each `description` as what is expected.
 */

const text = Type.String({ description: 'text' });
const headers = Type.Record(Type.String(), text, { description: 'a map of names and texts' });
const whole = { additionalProperties: false, description: 'a map' } as const;

const Chunk = Type.Object(
  {
    /** Milliseconds since the request was sent. */
    after_ms: Type.Number({ minimum: 0, description: 'milliseconds from 0' }),
    text,
  },
  { additionalProperties: false, description: 'a map of after_ms and text' },
);

export const Recording = Type.Object(
  {
    /** ISO 8601. */
    recorded_at: text,
    /** The provider's name, else the host. */
    provider: text,
    model: Type.Optional(text),
    request: Type.Object({ method: text, url: text, headers, body: Type.Optional(Type.Unknown()) }, whole),
    response: Type.Object(
      {
        status: Type.Integer({ minimum: 200, maximum: 599, description: 'a status from 200 to 599' }),
        headers,
        /** `broken` if the connection broke or the reader left before the end. */
        ended: Type.Enum(['complete', 'broken'], { description: 'complete or broken' }),
        /** A whole JSON document, sent as compact JSON. */
        json: Type.Optional(Type.Unknown()),
        /** Any other body, chunk by chunk. */
        chunks: Type.Optional(Type.Array(Chunk, { description: 'a list of chunks' })),
      },
      whole,
    ),
  },
  { additionalProperties: false, description: 'a recording' },
);

export type Recording = Static<typeof Recording>;
export type RecordedChunk = Static<typeof Chunk>;

/** The chunks of an answer; a JSON document is one chunk. */
export function chunksOf({ response }: Recording): RecordedChunk[] {
  if (response.chunks !== undefined) return response.chunks;
  return response.json === undefined ? [] : [{ after_ms: 0, text: JSON.stringify(response.json) }];
}

export interface StoredRecording {
  /** The name of its file. */
  file: string;
  recording: Recording;
}

/** Recorded calls may contain pictures and documents. */
const fileBytesMax = 256 * 1024 ** 2;

/** All recordings in a folder, sorted by name and thereby by time; or all faults of all files. */
export async function readRecordings(
  folder: string,
): Promise<{ recordings: StoredRecording[] } | { faults: YamlFault[] }> {
  const names = (await readdir(folder)).filter((name) => /\.(ya?ml|json)$/.test(name)).sort();
  const recordings: StoredRecording[] = [];
  const faults: YamlFault[] = [];
  for (const file of names) {
    const path = join(folder, file);
    const read = await readRecording(path);
    if ('faults' in read) faults.push(...read.faults);
    else recordings.push({ file, recording: read.recording });
  }
  return faults.length > 0 ? { faults } : { recordings };
}

async function readRecording(path: string): Promise<ReturnType<typeof parseRecording>> {
  try {
    return parseRecording((await readNamedFile(path, { bytesMax: fileBytesMax })).toString(), path);
  } catch (error) {
    if (!(error instanceof FileUnreadable)) throw error;
    return { faults: [{ file: path, line: 1, column: 1, message: error.sentence }] };
  }
}

/** Parses one file; faults have a line and column. */
export function parseRecording(
  text: string,
  file: string,
): { recording: Recording } | { faults: YamlFault[] } {
  const read = readYaml(text, file);
  if ('faults' in read) return read;
  const shape = schemaFaults(Recording, read.value, { whole: 'the recording' });
  const found = shape.length > 0 ? shape : contradictions(read.value as Recording);
  return found.length > 0 ? { faults: read.placed(found) } : { recording: read.value as Recording };
}

function contradictions({ request, response }: Recording): SchemaFault[] {
  const faults: SchemaFault[] = [];
  if (!URL.canParse(request.url)) {
    faults.push({ path: ['request', 'url'], isKey: false, message: '`request.url` must be an address' });
  }
  if (response.json !== undefined && response.chunks !== undefined) {
    const message = '`response` has either `json` or `chunks`, not both';
    faults.push({ path: ['response', 'json'], isKey: true, message });
  }
  return faults;
}
