import { Type } from 'typebox';
import { getStatus, ready } from '../../../../shared/contract/daemon.ts';
import { getKey, listKeys } from '../../../../shared/contract/keys.ts';
import { getUsage, listUsage } from '../../../../shared/contract/usage.ts';
import { ApiError } from '../../../../shared/errors.ts';
import { version } from '../../../../shared/version.ts';
import { tool } from '../tool.ts';

const nothing = Type.Object({}, { additionalProperties: false });

export const sumUsageTool = tool({
  name: 'sum_usage',
  title: 'Sum up usage',
  description:
    'Sum up model calls: requests, rejected calls, tokens and cost in US dollars, in total and by day, model or key. Without `since` it covers the latest 30 days.',
  input: Type.Object(listUsage.query.properties, { additionalProperties: false }),
  endpoints: [listUsage],
  isReadOnly: true,
  run: async (query, { ask }) => ({ data: await ask.whole(listUsage, { query }) }),
});

export const getUsageTool = tool({
  name: 'get_usage',
  title: 'Show one request',
  description:
    'Show one finished model call by its request id (`req_…`): tokens, cost, provider, attempts, and durations in milliseconds.',
  input: Type.Object(getUsage.params.properties, { additionalProperties: false }),
  endpoints: [getUsage],
  isReadOnly: true,
  run: async (params, { ask }) => ({ data: await ask.whole(getUsage, { params }) }),
});

export const getKeyTool = tool({
  name: 'get_key',
  title: 'Show the calling key',
  description: 'Show the key that this connection uses: its scopes, spending, remaining balance and limits.',
  input: nothing,
  endpoints: [getKey],
  isReadOnly: true,
  run: async (_, { ask }) => ({ data: await ask.whole(getKey, {}) }),
});

const { limit, after } = listKeys.query.properties;

export const listKeysTool = tool({
  name: 'list_keys',
  title: 'List keys',
  description:
    'List the API keys of a workspace, newest first, including revoked ones, without their secrets. For the next page, send `next` as `after`.',
  input: Type.Object(
    { workspace: Type.Optional(listKeys.params.properties.workspace), limit, after },
    { additionalProperties: false },
  ),
  endpoints: [listKeys],
  isReadOnly: true,
  run: async ({ workspace = 'me', ...query }, { ask }) => ({
    data: await ask.whole(listKeys, { params: { workspace }, query }),
  }),
});

/** Callers other than the daemon's owner only see whether it serves calls. */
export const statusTool = tool({
  name: 'get_status',
  title: 'Show the daemon’s status',
  description:
    'Show whether the gateway serves calls. Its owner also sees its providers, default model, storage and vault.',
  input: nothing,
  endpoints: [getStatus, ready],
  isReadOnly: true,
  async run(_, { ask }) {
    if (ask.mayCall(getStatus)) {
      try {
        return { data: await ask.whole(getStatus, {}) };
      } catch (error) {
        if (!(error instanceof ApiError && error.code === 'permission')) throw error;
      }
    }
    return { data: { ...(await ask.whole(ready, {})), version } };
  },
});
