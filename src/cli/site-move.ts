import { userInfo } from 'node:os';
import { abandonMove } from '#administration/moving/abandon-move.ts';
import { peerOf } from '#administration/moving/connections.ts';
import { type MoveSiteOptions, moveSite, previewMove } from '#administration/moving/move-site.ts';
import { faultOfDatabaseUrl } from '#core/database-url.ts';
import { configuredObjectStore, objectsFolder } from '#storage/objects/open.ts';
import { withDatabase } from '#storage/open.ts';
import { type Config, environmentSchema } from '../config.ts';
import { type BuiltIn, type Given, option } from './built-in.ts';
import { type CliStreams, UsageError } from './command.ts';
import { openDatabase, printed } from './opened.ts';

export const siteMove: BuiltIn = {
	name: 'site move',
	summary: 'moves a site to the database of another installation while it receives; repeated, it goes on where it was',
	words: [{ name: 'slug', meaning: 'the site', value: '<slug>', isRequired: true, choices: [], isRepeated: false }],
	options: [
		option(
			'to',
			'the database that gets it, which has the schema of this version; PGPASSWORD and ~/.pgpass hold for a URL without password',
			{
				...{ value: '<postgres url>', isRequired: true },
			},
		),
		option('objects-to', 'the object store of the other installation: s3://<bucket>[/<prefix>] or file:<absolute path>', {
			value: '<url>',
		}),
		option('owner', 'the account there that gets the API keys of people who have none there', { value: '<email>' }),
		option('check', 'only tells what would be copied and what is in the way; ends with 1 if something is'),
		option('abandon', 'removes what was copied, if the other database has never served the site'),
	],
	run: async (given, streams, hooks) => {
		if (given.has('check') && given.has('abandon')) throw new UsageError('--check and --abandon exclude each other');
		const config = hooks.readConfig();
		return withMove(config, given, streams, async (options) => {
			if (given.has('check')) {
				const preview = await previewMove(options);
				printed(preview, given, streams);
				return preview.refused.length === 0 ? 0 : 1;
			}
			printed(given.has('abandon') ? await abandonMove(options) : await moveSite(options), given, streams);
			return 0;
		});
	},
};

/** @throws UsageError */
async function withMove(
	config: Config,
	given: Given,
	streams: CliStreams,
	work: (options: MoveSiteOptions) => Promise<number>,
): Promise<number> {
	const to = given.text('to') ?? '';
	const fault = faultOfDatabaseUrl(to, ['any', 'read-write', 'primary']);
	// The text of a fault quotes no part of the URL.
	if (fault !== undefined) throw new UsageError(`--to ${fault}`);
	const objectsTo = storeOf(config, given.text('objects-to'));
	return withDatabase(
		config,
		async (databaseUrl) => {
			const databases = { source: openDatabase(databaseUrl, config), target: openDatabase(to, config) };
			const stores = {
				from: configuredObjectStore(config),
				to: objectsTo === undefined ? undefined : configuredObjectStore({ ...config, OBJECT_STORE_URL: objectsTo }),
			};
			try {
				return await work({
					...{ databases, stores, slug: given.words[0] ?? '', owner: given.text('owner') },
					peers: { source: peerOf(databaseUrl), target: peerOf(to) },
					actor: `cli:${userInfo().username}`,
					say: (line) => void streams.stderr.write(`${line}\n`),
				});
			} finally {
				await Promise.all([databases.source.close(), databases.target.close(), stores.from.close(), stores.to?.close()]);
			}
		},
		{ create: false },
	);
}

/** Reads the store of the target. It is never that of the source, whose database removes what its rows do not name. */
function storeOf(config: Config, url: string | undefined): string | undefined {
	if (url === undefined) return undefined;
	if (!environmentSchema.shape.OBJECT_STORE_URL.safeParse(url).success)
		throw new UsageError('--objects-to is file:<absolute path> or s3://<bucket>[/<prefix>]');
	const isSame = url.startsWith('s3:')
		? url === config.OBJECT_STORE_URL
		: objectsFolder({ ...config, OBJECT_STORE_URL: url }) === objectsFolder(config);
	if (isSame)
		throw new UsageError('--objects-to is the store of this installation: a store belongs to one database, so the other one has its own');
	return url;
}
