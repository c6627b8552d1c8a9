import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';

const source = pathToFileURL(resolve('src/daemon/process/young-generation.ts')).href;

/** The young generation of a process that makes much garbage for about a second, of which a tenth survives; in MiB. */
function grownSize(isBounded: boolean): number {
  const program = `
    import { getHeapSpaceStatistics } from 'node:v8';
    import { boundYoungGeneration } from '${source}';
    ${isBounded ? 'boundYoungGeneration();' : ''}
    const kept = [];
    let turns = 0;
    const work = () => {
      for (let index = 0; index < 200_000; index += 1) kept[index % 100_000] = { index, list: [index] };
      turns += 1;
      if (turns < 60) setTimeout(work, 1);
      else console.log(getHeapSpaceStatistics().find((it) => it.space_name === 'new_space').space_size / 2 ** 20);
    };
    work();`;
  return Number(execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' }));
}

test('the young generation stays small in a process that makes much garbage', () => {
  expect(grownSize(false)).toBeGreaterThan(64);
  expect(grownSize(true)).toBeLessThanOrEqual(64);
});
