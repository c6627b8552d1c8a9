import { flag, oneOf, text } from './schemas.ts';
import { setting, type Values } from './setting.ts';

export const vaultSettings = {
  vault: {
    store: setting(
      oneOf(['file', 'keychain', 'passphrase', 'plain'], 'file, keychain, passphrase or plain'),
      { live: false },
    ),
    master_key_file: setting(text, { env: ['GATEWAY_MASTER_KEY_FILE'], live: false, isPath: true }),
    passphrase_file: setting(text, { env: ['GATEWAY_VAULT_PASSPHRASE_FILE'], live: false, isPath: true }),
    keychain: setting(flag, { default: true, live: false }),
    insecure_plain_file: setting(flag, { default: false, live: false }),
  },
};

/** Where the vault may store its master key. */
export function vaultConfig({ vault }: Values<typeof vaultSettings>) {
  return {
    /** The store of the first master key; undefined: the first one that works. */
    store: vault.store,
    masterKeyFile: vault.master_key_file,
    passphraseFile: vault.passphrase_file,
    usesKeychain: vault.keychain,
    allowsPlainFile: vault.insecure_plain_file,
  };
}
