import { hash } from 'node:crypto';
import type { AgentChallenge, AgentView } from '../../src/shared/contract/agents.ts';

/** Settings under which tests can sign up as many agents as they like, in no time. */
export const easySignUp = 'agents: {difficulty: 4, sign_ups_per_address: 1000000}\n';

/** Finds a proof for a challenge. */
export function solve({ challenge, difficulty }: AgentChallenge): string {
  for (let nonce = 0; ; nonce += 1) {
    const digest = hash('sha256', `${challenge}:${nonce}`, 'hex');
    const bits = [...digest].map((digit) => Number.parseInt(digit, 16).toString(2).padStart(4, '0')).join('');
    if (!bits.slice(0, difficulty).includes('1')) return String(nonce);
  }
}

/** A daemon by its address; sign-up needs no credential. */
type Host = { url: string };

export async function solvedChallenge({ url }: Host): Promise<{ challenge: string; proof: string }> {
  const answer = await fetch(`${url}/v1/agents/challenge`, { method: 'POST' });
  const open = (await answer.json()) as AgentChallenge;
  return { challenge: open.challenge, proof: solve(open) };
}

export function requestSignUp({ url }: Host, body: object): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return fetch(`${url}/v1/agents`, { method: 'POST', headers, body: JSON.stringify(body) });
}

/** Signs up an agent; returns its id and secret. */
export async function signUpAgent(host: Host, name = 'Scout'): Promise<{ id: string; secret: string }> {
  const answer = await requestSignUp(host, { name, ...(await solvedChallenge(host)) });
  const { agent, secret } = (await answer.json()) as { agent: { id: string }; secret: string };
  return { id: agent.id, secret };
}

export async function viewAgent({ url }: Host, secret: string): Promise<AgentView> {
  const answer = await fetch(`${url}/v1/agents/me`, { headers: { authorization: `Bearer ${secret}` } });
  return (await answer.json()) as AgentView;
}
