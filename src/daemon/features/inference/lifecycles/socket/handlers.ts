import { connectResponses } from '../../../../../shared/contract/response-socket.ts';
import { type Handler, implement } from '../../../../handler.ts';
import type { InferenceDeps } from '../../pipeline/start-call.ts';
import { responseSockets } from './socket-session.ts';

/** The WebSocket of model calls. */
export function responseSocketHandlers(deps: InferenceDeps): Handler[] {
  const openSession = responseSockets(deps);
  return [implement(connectResponses, async ({ signal }) => openSession({ signal }))];
}
