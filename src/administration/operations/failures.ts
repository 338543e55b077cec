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
		summary: 'lists what was refused, by cause: what still waits to be mended first',
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
		summary: 'takes the messages of a cause again, oldest first, in the background; one replay of a site at a time',
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
		summary: 'lists replays of many messages, newest first',
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
		summary: 'shows how far a replay has come',
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
		summary: 'ends a replay behind the message that is under way',
		method: 'POST',
		path: '/replays/{id}/cancel',
		role: 'manager',
		commandLine: { positionals: ['id'], values },
		example: (idOf) => ({ id: idOf('replay start') }),
		run: (context, { id }, found) => cancelReplay(context, id, found),
	}),
];
