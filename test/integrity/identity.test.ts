import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { OperationContext } from '#administration/context.ts';
import { dismissIdentity, mergePatients, previewIdentity, unmergePatients } from '#administration/identity.ts';
import { listIdentity } from '#administration/identity-work.ts';
import { listLoggedMessages } from '#administration/messages.ts';
import { showPatient } from '#administration/patient-chart.ts';
import { searchPatients } from '#administration/patients.ts';
import { newId } from '#core/id.ts';
import { tableShapes } from '#fhir/resources/index.ts';
import type { ApplyContext } from '#record/apply/context.ts';
import { WorkingSet } from '#record/apply/working-set.ts';
import { recordDoubt } from '#record/identity/doubt.ts';
import type { DoubtKind } from '#record/identity/doubt-kinds.ts';
import { noSettings } from '#record/settings/settings.ts';
import { WorkerDatabase } from '#storage/database.ts';
import { WriteSet } from '#storage/write-set.ts';
import { eventually, type FhirBody, type TestService, testService } from '#test/support/service.ts';
import { defaultLimits } from '../../src/limits.ts';

const person = (number: string, name: string, born: string, authority = 'MRN') => `PID|1||${number}^^^${authority}||${name}||${born}|F`;

async function send(service: TestService, key: string, id: string, type: string, ...segments: string[]): Promise<void> {
	const message = [`MSH|^~\\&|ADT|N|||20260105101500||${type}|${id}|P|2.5.1`, 'EVN||20260105', ...segments].join('\r');
	const { status } = await fetch(`http://127.0.0.1:${service.port('hl7')}/v2/ingest`, {
		method: 'POST',
		headers: { 'X-API-Key': key, 'Content-Type': 'text/plain' },
		body: message,
	});
	assert.equal(status, 200, id);
}

const result = (order: string, day: string, value: string) => [
	`OBR|1||${order}|24331-1^Lipids^LN|||${day}`,
	`OBX|1|NM|2093-3^Cholesterol^LN||${value}|mg/dL|120-200|N|||F|||${day}`,
];

async function withSite(
	work: (on: { service: TestService; key: string; context: OperationContext; idOf(number: string): Promise<string> }) => Promise<void>,
) {
	await using service = await testService();
	const { key } = await service.addSite('north');
	await eventually(async () => (await service.fhir('/fhir/Patient', key)).status === 200, 'the key');
	const context = { ...service.administration, visibleSites: ['north'] };
	const idOf = async (number: string) => {
		const found = await searchPatients(context, { site: 'north', text: number, limit: 10 });
		return found.find(({ identifiers }) => identifiers.some(({ value, old }) => value === number && !old))?.id ?? assert.fail(number);
	};
	await work({ service, key, context, idOf });
}

const subjects = (bundle: FhirBody) => (bundle.entry ?? []).map(({ resource }: FhirBody) => resource.subject.reference).sort();

