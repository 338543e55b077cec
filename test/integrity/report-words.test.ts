import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Laboratory } from '#test/support/laboratory.ts';

let laboratory: Laboratory;

before(async () => {
	laboratory = await Laboratory.open();
});

after(() => laboratory[Symbol.asyncDispose]());

interface Line {
	code?: string;
	type?: string;
	status?: string;
}

const findings = '71250&GDT^Findings^L';
const impression = '71250&IMP^Impression^L';
const addendum = '71250&ADT^Addendum^L';
const obx = (value: string, { code = findings, type = 'TX', status = 'F' }: Line = {}) => `OBX|1|${type}|${code}||${value}||||||${status}`;

/** Sends a message about the order of a patient; returns its flags. */
function send(patient: string, status: string, hour: number, ...lines: string[]): Promise<string[]> {
	const obr = `OBR|1||F${patient}|71250^CT Chest^L|||20260105080000|||||||||||||||20260106${hour}0000||RAD|${status}`;
	return laboratory.send(`PID|1||${patient}^^^H^MR||A^B||19800101|F`, obr, ...lines);
}

/** What the report of a patient says for people. */
async function said(patient: string): Promise<{ status: string; text: string | undefined; conclusion: string | undefined; forms: number }> {
	const [report, another] = await laboratory.all('DiagnosticReport', patient);
	assert.ok(report && another === undefined);
	const { status, conclusion, presentedForm = [] } = report;
	const [form] = presentedForm;
	const text = form === undefined ? undefined : Buffer.from(form.data, 'base64').toString();
	return { status, text, conclusion, forms: presentedForm.length };
}

const first = [obx('a mass'), obx('cancer', { code: impression })];
const firstText = 'Findings\na mass\n\nImpression\ncancer';

describe('what a message withdraws is no longer said by the report', () => {
	const withdrawals: Record<string, string[]> = {
		W: [obx('a mass', { status: 'W' }), obx('cancer', { code: impression, status: 'W' })],
		D: [obx('', { status: 'D' }), obx('', { code: impression, status: 'D' })],
	};
	for (const [status, lines] of Object.entries(withdrawals)) {
		test(`all of it, by ${status}`, async () => {
			await send(`A${status}`, 'F', 10, ...first);
			assert.deepEqual(await said(`A${status}`), { status: 'final', text: firstText, conclusion: 'cancer', forms: 1 });
			await send(`A${status}`, 'C', 11, ...lines);
			assert.deepEqual(await said(`A${status}`), { status: 'corrected', text: undefined, conclusion: undefined, forms: 0 });
			const observations = await laboratory.all('Observation', `A${status}`);
			assert.deepEqual(
				observations.map((found) => found.status),
				['entered-in-error', 'entered-in-error'],
			);
		});
	}

	test('and the rest stays', async () => {
		await send('B', 'F', 10, ...first, obx('^AP^^Base64^JVBERi0=', { type: 'ED', code: 'PDF^Document^L' }));
		assert.equal((await said('B')).forms, 2);
		await send('B', 'F', 11, obx('', { code: impression, status: 'D' }));
		assert.deepEqual(await said('B'), { status: 'amended', text: 'a mass', conclusion: undefined, forms: 2 });
		await send('B', 'F', 12, obx('', { type: 'ED', code: 'PDF^Document^L', status: 'D' }));
		assert.deepEqual(await said('B'), { status: 'amended', text: 'a mass', conclusion: undefined, forms: 1 });
	});

	test('though the report was corrected meanwhile, and the message says F', async () => {
		await send('C', 'F', 10, ...first);
		await send('C', 'C', 11, obx('a shadow', { status: 'C' }), obx('no cancer', { code: impression, status: 'C' }));
		await send('C', 'F', 12, obx('no cancer', { code: impression, status: 'W' }));
		assert.deepEqual(await said('C'), { status: 'corrected', text: 'a shadow', conclusion: undefined, forms: 1 });
	});

	test('nor does a first message say what it withdraws', async () => {
		await send('D', 'F', 10, obx('a mass'), obx('cancer', { code: impression, status: 'D' }));
		assert.deepEqual(await said('D'), { status: 'final', text: 'a mass', conclusion: undefined, forms: 1 });
	});
});

describe('an addendum', () => {
	test('is added to the report, once', async () => {
		await send('E', 'F', 10, ...first);
		for (const hour of [11, 12]) {
			await send('E', 'F', hour, obx('seen by two', { code: addendum }));
			const text = `${firstText}\n\nAddendum\nseen by two`;
			assert.deepEqual(await said('E'), { status: 'appended', text, conclusion: 'cancer', forms: 1 });
		}
	});

	test('is added to a corrected report', async () => {
		await send('F', 'C', 10, ...first);
		await send('F', 'F', 11, obx('seen by two', { code: addendum }));
		const text = `${firstText}\n\nAddendum\nseen by two`;
		assert.deepEqual(await said('F'), { status: 'corrected', text, conclusion: 'cancer', forms: 1 });
	});

	test('is a part of a report that is sent whole', async () => {
		await send('G', 'F', 10, ...first);
		assert.deepEqual(await send('G', 'C', 11, ...first, obx('seen by two', { code: addendum })), []);
		const text = `${firstText}\n\nAddendum\nseen by two`;
		assert.deepEqual(await said('G'), { status: 'corrected', text, conclusion: 'cancer', forms: 1 });
	});

	test('alone is the text of a report that is not known', async () => {
		await send('H', 'F', 10, obx('seen by two', { code: addendum }));
		assert.deepEqual(await said('H'), { status: 'final', text: 'seen by two', conclusion: undefined, forms: 1 });
	});
});

describe('a correction of one section', () => {
	test('keeps the others', async () => {
		await send('J', 'F', 10, ...first);
		assert.deepEqual(await send('J', 'C', 11, obx('no cancer', { code: impression, status: 'C' })), []);
		const text = 'Findings\na mass\n\nImpression\nno cancer';
		assert.deepEqual(await said('J'), { status: 'corrected', text, conclusion: 'no cancer', forms: 1 });
		assert.deepEqual(await send('J', 'C', 12, obx('a shadow', { status: 'C' })), []);
		assert.deepEqual(await said('J'), {
			...{ status: 'corrected', text: 'Findings\na shadow\n\nImpression\nno cancer' },
			...{ conclusion: 'no cancer', forms: 1 },
		});
	});

	test('that the report does not have is the whole text, and is flagged because the others are in force', async () => {
		await send('L', 'F', 10, ...first);
		assert.deepEqual(await send('L', 'C', 11, obx('all is well', { code: '71250^Report^L', status: 'C' })), ['text-left-out']);
		assert.deepEqual(await said('L'), { status: 'corrected', text: 'all is well', conclusion: undefined, forms: 1 });
	});

	test('of a draft is the whole text', async () => {
		await send('M', 'P', 10, obx('a mass', { status: 'P' }), obx('cancer', { code: impression, status: 'P' }));
		assert.deepEqual(await send('M', 'F', 11, obx('a shadow')), []);
		assert.deepEqual(await said('M'), { status: 'final', text: 'a shadow', conclusion: undefined, forms: 1 });
	});

	test('is not flagged where the message withdraws the others', async () => {
		await send('K', 'F', 10, ...first);
		assert.deepEqual(await send('K', 'C', 11, obx('', { status: 'D' }), obx('no cancer', { code: impression, status: 'C' })), []);
		assert.deepEqual(await said('K'), { status: 'corrected', text: 'no cancer', conclusion: 'no cancer', forms: 1 });
	});
});
