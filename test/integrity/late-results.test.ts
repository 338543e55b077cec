import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Laboratory } from '#test/support/laboratory.ts';
import type { FhirBody } from '#test/support/service.ts';

let laboratory: Laboratory;

before(async () => {
	laboratory = await Laboratory.open();
});

after(() => laboratory[Symbol.asyncDispose]());

interface Stated {
	/** OBR-22. */
	reported: string;
	/** OBX-2 and OBX-5. */
	value: [type: 'NM' | 'TX', value: string];
	/** OBR-25 and OBX-11. */
	status?: string;
}

/** Sends a result of a patient's only order; returns the flags. */
function send(patient: string, { reported, value: [type, value], status = 'F' }: Stated): Promise<string[]> {
	return laboratory.send(
		`PID|1||${patient}^^^MRN||Doe^Jane||19800101|F`,
		`OBR|1||F-${patient}|718-7^Hb^LN|||202601040800-0500${'|'.repeat(15)}${reported}|||${status}`,
		`OBX|1|${type}|718-7^Hb^LN||${value}|${type === 'NM' ? 'g/dL' : ''}|||||${status}`,
	);
}

async function only(type: string, patient: string): Promise<FhirBody> {
	const found = await laboratory.all(type, patient);
	assert.equal(found.length, 1);
	return found[0];
}

const bothLate = ['late-report', 'late-result'];

describe('a result that comes late', () => {
	test('leaves the report as it is, so that a later one is judged by the report and not by it', async () => {
		await send('R1', { reported: '202601061000-0500', value: ['TX', 'A'] });
		const before = [await only('DiagnosticReport', 'R1'), await only('Observation', 'R1')];
		assert.deepEqual(await send('R1', { reported: '202601060900-0500', value: ['TX', 'A'] }), bothLate);
		assert.deepEqual(await send('R1', { reported: '202601060930-0500', value: ['TX', 'B'] }), bothLate);
		assert.deepEqual([await only('DiagnosticReport', 'R1'), await only('Observation', 'R1')], before);
		assert.equal(before[0].issued, '2026-01-06T10:00:00-05:00');
	});

	test('is one by the day or hour of OBR-22, too', async () => {
		for (const [patient, first, second] of [
			['D1', '20260106', '20260105'],
			['D2', '2026010610-0500', '2026010609-0500'],
		] as const) {
			await send(patient, { reported: first, value: ['NM', '12.0'] });
			assert.deepEqual(await send(patient, { reported: second, value: ['NM', '11.0'] }), bothLate);
			assert.equal((await only('Observation', patient)).valueQuantity.value, 12);
		}
		assert.equal((await only('DiagnosticReport', 'D1')).issued, '2026-01-06T00:00:00-05:00');
		assert.equal((await only('DiagnosticReport', 'D2')).issued, '2026-01-06T10:00:00-05:00');
	});

	test('is none where one of the two is of the same day without a time: then the message that was made later counts', async () => {
		for (const [patient, first, second] of [
			['S1', '202601061000-0500', '20260106'],
			['S2', '20260106', '202601061000-0500'],
			['S3', '202601061000-0500', '202601060000-0500'],
		] as const) {
			await send(patient, { reported: first, value: ['NM', '12.0'] });
			assert.deepEqual(await send(patient, { reported: second, value: ['NM', '11.0'] }), []);
			assert.equal((await only('Observation', patient)).valueQuantity.value, 11);
		}
	});

	test('has no time of its report where OBR-22 states no day, which is flagged', async () => {
		assert.deepEqual(await send('M1', { reported: '202601', value: ['NM', '12.0'] }), ['unreadable-value']);
		assert.equal((await only('DiagnosticReport', 'M1')).issued, undefined);
	});
});
