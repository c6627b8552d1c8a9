import type { AlertKind } from '../../../shared/constants/alert-kinds.ts';
import type { WebhookFormat } from '../../../shared/constants/webhook-formats.ts';
import type { NewEvent } from '../events/index.ts';

/** When an alert fires. */
export interface AlertCondition {
  kind: AlertKind;
  windowMinutes: number;
  /** Nano-dollars, hundredths of a percent, milliseconds or calls, by the kind; null if it has none. */
  threshold: number | null;
  /** Fewer calls in the window say nothing. */
  minCalls: number;
  /** Which calls it watches; null for all. */
  keyId: string | null;
  model: string | null;
  provider: string | null;
}

export type AlertState = 'ok' | 'firing';

/** Where messages are sent. */
export interface AlertHook {
  /** The address and the secret that signs messages. */
  sealed: string;
  origin: string;
  /** Whether the owner of the host chose the address, so that it may be in a private network. */
  mayBePrivate: boolean;
  /** Left out, the address tells it. */
  format?: WebhookFormat;
}

/** Times in milliseconds since 1970. */
export interface AlertRecord extends AlertCondition {
  workspaceId: string;
  id: string;
  hook: AlertHook | null;
  state: AlertState;
  /** Since when it has this state. */
  since: number;
  /** The current firing. */
  firingId: string | null;
  createdAt: number;
  updatedAt: number;
}

/** A period in which an alert fired; its values have the unit of the threshold. */
export interface FiringRecord {
  id: string;
  workspaceId: string;
  alertId: string;
  condition: AlertCondition;
  value: number;
  message: string;
  firedAt: number;
  resolvedAt: number | null;
  resolvedValue: number | null;
}

/** A message to a web hook. */
export interface DeliveryRecord {
  id: string;
  workspaceId: string;
  alertId: string;
  type: string;
  /** JSON, as it is sent. */
  body: string;
  state: 'pending' | 'delivered' | 'failed';
  /** How many were begun. */
  attempts: number;
  /** When the next attempt is due; null once it is delivered or has failed. */
  nextAt: number | null;
  httpStatus: number | null;
  failure: string | null;
  createdAt: number;
}

/** What a change of state stores. */
export interface Transition {
  /** The alert as it was evaluated. */
  seen: Pick<AlertRecord, 'workspaceId' | 'id' | 'state' | 'updatedAt'>;
  at: number;
  /** The new firing, or the end of the current one. */
  change: { firing: FiringRecord } | { resolvedValue: number | null };
  event: NewEvent;
  delivery: DeliveryRecord | undefined;
}

export interface FiringsFilter {
  workspaceId: string;
  alertId: string | undefined;
  isOpen: boolean | undefined;
  /** The last one of the previous page; an unknown one gives an empty page. */
  after: string | undefined;
  limit: number;
}

type AlertName = Pick<AlertRecord, 'workspaceId' | 'id'>;

/** The outcome of an attempt to deliver a message. */
export interface Attempted {
  id: string;
  /** The number of this attempt. */
  attempt: number;
  state: DeliveryRecord['state'];
  nextAt: number | null;
  httpStatus: number | null;
  failure: string | null;
}

/** Each method is one transaction. */
export interface AlertsStore {
  /** The alerts of all workspaces, by workspace and id. */
  all(): Promise<AlertRecord[]>;
  list(workspaceId: string): Promise<AlertRecord[]>;
  byId(workspaceId: string, id: string): Promise<AlertRecord | undefined>;
  /**
   * Adds or replaces an alert; its state, and when it was created, stay. Returns 'full' if it would be one more than `max` in its
   * workspace.
   */
  put(
    alert: Omit<AlertRecord, 'state' | 'since' | 'firingId'>,
    options: { max: number },
  ): Promise<AlertRecord | 'full'>;
  /** Removes an alert and its pending messages, ends its firing, and stores the event if it was firing. Returns whether there was one. */
  remove(alert: AlertName, resolved: NewEvent): Promise<boolean>;
  /** Does nothing, and returns false, if the alert has changed since it was seen. */
  transition(transition: Transition): Promise<boolean>;
  /** Newest first. */
  firings(filter: FiringsFilter): Promise<FiringRecord[]>;
  /** The current firings of a workspace's alerts. */
  current(workspaceId: string): Promise<FiringRecord[]>;
  addDelivery(delivery: DeliveryRecord): Promise<void>;
  delivery(id: string): Promise<DeliveryRecord | undefined>;
  /** The last message of each alert of a workspace. */
  lastDeliveries(workspaceId: string): Promise<DeliveryRecord[]>;
  /** The pending messages that are due at a time, those waiting longest first. */
  dueDeliveries(at: number, limit: number): Promise<DeliveryRecord[]>;
  /** Whether messages are pending. */
  hasPending(): Promise<boolean>;
  /** Begins an attempt, unless another one was begun since the message was read; returns whether it did. */
  claimDelivery(seen: Pick<DeliveryRecord, 'id' | 'attempts'>, nextAt: number): Promise<boolean>;
  /** Ends an attempt, unless another one was begun meanwhile; returns whether it did. */
  attempted(attempt: Attempted): Promise<boolean>;
  /** Makes messages due again that were being sent by a daemon that is gone. */
  adoptDeliveries(daemon: number, at: number): Promise<void>;
}
