import { untaggedStatements } from '../../sqlite/engine/migrations/0067-untagged-calls.ts';
import type { Migration } from '../migrate.ts';

/** Usage by tag has a row of the calls without one. */
export const untaggedCalls: Migration = { version: 67, statements: untaggedStatements };
