import { Passwords } from '#access/password.ts';

/** Passwords whose hash takes no time, for tests of anything else. */
export const cheapPasswords = new Passwords({ N: 16, r: 8, p: 1 });
