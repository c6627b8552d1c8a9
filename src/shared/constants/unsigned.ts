/** Stands for the signature of what its provider need not see again, in formats whose clients expect one. */
export const unsigned = 'unsigned';
