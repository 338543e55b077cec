import { z } from 'zod';
import type { OperationContext } from '../context.ts';
import {
	cancelReplay,
	failureRecord,
	listFailures,
	listFailuresInput,
	listReplays,
	listReplaysInput,
	replayRunRecord,
	runRecord,
	runRow,
	startReplay,
	startReplayInput,
} from '../failures.ts';
import { defineOperation } from '../operation.ts';
import { foundOrNull } from '../visible-sites.ts';

const values = { site: 'slug', since: 'time', id: 'replay-id', before: 'replay-id', limit: 'n' };
const one = {
	scope: 'object',
	called: 'replay',
	find: (context: OperationContext, { id }: { id: string }) => foundOrNull(runRow(context, id)),
	input: z.strictObject({ id: z.string() }),
	output: replayRunRecord,
} as const;

export const failureOperations = [
	defineOperation({
		name: 'messages failures',
		summary: 'lists refused messages by cause, causes with open messages first',
		method: 'GET',
		path: '/failures',
		role: 'auditor',
		scope: 'sites',
		input: listFailuresInput,
		output: z.array(failureRecord),
		commandLine: { values },
		example: { site: 'north' },
		run: listFailures,
	}),
	defineOperation({
		name: 'replay start',
		summary: 'replays the messages of a cause in the background, oldest first; a site runs one replay at a time',
		method: 'POST',
		path: '/replays',
		role: 'manager',
		scope: 'site',
		input: startReplayInput,
		output: replayRunRecord,
		commandLine: 'none',
		example: (idOf) => ({ site: 'north', cause: idOf('messages failures') }),
		run: startReplay,
	}),
	defineOperation({
		name: 'replay list',
		summary: 'lists replays of causes, newest first',
		method: 'GET',
		path: '/replays',
		role: 'auditor',
		scope: 'sites',
		input: listReplaysInput,
		output: z.array(replayRunRecord),
		commandLine: { values },
		example: { site: 'north' },
		run: listReplays,
	}),
	defineOperation({
		...one,
		name: 'replay show',
		summary: 'shows the progress of a replay',
		method: 'GET',
		path: '/replays/{id}',
		role: 'auditor',
		commandLine: { positionals: ['id'], values },
		example: (idOf) => ({ id: idOf('replay start') }),
		run: async (_context, _input, found) => runRecord(found),
	}),
	defineOperation({
		...one,
		name: 'replay cancel',
		summary: 'stops a replay after its current message',
		method: 'POST',
		path: '/replays/{id}/cancel',
		role: 'manager',
		commandLine: { positionals: ['id'], values },
		example: (idOf) => ({ id: idOf('replay start') }),
		run: (context, { id }, found) => cancelReplay(context, id, found),
	}),
];
