import type { OpenedRoute } from '../routing/index.ts';
import type { CallCapture } from './call-capture.ts';
import type { CancelReason } from './cancellation.ts';
import type { Meter } from './meter.ts';
import type { Output } from './output-items.ts';

/** A call that a provider has started to answer. */
export interface StartedCall extends Pick<OpenedRoute, 'answer' | 'route'> {
  /** Reports the end of the answer to routing; to be called once. */
  finishRoute: OpenedRoute['ended'];
  meter: Meter;
  output: Output;
  /** Undefined if its content is not kept. */
  capture: CallCapture | undefined;
  /** Stops the provider. */
  abort: AbortController;
  /** Why the call was canceled, if it was. */
  canceled: () => CancelReason | undefined;
  /** Stops watching for cancellation; to be called when the answer is over. */
  release: () => void;
}
