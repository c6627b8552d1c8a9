import { hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { Command } from '@commander-js/extra-typings';
import type {
  AgentChallenge,
  AgentView,
  createAgent as createAgentContract,
} from '../../shared/contract/agents.ts';
import type { Result } from '../../shared/contract/endpoint.ts';
import { createAgent, createAgentChallenge, getAgent } from '../../shared/endpoints.ts';
import { dollars } from '../../view/money.ts';
import { count } from '../../view/numbers.ts';
import type { Context } from '../context.ts';
import { example } from '../options.ts';
import { progressBar } from '../output/progress.ts';
import type { Column } from '../output/table.ts';

export const signUpCommand = (context: Context) =>
  new Command('sign-up')
    .argument('<name>', 'the name of the agent, 1 to 64 bytes')
    .addHelpText('after', example('export GATEWAY_KEY=$(gateway agents sign-up scout --quiet)'))
    .action(async (name) => {
      // Sign-up takes no credential.
      const { url, socket } = context.host();
      const client = context.clientFor({ url, socket, token: undefined, workspace: undefined });
      const challenge = await client.call(createAgentChallenge, {});
      const proof = await solve(context, challenge);
      const body = { name, challenge: challenge.challenge, proof };
      const made = await client.call(createAgent, { body });
      await context.out.record(made, [id, named, secret], { pipedRow: [id, secret], shownOnce: secret });
      context.out.note('Save the secret now: it is not shown again. Use it as GATEWAY_KEY.');
    });

type Made = Column<Result<typeof createAgentContract>>;

const id: Made = { title: 'id', value: ({ agent }) => agent.id };
const named: Made = { title: 'name', value: ({ agent }) => agent.name };
const secret: Made = { title: 'secret', value: (made) => made.secret, style: () => 'bold', essential: true };

/** Hashes between two looks at Ctrl-C and the terminal: some ten milliseconds. */
const sliceSize = 10_000;

/** Finds the nonce that solves a challenge; shows the expected progress on a terminal. */
async function solve(
  { io, interrupted }: Context,
  { challenge, difficulty }: AgentChallenge,
): Promise<string> {
  const expected = 2 ** difficulty;
  const signal = interrupted();
  const bar = progressBar(io);
  try {
    for (let nonce = 0; ; nonce += 1) {
      if (nonce % sliceSize === 0) {
        signal.throwIfAborted();
        // The number of attempts is random, so the bar waits at the end when luck is bad.
        const done = Math.min(nonce, expected * 0.99);
        bar.show('Solving the challenge', done, expected, `about ${count(expected)} hashes`);
        await setImmediate();
      }
      if (isSolved(hash('sha256', `${challenge}:${nonce}`, 'buffer'), difficulty)) return String(nonce);
    }
  } finally {
    bar.stop();
  }
}

/** Whether a digest begins with that many zero bits. */
function isSolved(digest: Buffer, bits: number): boolean {
  const bytes = bits >> 3;
  for (let at = 0; at < bytes; at += 1) if (digest[at] !== 0) return false;
  return bits % 8 === 0 || (digest[bytes] ?? 0) >> (8 - (bits % 8)) === 0;
}

export const showAgentCommand = (context: Context) =>
  new Command('me').addHelpText('after', example('gateway agents me --jq .balance_usd')).action(async () => {
    const view = await context.client().call(getAgent, {});
    await context.out.record(view, agentColumns);
  });

const agentColumns: Column<AgentView>[] = [
  { title: 'id', value: ({ agent }) => agent.id, essential: true },
  { title: 'name', value: ({ agent }) => agent.name },
  { title: 'created', value: ({ agent }) => agent.created_at },
  { title: 'plan', value: ({ plan }) => plan },
  {
    title: 'balance',
    value: ({ balance_usd: balance }) => balance,
    show: (view) => dollars(view.balance_usd),
  },
  { title: 'free requests', value: ({ free_tier: { requests } }) => `${requests.used} of ${requests.limit}` },
  {
    title: 'free budget',
    value: ({ free_tier: { budget_usd: budget } }) => `${dollars(budget.used)} of ${dollars(budget.limit)}`,
  },
  { title: 'shared pool', value: ({ free_tier }) => free_tier.shared_pool.state },
  { title: 'calls today', value: ({ calls_today: { other } }) => usedOf(other) },
  { title: 'decisions today', value: ({ calls_today: { decisions } }) => usedOf(decisions) },
  { title: 'resets', value: ({ free_tier }) => free_tier.resets_at },
];

function usedOf({ used, limit }: { used: number; limit: number | null }): string {
  return limit === null ? String(used) : `${used} of ${limit}`;
}
