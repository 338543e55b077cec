import { resolve } from 'node:path';
import { exportObjects } from '#administration/export-objects.ts';
import { type MoveReport, moveObjects } from '#administration/move-objects.ts';
import { checkObjects } from '#administration/objects.ts';
import { rebuildIndex } from '#administration/rebuild-index.ts';
import type { Delivery } from '#record/delivery.ts';
import { configuredObjectStore, objectsFolder } from '#storage/objects/open.ts';
import { readRuntimeFile } from '#storage/runtime-file.ts';
import { environmentSchema } from '../config.ts';
import { type BuiltIn, type Given, option, usageOf } from './built-in.ts';
import { type CliHooks, type CliStreams, UsageError } from './command.ts';
import { type Opened, printed, withOpened } from './opened.ts';

const moveOptions = [
	option('to', 'the store that gets them: s3://<bucket>[/<prefix>] or file:<absolute path>', { value: '<url>', isRequired: true }),
];

const exportOptions = [
	option('to', 'the folder that the files are written to', { value: '<folder>', isRequired: true }),
	option('site', 'only the files of this site', { value: '<slug>' }),
	option('study', 'only the files of this study, by its UID', { value: '<uid>' }),
];

export const objectCommands: readonly BuiltIn[] = [
	{
		name: 'objects check',
		summary: 'compares the object store with the index',
		run: (given, streams, hooks) =>
			onObjects({ ...given, create: false }, streams, hooks, ({ config, database }) =>
				checkObjects(database.people, configuredObjectStore(config), Date.now(), { remove: false, repair: false }),
			),
	},
	{
		name: 'objects export',
		summary: 'writes the images of the object store as DICOM files',
		options: exportOptions,
		run: (given, streams, hooks) => {
			const wanted = { to: resolve(given.text('to') ?? ''), site: given.text('site'), studyUid: given.text('study') };
			return onObjects({ ...given, create: false }, streams, hooks, ({ config, database }) =>
				exportObjects(database.people, configuredObjectStore(config), wanted),
			);
		},
	},
	{
		name: 'objects move',
		summary: 'copies all objects into another store, which the next start may use',
		options: moveOptions,
		run: move,
	},
	{
		name: 'objects rebuild',
		summary: 'makes the index of the images anew from the object store',
		run: (given, streams, hooks) =>
			onObjects({ ...given, create: true }, streams, hooks, ({ config, database, databaseUrl }) => {
				const objects = configuredObjectStore(config);
				const deliver = <Sent extends Delivery>(delivery: Sent) => hooks.processDelivery(databaseUrl, delivery, config.limits);
				const { dicomHeaderBytesMax: headerBytesMax } = config.limits;
				return rebuildIndex({ database: database.people, objects, deliver, headerBytesMax, nowMs: () => Date.now() });
			}),
	},
];

/**
 * Copies the objects of the configured store into another one. While the service runs, others arrive; a run without it leaves nothing behind, and
 * then OBJECT_STORE_URL may change.
 */
async function move(given: Given, streams: CliStreams, hooks: CliHooks): Promise<number> {
	const usage = `usage: ${usageOf({ name: 'objects move', options: moveOptions })}`;
	const to = given.text('to') ?? '';
	if (!environmentSchema.shape.OBJECT_STORE_URL.safeParse(to).success)
		throw new UsageError(`--to is file:<absolute path> or s3://<bucket>[/<prefix>]; ${usage}`);
	const config = hooks.readConfig();
	const target = { ...config, OBJECT_STORE_URL: to };
	const isSame = to.startsWith('s3:') ? to === config.OBJECT_STORE_URL : objectsFolder(target) === objectsFolder(config);
	if (isSame) throw new UsageError('--to is the store that is used already');
	const wasRunning = readRuntimeFile(config.DATA_DIR) !== undefined;
	const told = ({ objects, copied, present, bytes }: MoveReport) =>
		void streams.stderr.write(`${objects} objects: ${copied} copied (${Math.round(bytes / 2 ** 20)} MiB), ${present} present\n`);
	const report = await withOpened(
		config,
		async ({ database }) => {
			const stores = { from: configuredObjectStore(config), to: configuredObjectStore(target) };
			try {
				return await moveObjects(database.people, { ...stores, onProgress: told });
			} finally {
				await Promise.all([stores.from.close(), stores.to.close()]);
			}
		},
		{ create: false },
	);
	const isWhole = report.missing === 0 && report.damaged === 0;
	const next = !isWhole
		? 'some objects are missing or damaged: see examples, and objects check'
		: wasRunning
			? 'the service runs: stop every node, then repeat this command'
			: `every node that is stopped may start with OBJECT_STORE_URL=${to}; keep the old store until objects check finds nothing missing`;
	printed({ ...report, next }, given, streams);
	return isWhole ? 0 : 1;
}

async function onObjects(
	how: { json: boolean; wide: boolean; create: boolean },
	streams: Parameters<typeof printed>[2],
	hooks: CliHooks,
	work: (opened: Opened) => Promise<object>,
): Promise<number> {
	const config = hooks.readConfig();
	printed(await withOpened(config, work, how), how, streams);
	return 0;
}
