import { expect, test } from 'vitest';
import { faultOf, type KeychainFault } from '../../src/keychain/keychain-failure.ts';

/** What keychains say of themselves, each from a public report: the fault decides what a person is told to do. */

test.each<[string, string, KeychainFault]>([
  ['atom/node-keytar#292', 'Cannot autolaunch D-Bus without X11 $DISPLAY', 'no-session'],
  ['jaraco/keyring#280', 'Unable to autolaunch a dbus-daemon without a $DISPLAY for X11', 'no-session'],
  ['jaraco/keyring#280', '/bin/dbus-launch terminated abnormally without any error message', 'no-session'],
  ['supersonic-app/supersonic#325', 'The name is not activatable', 'no-service'],
  [
    'ublue-os/bazzite#5210',
    "GDBus.Error:org.freedesktop.DBus.Error.NameHasNoOwner: Could not activate remote peer 'org.freedesktop.secrets': unit failed",
    'no-service',
  ],
  [
    'keepassxreboot/keepassxc#9816',
    "No such object path '/org/freedesktop/secrets/aliases/default'",
    'no-keyring',
  ],
  [
    'brig-sh/brig#153',
    'Object does not exist at path “/org/freedesktop/secrets/collection/login”',
    'no-keyring',
  ],
  ['jaraco/keyring#562', 'Cannot create an item in a locked collection', 'locked'],
  ['jaraco/keyring#581', 'Failed to unlock the item!', 'locked'],
  ['shiftkey/desktop#621', 'user interaction failed', 'locked'],
  ['99designs/aws-vault#925', 'User interaction is not allowed. (-25308)', 'locked'],
  [
    'baruchiro/israeli-bank-scrapers-desktop#99',
    'An AppArmor policy prevents this sender from sending this message to this recipient; type="method_call", interface="org.freedesktop.Secret.Service" member="OpenSession"',
    'denied',
  ],
  ['keybase/client#17201', 'The user name or passphrase you entered is not correct.', 'denied'],
  [
    'desktop/desktop#15600',
    'A specified logon session does not exist. It may already have been terminated.',
    'denied',
  ],
])('%s: “%s” is %s', (_cite, message, fault) => {
  expect(faultOf(message)).toBe(fault);
});
