import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, type TestContext, test } from 'node:test';
import type pg from 'pg';
import { newId, nilId } from '#core/id.ts';
import { interpretDelivery } from '#ingest/kinds/index.ts';
import type { Delivery, InstanceDelivery } from '#record/delivery.ts';
import type { StoredInstance } from '#record/instance.ts';
import { packInstance } from '#record/instance-bytes.ts';
import { type ForeseenTransaction, Foresight } from '#storage/foresight.ts';
import { foreseenImaging } from '#storage/holdings/imaging.ts';
import { newObjectKey } from '#storage/objects/object-key.ts';
import { adt } from '#test/support/adt.ts';
import { BatchRunner } from '#test/support/change-sets.ts';
import { type TestDatabase, testDatabase, testPool } from '#test/support/database.ts';
import { wire } from '#test/support/hl7v2.ts';
import { instanceAttributes } from '#test/support/instance-attributes.ts';
import { interpretContext } from '#test/support/interpretation.ts';
import { Seeded } from '#test/trust/seeded.ts';

/** An instance as the plan of a test names it. */
interface Named {
	uid: string;
	study: string;
	series?: string;
	patient?: string;
	content?: string;
}

describe('a lone instance goes on with what the database is expected to answer', () => {
	let database: TestDatabase;
	let pool: pg.Pool;
	const foresight = new Foresight(foreseenImaging);
	let guessing: BatchRunner;
	let plain: BatchRunner;
	before(async () => {
		database = await testDatabase();
		const interpret = (delivery: Delivery) => interpretDelivery(delivery, interpretContext);
		guessing = new BatchRunner(database.url, interpret, foresight);
		plain = new BatchRunner(database.url, interpret);
		pool = testPool(database.url);
	});
	after(async () => {
		for (const runner of [guessing, plain]) await runner[Symbol.asyncDispose]();
		await pool.end();
		await database[Symbol.asyncDispose]();
	});

	async function newSite(slug: string, policy = 'keep'): Promise<string> {
		const id = newId();
		const text = 'insert into site (id, slug, name, active, created_at, instance_policy) values ($1, $2, $2, true, now(), $3)';
		await pool.query(text, [id, slug, policy]);
		return id;
	}

	const common = (siteId: string) => ({
		id: newId(),
		siteId,
		clientId: nilId,
		source: '192.0.2.1',
		receivedAtMs: Date.now(),
		settings: {},
	});

	function instanceOf(siteId: string, { uid, study, series = `${study}.1`, patient = 'P1', content = uid }: Named): InstanceDelivery {
		const attributes = instanceAttributes();
		const stored: StoredInstance = {
			attributes: {
				...attributes,
				sopInstanceUid: uid,
				studyUid: study,
				seriesUid: series,
				patient: { ...attributes.patient, id: patient },
			},
			digest: createHash('sha256').update(content).digest('hex'),
			bytes: 1000 + content.length,
			objectKey: newObjectKey({ siteId, studyUid: study, seriesUid: series, sopInstanceUid: uid }),
			...{ callingAe: 'CT1', source: '192.0.2.1' },
		};
		return { ...common(siteId), kind: 'instance', surface: 'dimse', bytes: packInstance(stored, undefined) };
	}

	const hl7 = (siteId: string, bytes: Buffer): Delivery => ({ ...common(siteId), kind: 'hl7v2', surface: 'mllp', bytes });

	async function answerOf(runner: BatchRunner, delivery: Delivery): Promise<string> {
		const [reply] = await runner.process([delivery]);
		const answer = JSON.stringify(reply?.answer);
		// Keys are new for every delivery.
		return reply?.outcome === 'refused' || delivery.kind === 'instance'
			? answer.replaceAll(/"[^"]+\.dcm"/g, '"key"')
			: (reply?.outcome ?? '');
	}

	/** Everything about the images of a site but ids, keys and times. */
	async function indexOf(siteId: string): Promise<unknown[]> {
		const texts = [
			`select study_uid, series_count, instance_count, bytes::int, version, modalities, stated_patient_id,
				array(select value from patient_identifier n where n.site_id = t.site_id and n.patient_id = t.patient_id order by 1) as numbers
			from imaging_study t where site_id = $1 order by 1`,
			'select study_uid, series_uid, instance_count from imaging_series where site_id = $1 order by 1, 2',
			'select sop_instance_uid, study_uid, series_uid, digest from imaging_instance where site_id = $1 order by 1',
			'select sop_instance_uid, digest, kind, settlement from imaging_conflict where site_id = $1 order by 1, 2',
			'select kind, text, count from identity_doubt where site_id = $1 order by 1, 2',
			'select sequence::int, outcome from message_log where site_id = $1 order by 1',
		];
		const found = [];
		for (const text of texts) found.push((await pool.query(text, [siteId])).rows);
		return found;
	}

	/** The transactions of a test, and how many of them were surprised. */
	function watched(context: TestContext) {
		const begun: ForeseenTransaction[] = [];
		const begin = foresight.begin.bind(foresight);
		context.mock.method(foresight, 'begin', (...parameters: Parameters<typeof begin>) => {
			const transaction = begin(...parameters);
			begun.push(transaction);
			return transaction;
		});
		const surprised = context.mock.method(foresight, 'surprised');
		return { foreseen: () => begun.map(({ isForeseen }) => isForeseen), surprises: () => surprised.mock.callCount() };
	}

	test('when the instance is a further one of its series; that of a new study, series or patient waits', async (context) => {
		const site = await newSite('further');
		const { foreseen, surprises } = watched(context);
		const sent: Named[] = [
			...['1.1.1', '1.1.2', '1.1.3', '1.1.4'].map((uid) => ({ uid, study: '1.1' })),
			...['1.1.5', '1.1.6', '1.1.7'].map((uid) => ({ uid, study: '1.1', series: '1.1.9' })),
		];
		for (const named of sent) assert.equal(await answerOf(guessing, instanceOf(site, named)), '{"kind":"stored"}');
		assert.deepEqual(foreseen(), [false, false, true, true, true, false, true]);
		assert.equal(surprises(), 0);
	});

	test('and is tried anew, waiting, when the database has other rows', async (context) => {
		const site = await newSite('surprised');
		for (const uid of ['1.2.1', '1.2.2', '1.2.3']) await answerOf(guessing, instanceOf(site, { uid, study: '1.2' }));
		// Another node stores into the same study.
		await answerOf(plain, instanceOf(site, { uid: '1.2.4', study: '1.2' }));
		const { foreseen, surprises } = watched(context);
		assert.equal(await answerOf(guessing, instanceOf(site, { uid: '1.2.4', study: '1.2' })), '{"kind":"duplicate","studyUid":"1.2"}');
		assert.deepEqual([foreseen(), surprises()], [[true, false], 1]);
		assert.equal(await answerOf(guessing, instanceOf(site, { uid: '1.2.5', study: '1.2' })), '{"kind":"stored"}');
		const [studies] = await indexOf(site);
		assert.deepEqual(
			(studies as { instance_count: number }[]).map((study) => study.instance_count),
			[5],
		);
	});

	test('and a refusal is logged with the number of its turn', async () => {
		const site = await newSite('refused');
		for (const uid of ['1.3.1', '1.3.2', '1.3.3']) await answerOf(guessing, instanceOf(site, { uid, study: '1.3' }));
		const withheld: InstanceDelivery = { ...instanceOf(site, { uid: '1.3.4', study: '1.3' }), withheld: 'crash' };
		assert.match(await answerOf(guessing, withheld), /could not be indexed/);
		const { rows } = await pool.query('select sequence::int, outcome from message_log where site_id = $1', [site]);
		assert.deepEqual(rows, [{ sequence: 4, outcome: 'refused' }]);
	});

	test('with the outcome that it has without: a site of two nodes, of which one guesses, beside a site of one that does not', async (context) => {
		const { foreseen, surprises } = watched(context);
		const [site, other] = [await newSite('guessed', 'replace'), await newSite('read', 'replace')];
		const chance = new Seeded(7);
		const next = (below: number) => chance.below(below);
		const answers: [string, string][] = [];
		for (let step = 0; step < 260; step++) {
			const kind = next(40);
			const bySecond = next(12) === 0;
			const [study, series, patient] = [`1.5.${next(20) === 0 ? 2 : 1}`, next(15) === 0 ? 2 : 1, next(25) === 0 ? 'P2' : 'P1'];
			const named: Named = {
				uid: `1.6.${next(9) === 0 ? next(step + 1) : step}`,
				...{ study, series: `${study}.${series}`, patient, content: `content ${next(10) === 0 ? 'other' : step}` },
			};
			const update = Buffer.from(adt(`C${step}`, next(2) === 0 ? 'P1' : 'P2', step));
			const merge = wire(
				`MSH|^~\\&|ADT|HOSPITAL|TRIBUTARY|SITE|20260101120000+0000||ADT^A40|M${step}|P|2.5.1`,
				'PID|1||P1^^^MRN^MR||Number^Ann',
				`MRG|P${3 + step}^^^MRN^MR`,
			);
			const of = (siteId: string): Delivery =>
				kind === 0 ? hl7(siteId, update) : kind === 1 ? hl7(siteId, merge) : instanceOf(siteId, named);
			answers.push([await answerOf(bySecond || kind < 2 ? plain : guessing, of(site)), await answerOf(plain, of(other))]);
		}
		for (const [step, [guessed, read]] of answers.entries()) assert.equal(guessed, read, `step ${step}`);
		assert.deepEqual(await indexOf(site), await indexOf(other));
		assert.ok(foreseen().filter(Boolean).length > 40, 'many were foreseen');
		assert.ok(surprises() > 5, 'some otherwise than it was');
	});
});
