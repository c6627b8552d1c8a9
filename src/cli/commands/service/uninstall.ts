import { existsSync, rmSync } from 'node:fs';
import { Command } from '@commander-js/extra-typings';
import { foldersOf } from '../../../shared/folders.ts';
import type { Context } from '../../context.ts';
import { example } from '../example.ts';
import { run, serviceManager } from './manager.ts';

export const uninstallServiceCommand = (context: Context) =>
  new Command('uninstall')
    .addHelpText('after', example('gateway service uninstall'))
    .action(() => uninstall(context));

/** Data and configuration stay. */
async function uninstall(context: Context): Promise<void> {
  const manager = serviceManager(context);
  const { env, out } = context;
  const wasThere = existsSync(manager.file);
  if (wasThere) {
    for (const command of manager.stop) {
      const { code, text } = await run(command, env);
      if (code !== 0) out.warn(`${command.join(' ')}: ${text}`);
    }
  }
  rmSync(manager.file, { force: true });
  rmSync(`${foldersOf(context).config}/service.env`, { force: true });
  if (wasThere && context.platform === 'linux') await run(['systemctl', '--user', 'daemon-reload'], env);
  if (out.wantsJson()) return out.document({ file: manager.file, removed: wasThere });
  out.note(wasThere ? 'The service is gone; data and configuration stay.' : 'There was no service.');
}
