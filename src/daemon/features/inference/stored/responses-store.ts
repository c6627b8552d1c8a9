/** A stored response: what `GET /v1/responses/{id}` gives back and what a continuation is built on. */
export interface StoredResponse {
  id: string;
  workspaceId: string;
  requestId: string;
  previousId: string | null;
  /** The response object as it was sent, JSON text. */
  body: string;
  /** The input items of this call alone, in the Responses format, JSON text. */
  input: string;
  /** The output items with sealed reasoning, whether or not the caller asked to see it, JSON text. */
  output: string;
  createdAt: number;
  expiresAt: number;
}

/** What a continuation is built on: items in the Responses format, JSON texts. */
export type StoredTurn = Pick<StoredResponse, 'id' | 'input' | 'output'>;

/** What a list tells of a response. */
export interface ListedResponse {
  id: string;
  createdAt: number;
  status: string;
  model: string;
  isBackground: boolean;
  /** Not a stored response yet; its status is the one that it began with. */
  isRunning: boolean;
}

export interface ResponsesPage {
  workspaceId: string;
  /** The id after which the page begins, as they get older. */
  after: string | undefined;
  limit: number;
  /** Those that have expired then are left out. */
  at: number;
}

export interface ResponsesStore {
  /** Keeps the response and makes its items findable by id. */
  insert(record: StoredResponse): Promise<void>;
  /** Unexpired at `at`, of this workspace. */
  byId(workspaceId: string, id: string, at: number): Promise<StoredResponse | undefined>;
  /** The turns up to this response, oldest first; undefined when one is missing. */
  chain(
    workspaceId: string,
    id: string,
    options: { at: number; bytesMax: number },
  ): Promise<StoredTurn[] | 'too-long' | undefined>;
  /**
   * JSON texts of items by their ids, for `item_reference`; missing ones are left out. `too-long` when the lists that
   * they are in hold more than `bytesMax` together.
   */
  items(
    workspaceId: string,
    ids: Iterable<string>,
    options: { at: number; bytesMax: number },
  ): Promise<Map<string, string> | 'too-long'>;
  /** Newest first, those that are being made in the background too. */
  list(page: ResponsesPage): Promise<ListedResponse[]>;
  /** Whether this call deleted it. */
  remove(workspaceId: string, id: string): Promise<boolean>;
  removeExpired(at: number, limit: number): Promise<number>;
}
