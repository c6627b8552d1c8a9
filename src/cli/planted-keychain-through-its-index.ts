import '../keychain/protocol.ts';
