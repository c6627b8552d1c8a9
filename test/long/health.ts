/**
 * How soon a daemon says that it is alive while it works as hard as clients can make it: `npm run long -- health [SECONDS]`. With 600
 * clients for so long, with a dozen bodies of 30 MB at once, and with requests for the longest ranges of time there are.
 */
import { readFile } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { answers, words } from '../support/chaos-behaviours.ts';
import { startChaosUpstream } from '../support/chaos-upstream.ts';
import { startChildDaemon } from '../support/child-daemon.ts';
import { startLoad } from '../support/daemon-load.ts';
import { Checks, numberArgument, printFigures, quantile } from '../support/long-run.ts';
import { completeCall } from '../support/model-client.ts';

const seconds = numberArgument(20);
const clients = 600;
const bodies = 12;
const bodyBytes = 30_000_000;
const heldMsMax = 250;
const crowdMsMax = 1_000;
const memoryMax = 500;

const checks = new Checks();
const chaos = await startChaosUpstream(answers({ text: words, usage: { input: 10, output: 50 } }));
// As it is for users: it refuses what it cannot take.
const daemon = await startChildDaemon({
  config: `shed_load: true
upstreams: [{name: chat, base_url: "${chaos.baseUrl}", models: ["*"], wire: chat, prices: {input: "1", output: "2"}}]\n`,
});

/** Does some work; returns the milliseconds of each answer about its health, and its largest resident memory in MB. */
async function watch(work: () => Promise<unknown>) {
  const times: number[] = [];
  const poller = new Worker(new URL('../bench/health-poller.ts', import.meta.url), {
    workerData: daemon.url,
  });
  await new Promise((resolve) => poller.once('message', resolve));
  poller.on('message', (ms: number) => times.push(ms));
  const memory = [await residentMb()];
  const timer = setInterval(async () => memory.push(await residentMb()), 20);
  await work();
  // An answer that is late is one, too.
  await new Promise((resolve) => poller.once('message', resolve));
  clearInterval(timer);
  await poller.terminate();
  return { times, grownMb: Math.max(...memory) - (memory[0] as number) };
}

async function residentMb(): Promise<number> {
  const status = await readFile(`/proc/${daemon.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

const figures: Record<string, string> = {};
function note(what: string, times: readonly number[], share: number, msMax: number): void {
  const [late, latest] = [quantile(times, share), quantile(times, 1)];
  figures[what] =
    `p50 ${quantile(times, 0.5).toFixed(0)}, p99 ${quantile(times, 0.99).toFixed(0)}, longest ${latest.toFixed(0)} ms`;
  checks.check(late <= msMax, `${what}: health after ${late.toFixed(0)} ms`);
}

const headers = { authorization: `Bearer ${daemon.key}` };
const ranges = ['2020-01-01', '2026-01-01', '0001-01-01', '9999-12-31', '1969-12-31T23:59:59Z'];
const searches = await watch(async () => {
  for (const bucket of ['15m', 'hour', 'day', 'week', 'month', '']) {
    for (const since of ranges) {
      const query = new URLSearchParams({
        since,
        ...(bucket !== '' && { bucket }),
        timezone: 'Asia/Kathmandu',
      });
      await Promise.all(
        ['usage/series', 'usage/latency', 'usage', 'traces', 'provider-health'].map((path) =>
          fetch(`${daemon.url}/v1/${path}?${query}`, { headers }).then((reply) => reply.text()),
        ),
      );
    }
  }
});
note('longest ranges of time', searches.times, 1, heldMsMax);

for (const wire of ['chat', 'responses', 'messages'] as const) {
  const prompt = words.repeat(bodyBytes / Buffer.byteLength(words));
  const asked = { wire, model: 'chat/any', stream: false, prompt };
  const statuses: number[] = [];
  const { times, grownMb } = await watch(async () => {
    const all = await Promise.all(Array.from({ length: bodies }, () => completeCall(daemon, asked)));
    for (const { status, headers: answered } of all) {
      statuses.push(status);
      if (status !== 200)
        checks.check(
          answered['retry-after'] !== undefined && [503, 529].includes(status),
          `${wire}: ${status}`,
        );
    }
  });
  const what = `${bodies} bodies of 30 MB, ${wire}`;
  note(what, times, 1, heldMsMax);
  const served = statuses.filter((status) => status === 200).length;
  figures[`${what}: served, MB`] = `${served}, +${grownMb.toFixed(0)}`;
  checks.check(served > 0, `${what}: none was served`);
  checks.check(grownMb <= memoryMax, `${what}: ${grownMb.toFixed(0)} MB more`);
}

const crowd = await watch(async () => {
  const load = startLoad(() => daemon, {
    clients,
    model: 'chat/any',
    more: { max_completion_tokens: 50 },
    everyMs: 0,
  });
  await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
  await load.stop();
});
note(`${clients} clients`, crowd.times, 0.99, crowdMsMax);

printFigures(figures);
await daemon.remove();
await chaos.close();
checks.finish();
