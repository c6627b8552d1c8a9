import { Option } from '@commander-js/extra-typings';
import type { LoginCode } from '../../../shared/contract/people.ts';
import type { Context } from '../../context.ts';
import { hostUrl, isLoopbackUrl } from '../../hosts/host-address.ts';
import { loginLink } from '../../hosts/login-link.ts';
import type { Column } from '../../output/table.ts';
import { ago } from '../../output/time.ts';

export const urlOption = () =>
  new Option('--url <url>', 'the address by which the user reaches this host; for the link');

/** Piped, the output is handle, code and link; with --quiet the link alone. */
export async function showLoginCode(
  context: Context,
  made: LoginCode,
  asked: string | undefined,
): Promise<void> {
  const url = asked === undefined ? context.host().url : hostUrl(asked);
  const shown = { ...made, link: loginLink(url, made.code) };
  await context.out.record(shown, columns(context.now()), { pipedRow: [user, code, link] });
  if (isLoopbackUrl(url)) {
    context.out.note(
      'From another machine, this address does not lead here: give the one that does with --url.',
    );
  }
  context.out.note(
    'It works once: run `gateway login` and paste the link, or `gateway login URL` with the code.',
  );
}

type Shown = Column<LoginCode & { link: string }>;

const user: Shown = { title: 'user', value: (shown) => shown.user.handle };
const code: Shown = { title: 'code', value: (shown) => shown.code, style: () => 'bold' };
const link: Shown = { title: 'link', value: (shown) => shown.link, essential: true };

const columns = (now: number): Shown[] => [
  user,
  code,
  link,
  {
    title: 'expires_at',
    value: (shown) => shown.expires_at,
    show: (shown) => ago(shown.expires_at, now),
  },
];
