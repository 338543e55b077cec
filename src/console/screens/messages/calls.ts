import type { z } from 'zod';
import type { ClientRecord } from '#administration/clients.ts';
import type {
	listUnmatchedInput,
	messageReading,
	messageRecord,
	replayRecord,
	searchMessagesInput,
	unmatchedRecord,
} from '#administration/messages.ts';
import { call } from '../../api.ts';

export type MessageRecord = z.output<typeof messageRecord>;
export type MessageReading = z.output<typeof messageReading>;

export const searchMessages = call<z.input<typeof searchMessagesInput>, MessageRecord[]>('POST', '/messages/search');
export const readMessage = call<{ id: string }, MessageReading>('GET', '/messages/{id}/reading');
export const replayMessage = call<{ id: string; accept_older?: boolean }, z.output<typeof replayRecord>>('POST', '/messages/{id}/replay');
export type UnmatchedRecord = z.output<typeof unmatchedRecord>;

export const listUnmatched = call<z.input<typeof listUnmatchedInput>, UnmatchedRecord[]>('GET', '/unmatched');
export const listClients = call<{ site?: string | undefined }, ClientRecord[]>('GET', '/clients');
