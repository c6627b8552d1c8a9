import { Type } from 'typebox';
import { databaseUrlVariable } from '../../../shared/storage/database-url.ts';
import { flag, integer, text } from './schemas.ts';
import { setting, type Values } from './setting.ts';

const dayMs = 24 * 60 * 60 * 1000;

export const storageSettings = {
  storage: {
    url: setting(
      Type.String({
        minLength: 1,
        maxLength: 2000,
        description: 'an address like postgres://USER@HOST/DATABASE, without a password',
      }),
      { env: [databaseUrlVariable], live: false },
    ),
    url_file: setting(text, { live: false, isPath: true }),
    store_responses: setting(flag, { default: true }),
    responses_days: setting(integer(1, 3650, 'a number of days'), { default: 30 }),
  },
};

export function storageConfig({ storage }: Values<typeof storageSettings>) {
  return {
    /** Whether responses are stored by default. */
    storesResponses: storage.store_responses,
    responsesKeptMs: storage.responses_days * dayMs,
  };
}
