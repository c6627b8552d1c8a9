import { openApi } from '../../../shared/contract/daemon.ts';
import type { Endpoint } from '../../../shared/contract/endpoint.ts';
import { listUsage } from '../../../shared/contract/usage.ts';
import { utcDay } from '../../../shared/time.ts';
import type { World } from '../../world.ts';
import type { Ask } from './inner-call.ts';

/** JSON that a client can give to a model as context. */
export interface Resource {
  uri: string;
  name: string;
  title: string;
  description: string;
  /** The resource is offered to those who may call this endpoint. */
  endpoint: Endpoint;
  read(ask: Ask, world: Pick<World, 'now'>): Promise<unknown>;
}

export const resources: readonly Resource[] = [
  {
    uri: 'gateway://openapi.json',
    name: 'openapi.json',
    title: 'The API of this gateway',
    description: 'Every endpoint with its schemas, in OpenAPI 3.1.',
    endpoint: openApi,
    read: (ask) => ask.whole(openApi, {}),
  },
  {
    uri: 'gateway://usage/today',
    name: 'usage-today',
    title: 'Today’s usage',
    description: 'Requests, tokens and cost in US dollars of this UTC day, in total and by model.',
    endpoint: listUsage,
    read: (ask, world) => ask.whole(listUsage, { query: { since: utcDay(world.now()), group_by: 'model' } }),
  },
];
