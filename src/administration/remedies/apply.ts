import { z } from 'zod';
import type { Settings } from '#record/settings/settings.ts';
import { setClient } from '../clients.ts';
import { AdministrationError, type OperationContext } from '../context.ts';
import { replayRunRecord, startReplay } from '../failures.ts';
import { setKey } from '../keys.ts';
import type { WholeMessageRow } from '../messages.ts';
import { setSite } from '../sites.ts';
import { type Change, causeOfMessage, changeOf, mendable } from './explain.ts';
import { chosenRemedy } from './preview.ts';
import { remedyNames } from './table.ts';

export const applyRemedyInput = z.strictObject({
	...chosenRemedy,
	remedy: z.enum(remedyNames),
	replay: z.boolean().default(false).describe('then replay what waits for the same cause'),
});

export const appliedRemedy = z.strictObject({
	remedy: z.enum(remedyNames),
	of: z.enum(['site', 'client', 'key']),
	subject: z.string(),
	settings: z.record(z.string(), z.union([z.string(), z.boolean(), z.array(z.string())])).describe('the settings that hold now'),
	replay: replayRunRecord.nullable(),
});

/** Changes the setting that a remedy names, as `client set`, `key set` or `site set` does, and replays what waits for the cause. */
export async function applyRemedy(
	context: OperationContext,
	{ remedy, value, replay }: Omit<z.output<typeof applyRemedyInput>, 'id'>,
	row: WholeMessageRow,
): Promise<z.output<typeof appliedRemedy>> {
	const change = changeOf(mendable(row), remedy, value);
	if (replay && context.replayRuns === undefined) {
		throw new AdministrationError('only a running service can replay the messages of a cause', 'refused', 'replay');
	}
	const cause = replay ? await causeOfMessage(context, row) : undefined;
	await carryOut(context, change);
	const { of, id: subject } = change.subject;
	const settings = Object.fromEntries(
		Object.entries(change.settings).map(([name, held]) => [name, Array.isArray(held) ? [...held] : (held as string | boolean)]),
	);
	const run = cause === undefined ? null : await startReplay(context, { site: row.site, cause: cause.id });
	return { remedy, of, subject, settings, replay: run };
}

function carryOut(context: OperationContext, { subject: { of, id }, settings }: Change): Promise<unknown> {
	const given = settings as { [Name in keyof Settings]: never };
	if (of === 'client') return setClient(context, { id, ...given });
	if (of === 'key') return setKey(context, { id, ...given });
	return setSite(context, { slug: id, ...given });
}
