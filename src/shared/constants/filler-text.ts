/** What stands for a message of the user where a model demands one that the caller did not send. */
export const userFillerText = 'Continue.';
