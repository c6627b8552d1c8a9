import type { Connection } from '../engine/connection.ts';
import { listResponses } from './list-responses.ts';

export function responsesReads(database: Connection) {
  return { responses: (page: Parameters<typeof listResponses>[1]) => listResponses(database, page) };
}

export type ResponsesReads = ReturnType<typeof responsesReads>;
