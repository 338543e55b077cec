import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, beforeEach, describe, test } from 'node:test';
import type pg from 'pg';
import { Failure } from '#core/failure.ts';
import { newId, nilId } from '#core/id.ts';
import { interpretDelivery } from '#ingest/kinds/index.ts';
import type { InstanceDelivery, Placing } from '#record/delivery.ts';
import type { StoredInstance } from '#record/instance.ts';
import { packInstance } from '#record/instance-bytes.ts';
import { newObjectKey } from '#storage/objects/object-key.ts';
import { BatchRunner } from '#test/support/change-sets.ts';
import { type TestDatabase, testDatabase, testPool } from '#test/support/database.ts';
import { eventually } from '#test/support/eventually.ts';
import { interpretContext } from '#test/support/interpretation.ts';

interface InstanceDetails {
	uid?: string;
	study?: string;
	series?: string;
	patient?: string;
	/** Whether the object travels with the row. */
	isCarried?: boolean;
	/** The slot in which the thread that writes the object tells its end. */
	slot?: number;
}

const neverPlaced = () => assert.fail('the objects lie in the store');

describe('instances of one UID in one batch', () => {
	let database: TestDatabase;
	let runner: BatchRunner;
	let place: (key: string, object: Uint8Array) => Promise<void> = neverPlaced;
	let durable: (slot: number) => Promise<boolean> = neverPlaced;
	let pool: pg.Pool;
	before(async () => {
		database = await testDatabase();
		const placeObject = ({ objectKey: key }: StoredInstance, object: Uint8Array) => ({ key, durable: place(key, object) });
		const context = { ...interpretContext, placeObject, isDurable: ({ slot }: Placing) => durable(slot) };
		runner = new BatchRunner(database.url, (delivery) => interpretDelivery(delivery, context));
		pool = testPool(database.url);
	});
	after(async () => {
		await runner[Symbol.asyncDispose]();
		await pool.end();
		await database[Symbol.asyncDispose]();
	});

	async function siteOf(slug: string): Promise<string> {
		const id = newId();
		await pool.query('insert into site (id, slug, name, active, created_at, instance_policy) values ($1, $2, $2, true, now(), $3)', [
			id,
			`site-${slug}`,
			slug.replace(/-.*/, ''),
		]);
		return id;
	}

	function instance(siteId: string, content: string, given: InstanceDetails = {}) {
		const { uid = '1.1', study = '1.2.1', series = '1.3.1', patient = 'P' } = given;
		const none = { started: undefined, description: undefined };
		const stored: StoredInstance = {
			attributes: {
				...{ sopClassUid: '1.2.840.10008.5.1.4.1.1.2', sopInstanceUid: uid, studyUid: study, seriesUid: series },
				...{ transferSyntaxUid: '1.2.840.10008.1.2.1', number: 1, rows: 1, columns: 1, frames: 1 },
				patient: { id: patient, issuer: undefined, name: undefined, birthDate: undefined, gender: undefined },
				study: { ...none, accessionNumber: content, accessionIssuer: undefined, studyId: undefined, referringPhysician: undefined },
				series: { ...none, modality: content, number: 1, bodyPart: undefined, station: undefined },
			},
			digest: createHash('sha256').update(content).digest('hex'),
			bytes: content.length,
			objectKey: newObjectKey({ siteId, studyUid: study, seriesUid: series, sopInstanceUid: uid }),
			...{ callingAe: 'CT1', source: '192.0.2.1' },
		};
		const delivery: InstanceDelivery = {
			...{ kind: 'instance', id: newId(), siteId, clientId: nilId, surface: 'dimse', source: stored.source, receivedAtMs: Date.now() },
			bytes: packInstance(stored, given.isCarried ? [Buffer.from(content)] : undefined),
			settings: {},
			...(given.slot !== undefined && { placing: { slot: given.slot, turn: 1 } }),
		};
		return { stored, delivery };
	}

	const process = async (sent: { delivery: InstanceDelivery }[]) =>
		(await runner.process(sent.map(({ delivery }) => delivery))).map(({ answer }) => answer);
	const rows = async (text: string, siteId: string) => (await pool.query(text, [siteId])).rows;
	const index = (siteId: string) =>
		rows(
			`select t.study_uid as study, t.series_count as series, t.instance_count as instances, t.bytes::integer as bytes, t.modalities,
			t.accession_number as accession, (select count(*)::integer from imaging_series s where s.site_id = t.site_id and s.study_uid = t.study_uid)
				as series_rows, array(select i.object_key from imaging_instance i where i.site_id = t.site_id and i.study_uid = t.study_uid
				order by i.object_key) as objects
			from imaging_study t where t.site_id = $1 order by t.study_uid`,
			siteId,
		);

	test('replace: the last stays, each of the others is kept, and nothing is left of a study that none begins', async () => {
		const site = await siteOf('replace');
		const a = instance(site, 'a', { study: '1.2.1' });
		const b = instance(site, 'bb', { study: '1.2.2' });
		const c = instance(site, 'ccc', { study: '1.2.2', series: '1.3.2' });
		const other = instance(site, 'd', { uid: '1.4', study: '1.2.1', series: '1.3.9' });
		assert.deepEqual(await process([a, b, other, c]), [
			{ kind: 'stored' },
			{ kind: 'replaced', superseded: a.stored.objectKey, studyUid: '1.2.2' },
			{ kind: 'stored' },
			{ kind: 'replaced', superseded: b.stored.objectKey, studyUid: '1.2.2' },
		]);
		const expected = [
			{ study: '1.2.1', series: 1, instances: 1, bytes: 1, modalities: ['d'], accession: 'd', objects: [other.stored.objectKey] },
			{ study: '1.2.2', series: 1, instances: 1, bytes: 3, modalities: ['ccc'], accession: 'ccc', objects: [c.stored.objectKey] },
		].map((study) => ({ ...study, series_rows: 1 }));
		assert.deepEqual(await index(site), expected);
		assert.deepEqual(
			await rows('select object_key, settlement, settled_at is null as open from imaging_conflict where site_id = $1 order by bytes', site),
			[a, b].map(({ stored }) => ({ object_key: stored.objectKey, settlement: 'replaced', open: false })),
		);
		assert.deepEqual(await process([c]), [{ kind: 'stored', studyUid: '1.2.2' }], 'the same delivery again meets its own row');
		assert.deepEqual(await index(site), expected);
	});

	test('replace: a study that is emptied and begun again in one batch is the same study', async () => {
		const site = await siteOf('replace-again');
		const [x, moved, y] = [instance(site, 'x'), instance(site, 'xx', { study: '1.2.2' }), instance(site, 'y', { uid: '1.9' })];
		const studies = () =>
			rows('select id, study_uid, instance_count, version from imaging_study where site_id = $1 order by study_uid', site);
		await process([x]);
		const [begun] = await studies();
		assert.deepEqual(await process([moved, y]), [
			{ kind: 'replaced', superseded: x.stored.objectKey, studyUid: '1.2.2' },
			{ kind: 'stored' },
		]);
		const [kept, other, ...more] = await studies();
		assert.deepEqual(kept, { ...begun, version: 2 });
		assert.deepEqual([other.study_uid, other.instance_count, other.version, more], ['1.2.2', 1, 1, []]);
	});

	/** Longer than what comes after it, so that it cannot be the beginning of that and need not be compared with it. */
	const long = 'a'.repeat(100);

	test('keep: the first stays, content that is kept aside already is not kept twice', async () => {
		const site = await siteOf('keep');
		const [a, b, same] = [instance(site, long), instance(site, 'b'), instance(site, 'b')];
		const expected = [{ kind: 'stored' }, { kind: 'quarantined', isHeld: false }, { kind: 'quarantined', isHeld: true }];
		assert.deepEqual(await process([a, b, same]), expected);
		assert.deepEqual(await process([b, same]), expected.slice(1), 'the object of the conflict itself is not taken for a copy');
		assert.deepEqual(await rows('select object_key from imaging_conflict where site_id = $1', site), [{ object_key: b.stored.objectKey }]);
	});

	test('refuse: nothing is noted', async () => {
		const site = await siteOf('refuse');
		assert.deepEqual(await process([instance(site, long), instance(site, 'b')]), [{ kind: 'stored' }, { kind: 'refused' }]);
		assert.deepEqual(await rows('select 1 from imaging_conflict where site_id = $1', site), []);
	});

	describe('what began a study or a series is replaced in the same batch:', () => {
		const orphans = (siteId: string) =>
			rows(
				`select i.sop_instance_uid as uid from imaging_instance i
				where i.site_id = $1 and (
					not exists (select from imaging_study t where t.site_id = i.site_id and t.study_uid = i.study_uid)
					or not exists (select from imaging_series s
						where s.site_id = i.site_id and s.study_uid = i.study_uid and s.series_uid = i.series_uid)
				)
				order by 1`,
				siteId,
			);

		test('by a correction', async () => {
			const site = await siteOf('replace-corrected');
			await process([instance(site, 'a'), instance(site, 'bb')]);
			assert.deepEqual(await orphans(site), []);
		});

		test('by an instance of another study, while its neighbour stays', async () => {
			const site = await siteOf('replace-moved');
			await process([instance(site, 'a'), instance(site, 'n', { uid: '1.7' }), instance(site, 'bb', { study: '1.2.2' })]);
			assert.deepEqual(await orphans(site), []);
		});

		test('by an instance of another series of a known study', async () => {
			const site = await siteOf('replace-series');
			await process([instance(site, 'k', { uid: '1.9' })]);
			const neighbour = instance(site, 'n', { uid: '1.7', series: '1.3.5' });
			await process([instance(site, 'a', { series: '1.3.5' }), instance(site, 'bb', { series: '1.3.6' }), neighbour]);
			assert.deepEqual(await orphans(site), []);
		});
	});

	test('a carried object is placed once, before its row is committed; where it cannot be, its instance alone is refused', async (context) => {
		const site = await siteOf('keep-carried');
		const placed: string[] = [];
		place = async (key, object) => {
			assert.deepEqual(await rows('select 1 from imaging_instance where site_id = $1', site), []);
			placed.push(`${key} ${Buffer.from(object)}`);
			if (placed.length === 2) throw new Failure('unavailable', 'the object store is full');
		};
		context.after(() => {
			place = neverPlaced;
		});
		const carried = ['a', 'b', 'c'].map((content, index) => instance(site, content, { uid: `1.${index}`, isCarried: true }));
		// The database has no room for the number: the batch is cut in two to find whom it is about.
		const poison = instance(site, 'd', { uid: '1.4' });
		poison.stored.attributes.number = 2 ** 40;
		poison.delivery.bytes = packInstance(poison.stored, undefined);
		const failed = (code: string, diagnostics: string) => ({ kind: 'failed', failure: { code, diagnostics } });
		assert.deepEqual(await process([...carried, poison]), [
			{ kind: 'stored' },
			failed('unavailable', 'the object store is full'),
			{ kind: 'stored' },
			failed('internal', 'the message could not be stored'),
		]);
		assert.deepEqual(
			placed,
			carried.map(({ stored }, index) => `${stored.objectKey} ${'abc'[index]}`),
		);
		const logged = await rows('select failure, length(bytes) as bytes from message_log where site_id = $1 order by sequence', site);
		assert.deepEqual(
			logged.map(({ failure }) => failure),
			['the object store is full', 'the message could not be stored'],
		);
	});

	describe('an object that another thread still writes:', () => {
		/** Ends the writing of the object in a slot. */
		const ends = new Map<number, (isDurable: boolean) => void>();
		const asked: number[] = [];
		before(() => {
			durable = (slot) => {
				asked.push(slot);
				return new Promise((resolve) => ends.set(slot, resolve));
			};
		});
		beforeEach(() => asked.splice(0));
		const end = (slot: number, isDurable: boolean) => ends.get(slot)?.(isDurable);
		const visible = async (siteId: string) =>
			(await rows('select sop_instance_uid as uid from imaging_instance where site_id = $1 order by 1', siteId)).map(({ uid }) => uid);
		/** The state of the session that has the rows, when it has carried out all that was sent. */
		const isHeld = async () => {
			const states = await pool.query(
				"select query from pg_stat_activity where application_name = 'tributary ingest' and datname = current_database() and state = 'idle in transaction'",
			);
			return states.rows.some(({ query }) => query.includes('committed_batch'));
		};

		test('its row is written meanwhile, and committed when it is durable', async () => {
			const site = await siteOf('keep-late');
			const processed = process([instance(site, 'a', { uid: '1.1', slot: 1 }), instance(site, 'b', { uid: '1.2' })]);
			await eventually(isHeld, 'all statements but COMMIT');
			assert.deepEqual(await visible(site), [], 'no part of the batch is committed');
			end(1, true);
			assert.deepEqual(await processed, [{ kind: 'stored' }, { kind: 'stored' }]);
			assert.deepEqual(await visible(site), ['1.1', '1.2']);
			assert.deepEqual(asked, [1]);
		});

		test('it leaves no row and no trace when it does not become durable, and the others of its batch are stored', async () => {
			const site = await siteOf('keep-undurable');
			const processed = process([
				instance(site, 'a', { uid: '1.1', slot: 1 }),
				instance(site, 'b', { uid: '1.2', slot: 2 }),
				instance(site, 'c', { uid: '1.3' }),
			]);
			await eventually(isHeld, 'all statements but COMMIT');
			end(2, false);
			end(1, true);
			assert.deepEqual(await processed, [{ kind: 'stored' }, { kind: 'unplaced' }, { kind: 'stored' }]);
			assert.deepEqual(await visible(site), ['1.1', '1.3']);
			assert.deepEqual(await rows('select instance_count as n from imaging_study where site_id = $1', site), [{ n: 2 }]);
			assert.deepEqual(
				await rows('select 1 from message_log where site_id = $1', site),
				[],
				'it comes again, so nobody is told of a refusal',
			);
			assert.deepEqual(asked, [1, 2], 'each is asked for once, however often the batch is tried');
			assert.deepEqual(await process([instance(site, 'b', { uid: '1.2' })]), [{ kind: 'stored' }]);
		});
	});
});
