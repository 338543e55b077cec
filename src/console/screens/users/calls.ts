import type { z } from 'zod';
import type { addUserInput, newPassword, SessionRecord, setUserInput, UserRecord } from '#administration/users.ts';
import { call } from '../../api.ts';

type Named = { email: string };

export const listUsers = call<object, UserRecord[]>('GET', '/users');
export const showUser = call<Named, UserRecord>('GET', '/users/{email}');
export const listSessions = call<{ email?: string | undefined }, SessionRecord[]>('GET', '/sessions');
export const endSessions = call<Named, UserRecord>('POST', '/users/{email}/end-sessions');
export const addUser = call<z.input<typeof addUserInput>, UserRecord>('POST', '/users');
export const setUser = call<z.input<typeof setUserInput>, UserRecord>('PATCH', '/users/{email}');
export const disableUser = call<Named, UserRecord>('POST', '/users/{email}/disable');
export const enableUser = call<Named, UserRecord>('POST', '/users/{email}/enable');
export const resetSecondFactor = call<Named, UserRecord>('POST', '/users/{email}/reset-second-factor');
export const resetPassword = call<Named, z.output<typeof newPassword>>('POST', '/users/{email}/reset-password');
