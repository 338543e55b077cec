import type { z } from 'zod';
import type { addRemoteAeInput, remoteAeEcho, remoteAeRecord } from '#administration/remote-aes.ts';
import { call } from '../../api.ts';

export type RemoteAeRecord = z.output<typeof remoteAeRecord>;

export const listRemoteAes = call<{ site?: string | undefined }, RemoteAeRecord[]>('GET', '/remote-aes');
export const addRemoteAe = call<z.output<typeof addRemoteAeInput>, RemoteAeRecord>('POST', '/remote-aes');
export type RemoteAeEcho = z.output<typeof remoteAeEcho>;
export const echoRemoteAe = call<{ ae: string }, RemoteAeEcho>('POST', '/remote-aes/{ae}/echo');
export const removeRemoteAe = call<{ ae: string }, RemoteAeRecord>('DELETE', '/remote-aes/{ae}');
