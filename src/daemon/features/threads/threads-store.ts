import type { NanoUsd, Tokens } from '../../../shared/money.ts';

/** A conversation that is kept. Times in milliseconds since 1970. */
export interface ThreadRecord {
  id: string;
  workspaceId: string;
  title: string | null;
  /** The run that is under way. */
  runId: string | null;
  /** How many messages it holds, and how long they are together as JSON texts. */
  messages: number;
  characters: number;
  createdAt: number;
  updatedAt: number;
}

export type RunStatus = 'running' | 'completed' | 'failed' | 'cancelled';

/** What a run took; a cost is null where the price is unknown. */
export interface RunUsage {
  tokens: Tokens;
  cost: NanoUsd | null;
  charged: NanoUsd;
}

/** One model call in a thread. */
export interface RunRecord {
  id: string;
  threadId: string;
  requestId: string;
  status: RunStatus;
  /** As it was asked for, until it is known who answers. */
  model: string;
  provider: string | null;
  /** Null until it has ended, and where nothing was used. */
  usage: RunUsage | null;
  meta: Record<string, string | null>;
  error: { code: string; message: string } | null;
  startedAt: number;
  completedAt: number | null;
  updatedAt: number;
}

/** What a run added: one item in the Responses format. */
export interface MessageRecord {
  id: string;
  threadId: string;
  runId: string;
  /** Whether the model made it. */
  isOutput: boolean;
  /** JSON text. */
  item: string;
  createdAt: number;
}

export type NewMessage = Pick<MessageRecord, 'id' | 'isOutput' | 'item'>;

export interface RunEventRecord {
  id: string;
  threadId: string;
  /** Counted from 1, in each thread. */
  sequence: number;
  runId: string;
  /** `run_started`, `model_stream_started`, `model_finished`, `run_completed`, `run_failed` or `run_cancelled`. */
  type: string;
  at: number;
  payload: Record<string, unknown>;
}

export type NewRunEvent = Pick<RunEventRecord, 'id' | 'type' | 'payload'>;

export interface RunStart {
  workspaceId: string;
  run: Pick<RunRecord, 'id' | 'threadId' | 'requestId' | 'model' | 'meta' | 'startedAt'>;
  event: NewRunEvent;
  /** Given to a thread that has none. */
  title: string | null;
  /** A thread with more than that is not continued. */
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
  create(thread: ThreadRecord): Promise<void>;
  /** Of this workspace; the threads of others do not exist here. */
  byId(workspaceId: string, id: string): Promise<ThreadRecord | undefined>;
  /** Newest first. */
  list(workspaceId: string, page: { limit: number; after: string | undefined }): Promise<ThreadRecord[]>;
  /** Whether it was there. */
  rename(workspaceId: string, id: string, title: string | null, at: number): Promise<boolean>;
  /** Drops a thread with all that it holds; a run that is under way writes nothing any more. */
  remove(workspaceId: string, id: string): Promise<boolean>;

  /** Begins the one run of a thread: `busy` while another is under way. */
  startRun(start: RunStart): Promise<'started' | 'busy' | 'missing' | 'full'>;
  /** Keeps an event of a run that is under way; nothing where it is not. */
  noteEvent(threadId: string, runId: string, event: NewRunEvent, at: number): Promise<void>;
  /** Ends a run with all that it adds; false, and nothing is written, when it is not under way or its thread is deleted. */
  endRun(end: RunEnd): Promise<boolean>;
  /** The runs that are under way: at a start, what an earlier daemon left behind. */
  running(): Promise<RunRecord[]>;
  runOf(threadId: string, runId: string): Promise<RunRecord | undefined>;
  /** Newest first. */
  runs(threadId: string, limit: number): Promise<RunRecord[]>;

  /** Oldest first, after the message with that id; undefined where there is no such message. */
  messages(
    threadId: string,
    page: { limit: number; after: string | undefined },
  ): Promise<MessageRecord[] | undefined>;
  /** All of them, oldest first: what a run continues. */
  conversation(threadId: string): Promise<Pick<MessageRecord, 'item' | 'isOutput'>[]>;
  /** Those after a sequence, oldest first; of one run where that is named. */
  events(threadId: string, page: { after: number; limit: number; runId?: string }): Promise<RunEventRecord[]>;
}
