import { connectResponses } from '../../../../shared/contract/response-socket.ts';
import { type Handler, implement } from '../../../handler.ts';
import type { InferenceNeeds } from '../begin.ts';
import { responseSockets } from './socket-session.ts';

/** The WebSocket of model calls. */
export function responseSocketHandlers(needs: InferenceNeeds): Handler[] {
  const openSession = responseSockets(needs);
  return [implement(connectResponses, async ({ signal }) => openSession({ signal }))];
}
