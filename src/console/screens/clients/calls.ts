import type { z } from 'zod';
import type { clientMatch, matchClientInput } from '#administration/client-match.ts';
import type { addClientInput, ClientRecord, ShownClient, setClientInput } from '#administration/clients.ts';
import { call } from '../../api.ts';
import type { Rederived, Rederiving } from '../sites/calls.ts';

type Id = { id: string };

export const listClients = call<{ site?: string | undefined }, ClientRecord[]>('GET', '/clients');
export const showClient = call<Id, ShownClient>('GET', '/clients/{id}');
export const addClient = call<z.input<typeof addClientInput>, ClientRecord>('POST', '/clients');
export const setClient = call<Rederiving<z.input<typeof setClientInput>>, Rederived<ClientRecord>>('PATCH', '/clients/{id}');
export const disableClient = call<Id, ClientRecord>('POST', '/clients/{id}/disable');
export const enableClient = call<Id, ClientRecord>('POST', '/clients/{id}/enable');
export const removeClient = call<Id, ClientRecord>('DELETE', '/clients/{id}');
export const matchClient = call<z.input<typeof matchClientInput>, z.output<typeof clientMatch>>('POST', '/clients/match');
