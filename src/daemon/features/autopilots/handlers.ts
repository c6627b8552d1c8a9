import {
  type Autopilot,
  type AutopilotDetails,
  archiveAutopilot,
  createAutopilot,
  getAutopilot,
  listAutopilots,
  updateAutopilot,
} from '../../../shared/contract/autopilots.ts';
import { pageSizeMax } from '../../../shared/contract/site.ts';
import { isoTime } from '../../../shared/time.ts';
import { type Handler, implement } from '../../handler.ts';
import type { Autopilots } from './autopilots.ts';
import type { AutopilotRecord } from './store.ts';

const pageSizeDefault = 100;

export function autopilotHandlers(autopilots: Autopilots): Handler[] {
  return [
    implement(listAutopilots, async ({ caller, query }) => {
      const limit = Math.min(query.limit ?? pageSizeDefault, pageSizeMax);
      const records = await autopilots.list(caller, { limit, status: query.status });
      return { data: records.map(toAutopilot) };
    }),
    implement(createAutopilot, async ({ caller, body }) => ({
      data: toDetails(await autopilots.create(caller, body)),
    })),
    implement(getAutopilot, async ({ caller, params }) => ({
      data: toDetails(await autopilots.find(caller, params.autopilot)),
    })),
    implement(updateAutopilot, async ({ caller, params, body }) => ({
      data: toDetails(await autopilots.change(caller, params.autopilot, body)),
    })),
    implement(archiveAutopilot, async ({ caller, params }) => ({
      data: toDetails(await autopilots.archive(caller, params.autopilot)),
    })),
  ];
}

function toAutopilot(record: AutopilotRecord): Autopilot {
  return {
    avatar: record.avatar,
    configVersion: record.configVersion,
    createdAt: isoTime(record.createdAt),
    displayName: record.displayName,
    handle: record.handle,
    id: record.id,
    ownerUserId: record.owner,
    status: record.status,
    tagline: record.tagline,
    updatedAt: isoTime(record.updatedAt),
    visibility: record.visibility,
  };
}

function toDetails(record: AutopilotRecord): AutopilotDetails {
  return { ...toAutopilot(record), profile: record.profile, policy: record.policy };
}
