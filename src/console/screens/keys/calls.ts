import type { z } from 'zod';
import type { createdKey, createKeyInput, keyRecord, rotatedKey, rotateKeyInput, setKeyInput, shownKey } from '#administration/keys.ts';
import type { UserRecord } from '#administration/users.ts';
import { call } from '../../api.ts';
import type { Rederived, Rederiving } from '../sites/calls.ts';

export type KeyRecord = z.output<typeof keyRecord>;
export type CreatedKey = z.output<typeof createdKey>;
export type RotatedKey = z.output<typeof rotatedKey>;

export const listKeys = call<{ site?: string | undefined }, KeyRecord[]>('GET', '/keys');
export const createKey = call<z.input<typeof createKeyInput>, CreatedKey>('POST', '/keys');
export const showKey = call<{ id: string }, z.output<typeof shownKey>>('GET', '/keys/{id}');
export const setKey = call<Rederiving<z.input<typeof setKeyInput>>, Rederived<z.output<typeof shownKey>>>('PATCH', '/keys/{id}');
export const rotateKey = call<z.input<typeof rotateKeyInput>, RotatedKey>('POST', '/keys/{id}/rotate');
export const revokeKey = call<{ id: string }, KeyRecord>('POST', '/keys/{id}/revoke');
/** The users who may own a key. */
export const listOwners = call<object, UserRecord[]>('GET', '/users');
