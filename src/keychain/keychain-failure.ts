/** Why the operating system's keychain could not be used. */
export type KeychainFault =
  /** It is locked and only its owner can unlock it. */
  | 'locked'
  /** It did not answer in time, usually because it waits for a password. */
  | 'timed-out'
  /** The program's part for this platform cannot be loaded: libsecret is missing. */
  | 'no-library'
  /** There is no D-Bus session: a login without a desktop, a container, a service. */
  | 'no-session'
  /** There is a session, but nothing in it that keeps secrets. */
  | 'no-service'
  /** The service runs, but has no keyring to put anything into. */
  | 'no-keyring'
  /** The operating system or the user denied access. */
  | 'denied'
  /** Something was written and did not come back the same. */
  | 'not-kept'
  /** Anything else, the crash of its library too. */
  | 'failed';

const sentences: Record<KeychainFault, string> = {
  locked: 'The keychain is locked; unlock it (log in to the desktop or use its own program) and try again.',
  'timed-out':
    'The keychain did not respond in time; it may be asking for its password on this machine’s screen.',
  'no-library':
    'The keychain cannot be used: install libsecret (Debian and Ubuntu: apt install libsecret-1-0).',
  'no-session': 'This session has no keychain: there is no D-Bus, as in a container or without a desktop.',
  'no-service':
    'No secret service is running in this session; install and start one, for example gnome-keyring or KWallet.',
  'no-keyring':
    'The keychain has no keyring yet; log in to the desktop once, or create one with its own program.',
  denied: 'The operating system denied access to the keychain.',
  'not-kept': 'The keychain did not store the value.',
  failed: 'The keychain failed.',
};

/** A failed keychain operation; `message` is for people and includes the remedy. */
export class KeychainFailure extends Error {
  readonly fault: KeychainFault;
  /** The platform's message, for the log; never a secret. */
  readonly detail: string | undefined;

  constructor(fault: KeychainFault, detail?: string) {
    super(sentences[fault]);
    this.name = 'KeychainFailure';
    this.fault = fault;
    this.detail = detail;
  }
}

const signs: readonly [RegExp, KeychainFault][] = [
  [/failed to load keytar|libsecret|cannot open shared object|NODE_MODULE_VERSION/i, 'no-library'],
  [
    /autolaunch (a )?D-?Bus|could not connect|connection refused|dbus-launch|DBUS_SESSION_BUS_ADDRESS/i,
    'no-session',
  ],
  [
    /not provided by any \.service|not activatable|could not activate|ServiceUnknown|NameHasNoOwner|StartServiceByName|Spawn\./i,
    'no-service',
  ],
  [
    /(does not exist at|no such object) path.{0,100}(collection|aliases)|no such collection|default keychain could not be found/i,
    'no-keyring',
  ],
  [/locked collection|is locked|unlock|user interaction (is not allowed|failed)|-25308/i, 'locked'],
  [/timed? ?out|timeout was reached|did not receive a reply/i, 'timed-out'],
  [
    /denied|policy prevents|not permitted|cancell?ed|dismissed|passphrase you entered|not authori[sz]ed|logon session/i,
    'denied',
  ],
];

/** Maps a message of keytar to a reason. Sources: messages of libsecret, GLib and Apple as observed. */
export function faultOf(message: string): KeychainFault {
  return signs.find(([sign]) => sign.test(message))?.[1] ?? 'failed';
}
