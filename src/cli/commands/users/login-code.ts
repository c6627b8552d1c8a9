import { Command } from '@commander-js/extra-typings';
import { createLoginCode } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { example } from '../example.ts';
import { showLoginCode, urlOption } from './show-login-code.ts';

export const loginCodeCommand = (context: Context) =>
  new Command('login-code')
    .argument('[user]', 'the handle or id of a user; yourself unless told', 'me')
    .addOption(urlOption())
    .addHelpText('after', example('gateway users login-code ann --url https://gateway.example.org'))
    .action(async (user, { url }) => {
      const made = await context.client().call(createLoginCode, { params: { user } });
      await showLoginCode(context, made, url);
    });
