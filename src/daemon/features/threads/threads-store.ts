import type { KnownSecrets } from '../../../shared/masking/known-secrets.ts';
import type { NanoUsd, Tokens } from '../../../shared/money/money.ts';

/** A stored conversation. Times in milliseconds since 1970. */
export interface ThreadRecord {
  id: string;
  workspaceId: string;
  title: string | null;
  /** The current run. */
  runId: string | null;
  /** Number of messages, and their total length as JSON texts. */
  messages: number;
  characters: number;
  createdAt: number;
  updatedAt: number;
  /** The autopilot that it is addressed to. */
  autopilotId: string | null;
}

export type RunStatus = 'running' | 'completed' | 'failed' | 'cancelled';

/** The usage of a run; the cost is null when the price is unknown. */
export interface RunUsage {
  tokens: Tokens;
  cost: NanoUsd | null;
  charged: NanoUsd;
}

/** One model call in a thread, or one run of an autopilot, which may make several. */
export interface RunRecord {
  id: string;
  threadId: string;
  requestId: string;
  status: RunStatus;
  /** The requested model; the catalog's id once a provider answers. */
  model: string;
  provider: string | null;
  /** Null until the run has ended, and when nothing was used. */
  usage: RunUsage | null;
  meta: Record<string, string | null>;
  error: { code: string; message: string } | null;
  startedAt: number;
  completedAt: number | null;
  updatedAt: number;
  autopilotId: string | null;
  /** The version of its profile and policy when it started. */
  autopilotConfigVersion: number | null;
}

/** One item in the Responses format, added by a run. */
export interface MessageRecord {
  id: string;
  threadId: string;
  runId: string;
  /** Whether the model generated it. */
  isOutput: boolean;
  /** JSON text. */
  item: string;
  createdAt: number;
  /** The autopilot whose run added it. */
  autopilotId: string | null;
}

export type NewMessage = Pick<MessageRecord, 'id' | 'isOutput' | 'item'>;

export interface RunEventRecord {
  id: string;
  threadId: string;
  /** Counted from 1 in each thread. */
  sequence: number;
  runId: string;
  /** Such as `run_started`, `model_finished` or `tool_call_started`. */
  type: string;
  at: number;
  payload: Record<string, unknown>;
}

export type NewRunEvent = Pick<RunEventRecord, 'id' | 'type' | 'payload'>;

/** The autopilot that runs. */
export interface RunningAutopilot {
  id: string;
  configVersion: number;
  /** The time of its schedule at which the run was due. */
  scheduledAt?: number | undefined;
}

export interface RunStart {
  workspaceId: string;
  autopilot?: RunningAutopilot;
  run: Pick<RunRecord, 'id' | 'threadId' | 'requestId' | 'model' | 'meta' | 'startedAt'>;
  event: NewRunEvent;
  /** For a thread without a title. */
  title: string | null;
  /** A thread beyond these limits cannot be continued. */
  bounds: { messagesMax: number; charactersMax: number };
}

export interface RunEnd {
  run: Pick<RunRecord, 'id' | 'threadId' | 'model' | 'provider' | 'usage' | 'meta' | 'error'>;
  status: Exclude<RunStatus, 'running'>;
  messages: NewMessage[];
  events: NewRunEvent[];
  at: number;
}

export interface ThreadsStore {
  /** Returns false without a change if the workspace has `max` threads. */
  create(thread: ThreadRecord, max?: number): Promise<boolean>;
  /** A thread of this workspace. */
  byId(workspaceId: string, id: string): Promise<ThreadRecord | undefined>;
  /** Newest first. */
  list(workspaceId: string, page: { limit: number; after: string | undefined }): Promise<ThreadRecord[]>;
  /** Resolves to whether the thread exists. */
  rename(workspaceId: string, id: string, title: string | null, at: number): Promise<boolean>;
  /** Deletes a thread and its contents; a current run then writes nothing. Resolves to whether it existed. */
  remove(workspaceId: string, id: string): Promise<boolean>;

  /** Starts the only run of a thread; `busy` while it has another. */
  startRun(start: RunStart): Promise<'started' | 'busy' | 'missing' | 'full'>;
  /** Stores an event of a current run; does nothing for any other run. */
  noteEvent(threadId: string, runId: string, event: NewRunEvent, at: number): Promise<void>;
  /**
   * Ends a current run with its messages and events; resolves to false, without a write, for any other run. `secrets`: those of
   * its call.
   */
  endRun(end: RunEnd, secrets?: KnownSecrets): Promise<boolean>;
  /** The current runs of a daemon. */
  running(daemon: number): Promise<RunRecord[]>;
  runOf(threadId: string, runId: string): Promise<RunRecord | undefined>;
  /** Newest first. */
  runs(threadId: string, limit: number): Promise<RunRecord[]>;
  /** The runs of an autopilot in a workspace, newest first; a single one if `runId` is set. */
  runsBy(
    autopilotId: string,
    page: { workspaceId: string; limit: number; runId?: string },
  ): Promise<RunRecord[]>;

  /** As they are shown: without secrets. Oldest first, after the message `after`; undefined when there is none. */
  messages(
    threadId: string,
    page: { limit: number; after: string | undefined },
  ): Promise<MessageRecord[] | undefined>;
  /** The messages that a run added, oldest first, as they are shown. */
  messagesOf(threadId: string, runId: string): Promise<MessageRecord[]>;
  /** All messages, oldest first, as they were sent. */
  conversation(threadId: string): Promise<Pick<MessageRecord, 'item' | 'isOutput'>[]>;
  /** Events after a sequence, oldest first; of one run if `runId` is set. */
  events(threadId: string, page: { after: number; limit: number; runId?: string }): Promise<RunEventRecord[]>;
}
