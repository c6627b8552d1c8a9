import type { CallLabels } from '../../../shared/constants/call-labels.ts';
import type { ApiError } from '../../../shared/errors.ts';
import type { Identified } from '../../base/handler.ts';
import type { AttemptsCapture } from '../upstreams/upstream.ts';
import type { ModelCall } from './call-observer.ts';

/** Keeps what a call is asked and answered. Its methods do not throw, and no call waits for them. */
export interface CallCapture extends AttemptsCapture {
  readonly level: 'memory' | 'disk';
  /** A provider has started to answer with a stream: nothing more will be sent to any. */
  started(): void;
  /** A text of a stream, of which each is whole events, or a whole answer. */
  answered(content: string | Uint8Array): void;
  /** The call failed, and the client gets this error. To be called before `ended`. */
  failed(error: ApiError): void;
  /**
   * The call was rejected before any provider was asked, with an error unless the client left. To be called after its
   * observers.
   */
  rejected(error: ApiError | undefined): void;
  /** The call is over, and its answer complete as far as there is one. */
  ended(): void;
}

/** A request that is no model call, such as one for a decision. */
export interface CapturedRequest {
  caller: Identified;
  requestId: string;
  /** The path of the endpoint. */
  endpoint: string;
  labels: Pick<CallLabels, 'user' | 'conversation'>;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Uint8Array | string;
}

export interface Captures {
  /** Undefined for a call whose content is not kept. */
  begin(call: ModelCall): CallCapture | undefined;
  /** The same for a request that is no model call. */
  beginRequest(request: CapturedRequest): CallCapture | undefined;
}
