import '../../test/support/eventually.ts';
