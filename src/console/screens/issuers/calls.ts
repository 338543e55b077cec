import type { z } from 'zod';
import type { addIssuerInput, issuerRecord, setIssuerInput } from '#administration/issuers.ts';
import type { UserRecord } from '#administration/users.ts';
import { call } from '../../api.ts';

export type IssuerRecord = z.output<typeof issuerRecord>;

export const listIssuers = call<{ site?: string | undefined }, IssuerRecord[]>('GET', '/issuers');
export const addIssuer = call<z.input<typeof addIssuerInput>, IssuerRecord>('POST', '/issuers');
export const setIssuer = call<z.input<typeof setIssuerInput>, IssuerRecord>('PATCH', '/issuers/{id}');
export const enableIssuer = call<{ id: string }, IssuerRecord>('POST', '/issuers/{id}/enable');
export const disableIssuer = call<{ id: string }, IssuerRecord>('POST', '/issuers/{id}/disable');
export const removeIssuer = call<{ id: string }, IssuerRecord>('DELETE', '/issuers/{id}');
/** The users who may own an issuer. */
export const listOwners = call<object, UserRecord[]>('GET', '/users');
