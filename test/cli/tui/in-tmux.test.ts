import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { bundleCli } from '../../support/bundled-cli.ts';
import { type RunningDaemon, startDaemon } from '../../support/start-daemon.ts';
import { startTmux, whyNoTmux } from '../../support/tmux.ts';

const whyNot = whyNoTmux();
if (whyNot) process.stderr.write(`the program is not tried in a terminal: ${whyNot}\n`);

describe.skipIf(whyNot !== undefined)('in a real terminal', { timeout: 300_000 }, () => {
  let cli: Awaited<ReturnType<typeof bundleCli>>;
  let daemon: RunningDaemon;

  beforeAll(async () => {
    cli = await bundleCli();
    daemon = await startDaemon();
  }, 180_000);

  afterAll(async () => {
    await daemon.stop();
    await cli.remove();
  });

  async function open(command: string, { columns = 80, rows = 24 } = {}) {
    const tmux = await startTmux({ columns, rows, env: { GATEWAY_HOME: daemon.home } });
    onTestFinished(tmux.end);
    await tmux.shows(/^\$/m);
    await tmux.text(`${process.execPath} ${cli.program} ${command}; echo "ended with $?"`);
    await tmux.keys('Enter');
    return tmux;
  }

  const ask = () =>
    daemon.fetch('/v1/responses', { json: { model: 'sim/assistant', input: 'Hello', store: false } });

  test('gateway alone draws the screen, goes where keys say, fits a new size, and gives the terminal back', async () => {
    const tmux = await open('');
    await tmux.shows(/● live/);
    await ask();
    await tmux.shows(/❯ .*sim\/assistant/);
    await tmux.text('gk');
    await tmux.shows(/^── Keys .*❯ default/ms);
    await tmux.resize(120, 30);
    await tmux.shows(/❯ Keys +k +│/);
    await tmux.resize(70, 15);
    const small = await tmux.shows(/^[^│]*❯ default[^│]*quit *\n?$/s);
    expect(small.trimEnd().split('\n').length).toBeLessThanOrEqual(15);
    await tmux.text('q');
    const after = await tmux.shows(/ended with 0/);
    expect(after).not.toContain('Gateway · ');
    await tmux.text('echo typed');
    await tmux.keys('Enter');
    await tmux.shows(/^typed$/m);
  });

  test('Ctrl-Z goes to the shell and fg comes back', async () => {
    const tmux = await open('tui');
    await tmux.shows(/● live/);
    await tmux.keys('C-z');
    await tmux.shows(/Stopped/);
    await tmux.text('fg');
    await tmux.keys('Enter');
    await tmux.shows(/^Gateway · ● live/);
    await tmux.text('q');
    await tmux.shows(/\n\$\s*$/);
    await tmux.text('echo typed');
    await tmux.keys('Enter');
    await tmux.shows(/^typed$/m);
  });

  test('a daemon that was started again is found, and what it missed is filled in', async () => {
    const tmux = await open('tui');
    await tmux.shows(/● live/);
    const { home } = daemon;
    await daemon.stop({ keep: true });
    await tmux.shows(/✗ lost/);
    daemon = await startDaemon({ home });
    await ask();
    await ask();
    await tmux.shows(/● live/);
    await tmux.shows(/sim\/assistant[^\n]*\n[^\n]*sim\/assistant/);
  });

  test('a killed program leaves the terminal as it was', async () => {
    const tmux = await startTmux({ columns: 80, rows: 24, env: { GATEWAY_HOME: daemon.home } });
    onTestFinished(tmux.end);
    const pidFile = join(daemon.home, 'tui.pid');
    await tmux.text(`sh -c 'echo $$ > ${pidFile}; exec ${process.execPath} ${cli.program} tui'`);
    await tmux.keys('Enter');
    await tmux.shows(/● live/);
    process.kill(Number(await readFile(pidFile, 'utf8')), 'SIGTERM');
    await tmux.shows(/Terminated\s+\$\s*$/);
    await tmux.text('echo typed');
    await tmux.keys('Enter');
    await tmux.shows(/^typed$/m);
  });

  test('chat answers as a talk, and Ctrl-C ends an answer before it ends the program', async () => {
    const tmux = await open('chat --model sim/assistant');
    await tmux.shows(/\/help tells/);
    await tmux.text('Good morning');
    await tmux.keys('Enter');
    await tmux.shows(/You said: “Good morning”/);
    await tmux.text('/mo');
    await tmux.shows(/go on with another model/);
    await tmux.keys('Tab');
    await tmux.text('slow');
    await tmux.shows(/^ +sim\/slow/m);
    await tmux.keys('Tab', 'Enter');
    await tmux.shows(/sim\/slow answers/);
    await tmux.text('a b c d e f g h i j k l m n o p q r s t u v w x y z');
    await tmux.keys('Enter');
    await tmux.shows(/⋯ sim\/slow via simulator/);
    await tmux.keys('C-c');
    await tmux.shows(/Cancelled\. /);
    await tmux.text('/cost');
    await tmux.keys('Enter');
    await tmux.shows(/2 answers · /);
    await tmux.keys('C-c');
    const after = await tmux.shows(/ended with 0/);
    expect(after).not.toContain('Enter sends');
  });

  test('chat tells an answer that breaks off, and goes on after the daemon was started again', async () => {
    const tmux = await open('chat --model sim/broken');
    await tmux.shows(/\/help tells/);
    await tmux.text('Good morning');
    await tmux.keys('Enter');
    await tmux.shows(/! .*broke off its answer.*Cut short\. /s);
    const { home } = daemon;
    await daemon.stop({ keep: true });
    daemon = await startDaemon({ home });
    await tmux.shows(/^› Good morning$(?=.*Enter sends)/ms);
    await tmux.keys('C-u');
    await tmux.shows(/^›$(?=\s*Enter sends)/m);
    await tmux.text('/model sim/echo');
    await tmux.shows(/^› \/model sim\/echo$/m);
    await tmux.keys('Enter');
    await tmux.shows(/sim\/echo answers/);
    await tmux.text('Here again');
    await tmux.keys('Enter');
    await tmux.shows(/^Here again$/m);
  });
});