describe('identity', () => {
	test('patients are merged and told apart as ADT^A40 and A37 do, with a preview that holds', async () =>
		withSite(async ({ service, key, context, idOf }) => {
			await send(service, key, '1', 'ADT^A01', person('4711', 'Lovemore^Ada', '18151210'));
			await send(service, key, '2', 'ORU^R01', person('4711', 'Lovemore^Ada', '18151210'), ...result('O1', '20260101', '190.50'));
			await send(service, key, '3', 'ORU^R01', `${person('4812', 'Lovemore^A', '18151210')}`, ...result('O2', '20260102', '204.0'));
			const [survivor, prior] = [await idOf('4711'), await idOf('4812')];
			const pair = { site: 'north', survivor, prior };
			const preview = await previewIdentity(context, { ...pair, operation: 'merge' });
			assert.deepEqual(
				preview.moves.map(({ type, count }) => `${count} ${type}`),
				['1 Observation', '1 DiagnosticReport'],
			);
			assert.deepEqual([preview.identifiers, preview.obstacle], [['4812'], null]);
			assert.match((await previewIdentity(context, { ...pair, operation: 'unmerge' })).obstacle ?? '', /not merged/);

			const merged = await mergePatients(context, pair);
			assert.equal(merged.prior.replaced_by, survivor);
			assert.deepEqual(
				merged.survivor.identifiers.map(({ value, old }) => [value, old]),
				[
					['4711', false],
					['4812', true],
				],
			);
			const observations = () => service.fhir('/fhir/Observation', key).then(({ body }) => subjects(body));
			assert.deepEqual(await observations(), [`Patient/${survivor}`, `Patient/${survivor}`]);
			const chart = await showPatient(context, { site: 'north', id: survivor });
			assert.deepEqual(
				chart.merged.map(({ id }) => id),
				[prior],
			);
			assert.equal(chart.observations.length, 2);
			const logged = await listLoggedMessages(context, { patient: '4812', limit: 10 });
			assert.deepEqual(
				logged.map(({ message_type: type }) => type),
				['PATIENT MERGE', 'ORU^R01', 'ORU^R01', 'ADT^A01'],
				'all that is about the patient, under each of the numbers',
			);
			assert.equal(logged[0]?.id, merged.message);
			assert.deepEqual([logged[0]?.source, logged[0]?.surface], ['test', 'administration']);
			await assert.rejects(mergePatients(context, pair), /already merged into another patient/);
			await assert.rejects(mergePatients(context, { ...pair, prior: survivor }), /merged with itself|merged into another/);
			// A message under the former number speaks of the survivor.
			await send(service, key, '4', 'ORU^R01', person('4812', 'Lovemore^A', '18151210'), ...result('O3', '20260103', '180'));
			assert.deepEqual(
				await observations(),
				[survivor, survivor, survivor].map((id) => `Patient/${id}`),
			);

			const back = await previewIdentity(context, { ...pair, operation: 'unmerge' });
			assert.deepEqual(
				back.moves.map(({ type, count }) => `${count} ${type}`),
				['1 Observation', '1 DiagnosticReport'],
			);
			const apart = await unmergePatients(context, pair);
			assert.deepEqual([apart.prior.replaced_by, apart.prior.active, apart.survivor.identifiers.length], [null, true, 1]);
			assert.deepEqual(await observations(), [survivor, survivor, prior].map((id) => `Patient/${id}`).sort());
			await assert.rejects(unmergePatients(context, pair), /not merged/);
			const events = await service.rows(
				"select action, subject from audit_event where action in ('patient.merge', 'patient.unmerge') order by id",
			);
			assert.deepEqual(events, [
				{ action: 'patient.merge', subject: survivor },
				{ action: 'patient.unmerge', subject: survivor },
			]);
		}));

	test('the work list has overlays and look-alikes of the site, page by page, and not what was judged', async () =>
		withSite(async ({ service, key, context, idOf }) => {
			await send(service, key, '1', 'ADT^A08', person('1', 'Doe^Jane', '19700131'));
			await send(service, key, '2', 'ADT^A08', person('2', 'DOE^JANE', '19700131'));
			await send(service, key, '3', 'ADT^A08', person('3', 'Doe^Jane', '19700201'));
			await send(service, key, '4', 'ADT^A08', person('4', 'Roe^Mary', '19800101'));
			await send(service, key, '5', 'ADT^A08', person('5', 'Roe^Mary', '19800101'));
			await send(service, key, '6', 'ADT^A08', person('4', 'Moe^Ann', '19800101', 'OTHER'));
			const page = (kind: 'overlay' | 'alike' | 'sharing', after?: string, limit = 10) =>
				listIdentity(context, { site: 'north', kind, limit, ...(after === undefined ? {} : { after }) });
			const numbers = async (work: ReturnType<typeof page>) =>
				(await work).groups.map(({ patients }) => patients.flatMap(({ identifiers }) => identifiers.map(({ value }) => value)).sort());
			assert.deepEqual(await numbers(page('alike')), [
				['1', '2'],
				['4', '5'],
			]);
			assert.deepEqual(await numbers(page('sharing')), [['4', '4']]);
			const first = await page('alike', undefined, 1);
			assert.equal(first.groups.length, 1);
			assert.deepEqual(await numbers(page('alike', first.next ?? '', 1)), [['4', '5']]);
			// A walk that looks at two patients at a time finds the same.
			const found: string[][] = [];
			for (let after: string | undefined, pages = 0; pages < 10; pages++) {
				const limits = { ...context.limits, identityScanMax: 3 };
				const walked = await listIdentity({ ...context, limits }, { site: 'north', kind: 'alike', limit: 10, ...(after ? { after } : {}) });
				found.push(...(await numbers(Promise.resolve(walked))));
				if (walked.next === null) break;
				after = walked.next;
			}
			assert.deepEqual(found, [
				['1', '2'],
				['4', '5'],
			]);

			const pair = [await idOf('1'), await idOf('2')];
			assert.deepEqual(await dismissIdentity(context, { site: 'north', patients: pair }), { dismissed: 1 });
			assert.deepEqual(await numbers(page('alike')), [['4', '5']]);
			await send(service, key, '7', 'ADT^A08', person('5', 'Smith^Zoe', '19991231'));
			assert.deepEqual(await numbers(page('alike')), []);
			const { overlays } = await page('overlay');
			assert.deepEqual(
				overlays.map(({ before, after }) => [before?.name, after?.name, after?.birth_date]),
				[['Roe, Mary', 'Smith, Zoe', '1999-12-31']],
			);
			await dismissIdentity(context, { site: 'north', patients: [], message: overlays[0]?.message ?? '' });
			assert.deepEqual((await page('overlay')).overlays, []);
			await assert.rejects(dismissIdentity(context, { site: 'north', patients: ['nobody', 'x'] }), /no patient/);
			await assert.rejects(page('alike', 'bm90IGEgZGF0ZQ'), { fault: 'form' });
		}));

	test('doubts are listed once with their count, dismissed for good, and open again when they were mended and come back', async () =>
		withSite(async ({ service, key, context, idOf }) => {
			await send(service, key, '1', 'ADT^A08', person('1', 'Doe^Jane', '19700131'));
			await send(service, key, '2', 'ADT^A08', person('2', 'Doe^Jane', '19700131'));
			const patients = [await idOf('1'), await idOf('2')] as const;
			const [{ id: siteId = '' } = {}] = await service.rows<{ id: string }>('select id from site');
			const connection = new WorkerDatabase(service.databaseUrl, defaultLimits).lane();
			await connection.open();
			const write = async (change: (context: ApplyContext) => void) => {
				const set = new WorkingSet();
				const effects = { flags: [], changed: [], results: [], stepReports: [], instances: [] };
				const message = { id: newId(), surface: 'mllp', source: '192.0.2.1', settings: noSettings };
				const at = new Date().toISOString();
				change({ set, newId, message, source: 'x', lastUpdated: at, ...effects });
				await new WriteSet(tableShapes, 0).write(connection, new Map([[siteId, set]]), 'x', at);
			};
			const [patientId, otherPatientId] = patients;
			const raise = (kind: DoubtKind, key = 'a') =>
				write((on) => recordDoubt(on, { kind, key: [key], text: 'two numbers', patientId, otherPatientId }));
			try {
				for (const kind of ['mismatch', 'mismatch', 'identifiers-disagree'] as const) await raise(kind);
				const listed = async (kind: 'doubt' | DoubtKind, settled = false) =>
					(await listIdentity(context, { site: 'north', kind, settled, limit: 10 })).doubts;
				assert.deepEqual(
					(await listed('doubt')).map(({ kind, count, patient, other_patient: other }) => [kind, count, patient?.id, other?.id]),
					[
						['identifiers-disagree', 1, ...patients],
						['mismatch', 2, ...patients],
					],
				);
				const [mismatch] = await listed('mismatch');
				const doubts = [mismatch?.id ?? ''];
				assert.deepEqual(await dismissIdentity(context, { site: 'north', patients: [], doubts }), { dismissed: 1 });
				await assert.rejects(dismissIdentity(context, { site: 'north', patients: [], doubts }), { fault: 'not-found' });
				await raise('mismatch');
				assert.deepEqual(await listed('mismatch'), []);
				const [settled] = await listed('mismatch', true);
				assert.deepEqual([settled?.count, settled?.settled?.how, settled?.settled?.by], [3, 'dismissed', 'test']);

				const [survivor, prior] = patients;
				await mergePatients(context, { site: 'north', survivor, prior });
				assert.deepEqual(await listed('doubt'), [], 'the merge has mended it');
				await raise('identifiers-disagree');
				assert.deepEqual(
					(await listed('doubt')).map(({ kind, count }) => [kind, count]),
					[['identifiers-disagree', 2]],
				);
			} finally {
				await connection.close();
			}
		}));

	test('a patient is found by number, name and birth date, and read with where each value came from', async () =>
		withSite(async ({ service, key, context, idOf }) => {
			await send(
				service,
				key,
				'1',
				'ADT^A08',
				`${person('4711', 'Lovemore^Ada', '18151210')}|||1 Row^^London`,
				'AL1|1|DA|70618^Penicillin||Rash',
			);
			await send(service, key, '2', 'ORU^R01', person('4711', 'X^Y', '19000101'), ...result('O1', '20260101', '190.50'));
			await send(service, key, '3', 'ADT^A08', `${person('4711', 'Lovemore^Ada', '18151210')}|||2 Row^^London`);
			await send(service, key, '4', 'ADT^A08', person('5', 'Byron^Anne', '17920517'));
			const find = async (text: string) =>
				(await searchPatients(context, { site: 'north', text, limit: 10 })).map(({ identifiers }) => identifiers[0]?.value);
			assert.deepEqual(await find('4711'), ['4711']);
			assert.deepEqual(await find('lovem ada'), ['4711']);
			assert.deepEqual(await find('Ada, Lovemore'), ['4711']);
			assert.deepEqual(await find('1815-12-10'), ['4711']);
			assert.deepEqual(await find('10.12.1815'), ['4711']);
			assert.deepEqual(await find('ann 1792-05-17'), ['5']);
			assert.deepEqual(await find('ann 1792-05-18'), []);
			assert.deepEqual(await find(''), ['5', '4711'], 'who changed last first');
			assert.deepEqual(await find('a|b,c$d\\e'), []);
			await assert.rejects(find('1815-02-31'), { fault: 'form', field: 'text' });
			const paged = await searchPatients(context, { site: 'north', text: '', limit: 1 });
			const second = await searchPatients(context, { site: 'north', text: '', limit: 1, before: paged[0]?.id });
			assert.equal(second[0]?.identifiers[0]?.value, '4711');

			const id = await idOf('4711');
			const chart = await showPatient(context, { site: 'north', id });
			const messages = new Map((await listLoggedMessages(context, { limit: 10 })).map((message) => [message.id, message.control_id]));
			const from = (origin: { message: string | null } | undefined) => messages.get(origin?.message ?? '');
			const stated = new Map(chart.demographics.map(({ element, value, origin }) => [element, [value, from(origin)]]));
			assert.deepEqual(
				[stated.get('name'), stated.get('birthDate')],
				[
					['Lovemore, Ada', '1'],
					['1815-12-10', '1'],
				],
			);
			assert.equal(stated.get('address')?.[1], '3', 'the message that changed it, not the first');
			const [observed] = chart.observations;
			assert.deepEqual(
				[observed?.value, observed?.number, observed?.range, from(observed?.origin)],
				['190.50 mg/dL', 190.5, '120-200', '2'],
			);
			assert.deepEqual(
				chart.allergies.map(({ text, detail, origin }) => [text, detail, from(origin)]),
				[['Penicillin', 'Rash', '1']],
			);
			assert.deepEqual(
				(await listLoggedMessages(context, { patient_id: id, limit: 10 })).map(({ control_id: control }) => control),
				['3', '2', '1'],
			);
			const small = { ...context, limits: { ...context.limits, patientRowsMax: 1 } };
			await send(service, key, '6', 'ORU^R01', person('4711', 'X^Y', '19000101'), ...result('O2', '20260102', '1'));
			assert.deepEqual((await showPatient(small, { site: 'north', id })).cut, ['observations', 'reports']);
			const events = await service.rows("select subject, actor from audit_event where action = 'patient.read'");
			assert.deepEqual(events, [
				{ subject: id, actor: 'test' },
				{ subject: id, actor: 'test' },
			]);
			await assert.rejects(showPatient(context, { site: 'north', id: 'nobody' }), { fault: 'not-found' });
		}));
});
