import type { MessagePort } from 'node:worker_threads';
import type { Change } from '../base/changes.ts';
import type { LogDetails } from '../base/log.ts';
import type { Config } from '../config/config.ts';
import type { WireWindow } from '../features/capture/index.ts';
import type { ProviderDescription } from '../features/catalog/index.ts';
import type { LearnedRefusal } from '../features/inference/index.ts';
import type { Captured } from '../storage/content/content-messages.ts';
import type { WorkerLoad } from '../wiring/workers.ts';
import type { Observed } from './observed.ts';

/** What a worker gets when it starts. */
export interface WorkerData {
  config: Config;
  env: Record<string, string | undefined>;
  /** Seals reasoning; 32 bytes. */
  dataKey: Uint8Array;
  /** The database, and the port to its writer. */
  database: { file: string; port: MessagePort };
  hostWorkspace: { id: string | undefined; createdAt: number };
  /** The Unix socket on which the main thread serves. */
  socketFile: string;
  /** The most connections; undefined if the system does not limit them. */
  connectionsMax: number | undefined;
  /** Whether `traceparent` headers matter. */
  hasSpans: boolean;
}

/** What the main thread asks of a worker: the question, and the answer. */
export interface ToWorker {
  /** Resolves once it has built what it serves with. */
  ready: [question: undefined, answer: undefined];
  listen: [question: { host: string; port: number }, answer: undefined];
  reload: [question: Config, answer: undefined];
  cancel: [question: { workspaceId: string; requestId: string }, answer: boolean];
  retry: [question: { provider: string; account: string | undefined }, answer: undefined];
  refusals: [question: string, answer: LearnedRefusal[]];
  load: [question: undefined, answer: WorkerLoad];
  /** Milliseconds that proxies have to close their connections. */
  leave: [question: number, answer: undefined];
  /** Milliseconds until running calls are ended. */
  drain: [question: number, answer: undefined];
  close: [question: undefined, answer: undefined];
  providers: [question: readonly ProviderDescription[], answer: undefined];
  wires: [question: { workspaceId: string; windows: readonly WireWindow[] }, answer: undefined];
  changes: [question: readonly Change[], answer: undefined];
  /** So many bytes of content have been taken. */
  contentTaken: [question: number, answer: undefined];
}

/** What a worker asks of the main thread. */
export interface ToMain {
  observed: [question: Observed[], answer: undefined];
  changes: [question: readonly Change[], answer: undefined];
  content: [question: { captured: Captured; bytes: number; dropped: number }, answer: undefined];
  log: [question: LogLine, answer: undefined];
}

export interface LogLine {
  level: 'info' | 'warn' | 'error';
  details: LogDetails;
  message: string;
}
