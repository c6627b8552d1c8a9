import type { KnownSecrets } from '../../../../shared/masking/known-secrets.ts';

/** A stored response, for `GET /v1/responses/{id}` and for continuations. Times in milliseconds since 1970. */
export interface StoredResponse {
  id: string;
  workspaceId: string;
  requestId: string;
  previousId: string | null;
  /** The response object, JSON text. */
  body: string;
  /** The input items of this request alone, in the Responses format, JSON text. */
  input: string;
  /** The output items, always with sealed reasoning, JSON text. */
  output: string;
  createdAt: number;
  expiresAt: number;
}

/** The part of a response that continuations need. */
export type StoredTurn = Pick<StoredResponse, 'id' | 'input' | 'output'>;

/** A response in a list. */
export interface ListedResponse {
  id: string;
  createdAt: number;
  status: string;
  model: string;
  isBackground: boolean;
  /** Whether it still runs in the background; its status is then the initial one. */
  isRunning: boolean;
}

export interface ResponsesPage {
  workspaceId: string;
  /** Id of the last response of the previous page. */
  after: string | undefined;
  limit: number;
  /** The current time, to leave out expired responses. */
  at: number;
}

export interface ResponsesStore {
  /** Stores the response; its items can then be found by id. `secrets`: those of its call. */
  insert(record: StoredResponse, secrets?: KnownSecrets): Promise<void>;
  /** A response of this workspace that has not expired at `at`, as it is shown: without secrets. */
  byId(workspaceId: string, id: string, at: number): Promise<StoredResponse | undefined>;
  /** The turns up to and including this response, oldest first; undefined when one is missing. */
  chain(
    workspaceId: string,
    id: string,
    options: { at: number; bytesMax: number },
  ): Promise<StoredTurn[] | 'too-long' | undefined>;
  /**
   * Items by id as JSON texts, for `item_reference`; missing ones are left out. `too-long` when the item lists that
   * contain them exceed `bytesMax` in total.
   */
  items(
    workspaceId: string,
    ids: Iterable<string>,
    options: { at: number; bytesMax: number },
  ): Promise<Map<string, string> | 'too-long'>;
  /** Newest first, including running background responses. */
  list(page: ResponsesPage): Promise<ListedResponse[]>;
  /** Resolves to whether it existed. */
  remove(workspaceId: string, id: string): Promise<boolean>;
  removeExpired(at: number, limit: number): Promise<number>;
}
