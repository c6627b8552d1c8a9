import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readYaml, type YamlFault } from '../../yaml/read-yaml.ts';
import { type SchemaFault, schemaFaults } from '../../yaml/schema-faults.ts';
import { Recording } from './recording.ts';

export interface KeptRecording {
  /** Its file's name. */
  file: string;
  recording: Recording;
}

/** All recordings of a folder in the order of their names, which is that of time; or every fault of every file. */
export async function readRecordings(
  folder: string,
): Promise<{ recordings: KeptRecording[] } | { faults: YamlFault[] }> {
  const names = (await readdir(folder)).filter((name) => /\.(ya?ml|json)$/.test(name)).sort();
  const recordings: KeptRecording[] = [];
  const faults: YamlFault[] = [];
  for (const file of names) {
    const path = join(folder, file);
    const read = parseRecording(await readFile(path, 'utf8'), path);
    if ('faults' in read) faults.push(...read.faults);
    else recordings.push({ file, recording: read.recording });
  }
  return faults.length > 0 ? { faults } : { recordings };
}

/** Reads one file; faults have their line and column. */
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
