// What a run of the tests came to: `tally.mjs RESULTS...` prints the sums; `tally.mjs --unfinished RESULTS` the files in
// which the test runner's process died, one a line, if nothing else failed. RESULTS are vitest's JSON reports; of a file
// that is in several, the last one counts.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { unfinished: { type: 'boolean' } },
});
const files = new Map();
for (const report of positionals)
  for (const file of JSON.parse(readFileSync(report, 'utf8')).testResults) files.set(file.name, file);

/** How many tests of those files ended with that status. */
const count = (status) =>
  [...files.values()].flatMap((file) => file.assertionResults).filter((test) => test.status === status)
    .length;

/** Whether a file failed though none of its tests has: one of them never ended, or nothing is known of the file at all. */
const unfinished = ({ assertionResults: tests, message }) =>
  !tests.some((test) => test.status === 'failed') &&
  (tests.length === 0 ? message === '' : tests.some((test) => test.status === 'pending'));

const failed = [...files.values()].filter((file) => file.status === 'failed');

if (values.unfinished) {
  if (failed.every(unfinished)) process.stdout.write(failed.map((file) => `${file.name}\n`).join(''));
} else {
  // A file that could not be read, or whose set-up failed, counts as one.
  const without = failed.filter((file) => !file.assertionResults.some((test) => test.status === 'failed'));
  const skipped = count('skipped') + count('todo');
  process.stdout.write(
    `${count('passed')} passed, ${count('failed') + without.length} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`,
  );
}
