/** Why the keychain of the operating system was of no use. */
export type KeychainFault =
  /** It is locked, and only its owner can open it. */
  | 'locked'
  /** It did not answer in time: mostly it waits for somebody to type a password. */
  | 'timed-out'
  /** The program's part for this platform cannot be loaded: libsecret is missing. */
  | 'no-library'
  /** There is no D-Bus session: a login without a desktop, a container, a service. */
  | 'no-session'
  /** There is a session, but nothing in it that keeps secrets. */
  | 'no-service'
  /** The service runs, but has no keyring to put anything into. */
  | 'no-keyring'
  /** The operating system refused, or somebody did. */
  | 'denied'
  /** Something was written and did not come back the same. */
  | 'not-kept'
  /** Anything else, the crash of its library too. */
  | 'failed';

const sentences: Record<KeychainFault, string> = {
  locked: 'The keychain is locked; unlock it (log in to the desktop, or open its own program) and try again.',
  'timed-out':
    'The keychain gave no answer in time; it may be asking for its password on the screen of this machine.',
  'no-library':
    'The keychain cannot be used: install libsecret (Debian and Ubuntu: apt install libsecret-1-0).',
  'no-session':
    'There is no keychain in this session: it has no D-Bus, as without a desktop or in a container.',
  'no-service':
    'Nothing in this session keeps secrets; install and start one, for example gnome-keyring or KWallet.',
  'no-keyring':
    'The keychain has no keyring yet; log in to the desktop once, or make one with its own program.',
  denied: 'The operating system did not let this program use the keychain.',
  'not-kept': 'The keychain did not keep what was written to it.',
  failed: 'The keychain failed.',
};

/** The keychain could not do what it was asked for; `message` is for people and says what helps. */
export class KeychainFailure extends Error {
  readonly fault: KeychainFault;
  /** What the platform said, for the log; never a secret. */
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
    /autolaunch D-Bus|could not connect|connection refused|dbus-launch|DBUS_SESSION_BUS_ADDRESS/i,
    'no-session',
  ],
  [/not provided by any \.service|ServiceUnknown|NameHasNoOwner|StartServiceByName|Spawn\./i, 'no-service'],
  [/does not exist at path.*collection|no such collection/i, 'no-keyring'],
  [/locked collection|is locked|user interaction is not allowed|-25308/i, 'locked'],
  [/timed? ?out|timeout was reached|did not receive a reply/i, 'timed-out'],
  [/denied|not permitted|cancell?ed|dismissed|passphrase you entered|not authori[sz]ed/i, 'denied'],
];

/** What a message of keytar means. Sources: libsecret's, GLib's and Apple's texts, seen as they come. */
export function faultOf(message: string): KeychainFault {
  return signs.find(([sign]) => sign.test(message))?.[1] ?? 'failed';
}
