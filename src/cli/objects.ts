import { resolve } from 'node:path';
import { exportObjects } from '#administration/export-objects.ts';
import { checkObjects } from '#administration/objects.ts';
import { rebuildIndex } from '#administration/rebuild-index.ts';
import type { Delivery } from '#record/delivery.ts';
import type { Database } from '#storage/database.ts';
import { configuredObjectStore } from '#storage/objects/open.ts';
import type { Config } from '../config.ts';
import { type CliHooks, flag, UsageError } from './command.ts';
import { parse } from './operation-command.ts';

export const objectsUsage = 'usage: tributary objects check | export --to <folder> [--site <slug>] [--study <uid>] | rebuild';

const text = { type: 'string' } as const;

interface Opened {
	config: Config;
	database: Database;
	databaseUrl: string;
}

/** Reads the words behind `objects`, and returns what they ask for. @throws UsageError */
export function objectsCommand(argv: readonly string[], hooks: CliHooks): { isJson: boolean; run(opened: Opened): Promise<object> } {
	const [verb = '', ...rest] = argv;
	if (verb === 'export') {
		const { values, positionals } = parse(rest, { to: text, site: text, study: text });
		const [to, site, studyUid] = [values['to'], values['site'], values['study']].map((value) =>
			value === undefined ? undefined : String(value),
		);
		if (to === undefined || to === '' || positionals.length > 0) throw new UsageError(objectsUsage);
		return {
			isJson: values['json'] === true,
			run: ({ config, database }) => exportObjects(database.people, configuredObjectStore(config), { to: resolve(to), site, studyUid }),
		};
	}
	const { values, positionals } = parse(rest, { help: flag });
	if (positionals.length > 0 || (verb !== 'check' && verb !== 'rebuild')) throw new UsageError(objectsUsage);
	const run = ({ config, database, databaseUrl }: Opened): Promise<object> => {
		const objects = configuredObjectStore(config);
		if (verb === 'check') return checkObjects(database.people, objects, Date.now(), { remove: false, repair: false });
		const deliver = <Sent extends Delivery>(delivery: Sent) => hooks.processDelivery(databaseUrl, delivery, config.limits);
		const { dicomHeaderBytesMax: headerBytesMax } = config.limits;
		return rebuildIndex({ database: database.people, objects, deliver, headerBytesMax, nowMs: () => Date.now() });
	};
	return { isJson: values['json'] === true, run };
}
