import { readYaml } from '../../src/daemon/yaml/read-yaml.ts';
import type { CountedWork } from '../support/counted-thread.ts';

const lines = (line: (at: number) => string, length: number) =>
  Array.from({ length }, (_, at) => line(at)).join('\n');

export const works: Record<string, CountedWork> = {
  keys: (size) => {
    const text = lines((at) => `key${at}: 1`, size);
    return () => {
      const read = readYaml(text, 'file.yaml');
      return 'value' in read && Object.keys(read.value as object).length;
    };
  },
  'aliases without anchors': (size) => {
    const text = `list:\n${lines(() => '- *none', size)}`;
    return () => {
      const read = readYaml(text, 'file.yaml');
      return 'faults' in read && read.faults.length;
    };
  },
};
