import { z } from 'zod';
import type { OperationContext } from '../context.ts';
import {
	listLoggedMessages,
	listMessagesInput,
	listUnmatchedInput,
	listUnmatchedMessages,
	messageRecord,
	replayMessage,
	replayRecord,
	replayRefused,
	showLoggedMessage,
	siteOfMessage,
	unmatchedRecord,
	wholeMessage,
} from '../messages.ts';
import { defineOperation } from '../operation.ts';
import { siteOfShown } from '../visible-sites.ts';

const values = {
	site: 'slug',
	id: 'message-id',
	type: 'ADT^A08',
	control_id: 'MSH-10',
	since: 'time',
	until: 'time',
	before: 'message-id',
	limit: 'n',
};
const one = {
	scope: 'object',
	called: 'message',
	siteOf: (context: OperationContext, { id }: { id: string }) => siteOfShown(siteOfMessage(context, id)),
	input: z.strictObject({ id: z.string() }),
} as const;

export const messageOperations = [
	defineOperation({
		name: 'messages list',
		summary: 'lists the message log, newest first',
		method: 'GET',
		path: '/messages',
		role: 'auditor',
		scope: 'sites',
		input: listMessagesInput,
		output: z.array(messageRecord),
		commandLine: { values },
		example: { site: 'north', outcome: 'refused', limit: 20 },
		run: listLoggedMessages,
	}),
	defineOperation({
		name: 'messages unmatched',
		summary: 'lists what came from addresses of clients and belongs to no site, newest first',
		method: 'GET',
		path: '/unmatched',
		role: 'auditor',
		scope: 'network',
		input: listUnmatchedInput,
		output: z.array(unmatchedRecord),
		commandLine: { within: { command: 'messages list', flag: 'unmatched' }, values },
		example: { limit: 20 },
		run: listUnmatchedMessages,
	}),
	defineOperation({
		...one,
		name: 'messages show',
		summary: 'shows a message, its acknowledgement and what it changed',
		method: 'GET',
		path: '/messages/{id}',
		role: 'auditor',
		output: wholeMessage,
		commandLine: { positionals: ['id'], values },
		run: (context, { id }) => showLoggedMessage(context, id),
	}),
	defineOperation({
		...one,
		name: 'messages replay',
		summary: 'takes a logged message again',
		method: 'POST',
		path: '/messages/{id}/replay',
		role: 'manager',
		output: replayRecord,
		commandLine: { positionals: ['id'], values, repeated: true },
		run: (context, { id }) => replayMessage(context, id),
	}),
	defineOperation({
		name: 'messages replay-refused',
		summary: 'takes all again that a site refused, oldest first',
		method: 'POST',
		path: '/messages/replay-refused',
		role: 'manager',
		scope: 'site',
		input: z.strictObject({ site: z.string() }),
		output: z.array(replayRecord),
		commandLine: { within: { command: 'messages replay', flag: 'refused' }, values },
		example: { site: 'north' },
		run: replayRefused,
	}),
];
