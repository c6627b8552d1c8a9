import { decisionPaths } from '../../../shared/constants/decision-paths.ts';
import { decisionLimits } from '../../../shared/contract/decisions.ts';
import { RecentMap } from '../../../shared/recent-map.ts';
import type { World } from '../../base/world.ts';
import type { PeerAddress, PeerCard, PeerClient } from '../../features/peers/index.ts';
import { UpstreamFailure } from '../../features/upstreams/upstream.ts';
import { countOf, type Json, objectOf, objectsOf, parseObject, textOf } from '../json.ts';
import { upstreamFailureOf } from '../network-failures.ts';
import { openAiFailure } from '../providers/openai-chat/failure.ts';
import { readText } from '../response-body.ts';
import { type DecisionEndpoint, noDecisions, sendDecision } from './decision-endpoint.ts';
import { type DecisionFormat, openAiDecisions, systemOne } from './decision-format.ts';

const cardBytesMax = 1024 * 1024;
const errorBytesMax = 64 * 1024;
/** Of what a peer states about itself, as much is kept. */
const modelsMax = 200;
const textMax = 256;
const serversMax = 1000;

/** Calls peers: gateways by their card and their decision endpoint, other servers by what they have of it. */
export function peerClient(world: Pick<World, 'send'>): PeerClient {
  /** Servers that answered with the second endpoint, which is then tried first. */
  const usesSystemOne = new RecentMap<string, true>(serversMax);
  const get = async ({ name, url, key, mayBePrivate }: PeerAddress, path: string, signal: AbortSignal) => {
    const { status, headers, body } = await world.send({
      method: 'GET',
      url: `${url}${path}`,
      signal,
      provider: name,
      publicOnly: !mayBePrivate,
      headers: { accept: 'application/json', ...(key !== undefined && { authorization: `Bearer ${key}` }) },
    });
    if (status === 200) {
      const text = Buffer.from(await body.bytes(cardBytesMax)).toString('utf8');
      return parseObject(text);
    }
    const text = await readText(body, errorBytesMax);
    if (status === 404 || status === 405 || status === 501) return undefined;
    throw openAiFailure(name, status, headers, text);
  };
  return {
    async card(address, signal) {
      try {
        const node = await get(address, '/v1/node', signal);
        if (textOf(node?.node_id) !== undefined) return nodeCardOf(node as Json);
        const models = objectsOf((await get(address, '/v1/models', signal))?.data);
        return { nodeId: null, version: null, models: modelsOf(models), slotsFree: null };
      } catch (error) {
        throw upstreamFailureOf(error, address.name);
      }
    },

    async decide({ name, url, key, mayBePrivate }, question, signal) {
      const { model, request, debias, deadlineMs, via, idempotencyKey, isGateway } = question;
      const added = {
        'x-decision-order': 'hosted',
        'x-service-via': via.join(', '),
        'x-service-deadline-ms': String(deadlineMs),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      };
      const send: World['send'] = (outgoing) => {
        if (Buffer.byteLength(outgoing.body ?? '') > decisionLimits.bodyBytes) {
          throw new UpstreamFailure('caller', `the request is too large for ${name}`, { status: 413 });
        }
        return world.send({
          ...outgoing,
          headers: { ...outgoing.headers, ...added },
          publicOnly: !mayBePrivate,
        });
      };
      const decisions = { name, url: `${url}${decisionPaths.decisions}`, format: openAiDecisions };
      if (isGateway) {
        const endpoint = { ...decisions, format: withDebias(debias) };
        const answer = await sendDecision(send, endpoint, { model, key, request }, signal);
        if (answer === undefined) throw noDecisions(name);
        return answer;
      }
      const server = { name, url: `${url}${decisionPaths.systemOne}`, format: systemOne };
      const endpoints: DecisionEndpoint[] = usesSystemOne.has(url)
        ? [server, decisions]
        : [decisions, server];
      for (const endpoint of endpoints) {
        const answer = await sendDecision(send, endpoint, { model, key, request }, signal);
        if (answer === undefined) continue;
        if (endpoint === server) usesSystemOne.set(url, true);
        return answer;
      }
      throw noDecisions(name);
    },
  };
}

/** Gateways take the option in the extension member. */
function withDebias(debias: 'auto' | 'off' | 'full'): DecisionFormat {
  if (debias === 'auto') return openAiDecisions;
  return {
    ...openAiDecisions,
    body: (request, model) => ({ ...openAiDecisions.body(request, model), service: { debias } }),
  };
}

function nodeCardOf({ node_id: nodeId, version, decisions }: Json): PeerCard {
  const { models, slots } = objectOf(decisions) ?? {};
  return {
    nodeId: shortText(nodeId),
    version: shortText(version),
    models: modelsOf(objectsOf(models)),
    slotsFree: countOf(objectOf(slots)?.free) ?? null,
  };
}

function modelsOf(listed: readonly Json[]): PeerCard['models'] {
  return listed.slice(0, modelsMax).flatMap((model) => {
    const id = shortText(model.id);
    return id === null ? [] : [{ id, identity: shortText(model.identity) }];
  });
}

/** A text of a bearable length without control characters, or null. */
function shortText(value: unknown): string | null {
  const text = textOf(value);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  return text === undefined || text.length > textMax || /[\u0000-\u001f\u007f-\u009f]/.test(text)
    ? null
    : text;
}
