import '../composition/accounts.ts';
