import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#core/json.ts';
import { MemorySite } from '#test/support/memory-site.ts';
import { read } from '../hl7v2/reading.ts';

const also = ['A02', 'A03', 'A11', 'A13'];
const first = '202601010800';
const discharged = '202601050900';

interface Event {
	/** PV1-19. */
	number?: string;
	/** PV1-3. */
	place?: string;
	/** PV1-6. */
	prior?: string;
	/** PV1-44. */
	admitted?: string;
	/** EVN-2. */
	at?: string;
	/** PV1-2. */
	patientClass?: string;
}

/** Applies one event; returns the codes of its flags. */
function send(
	site: MemorySite,
	trigger: string,
	{ number = 'V1', place = '', prior = '', admitted = '', at = '', patientClass = 'I' }: Event = {},
) {
	const pv1 = [
		'PV1',
		'1',
		patientClass,
		place,
		'',
		'',
		prior,
		...Array<string>(12).fill(''),
		number,
		...Array<string>(24).fill(''),
		admitted,
	];
	const set = read(`ADT^${trigger}`, [`EVN||${at}`, 'PID|1||100^^^MRN', pv1.join('|')], { also });
	return [...set.flags, ...site.apply(set).flags].map(({ code }) => code);
}

const visits = (site: MemorySite) =>
	site.resources('Encounter').map(({ status, period, location }) => ({
		status,
		...((period ?? {}) as JsonObject),
		places: ((location ?? []) as { location: { display: string }; status: string }[])
			.map((item) => `${item.location.display} ${item.status}`)
			.join(', '),
	}));

const statusOf = (site: MemorySite) => visits(site).map(({ status }) => status);

describe('the course of a visit', () => {
	for (const [events, status, flagged] of [
		['A01 A03', 'finished', false],
		['A01 A03 A01', 'finished', true],
		['A01 A03 A04', 'finished', true],
		['A01 A03 A02', 'finished', true],
		['A01 A03 A08', 'finished', false],
		['A01 A03 A13', 'in-progress', false],
		['A01 A03 A13 A03', 'finished', false],
		['A01 A11', 'cancelled', false],
		['A01 A11 A01', 'cancelled', true],
		['A01 A11 A13', 'cancelled', true],
		['A01 A11 A03', 'cancelled', true],
		['A01 A11 A02', 'cancelled', true],
		['A01 A11 A08', 'cancelled', false],
		['A01 A03 A11', 'cancelled', false],
		['A01 A03 A11 A13', 'cancelled', true],
		['A01 A02 A01', 'in-progress', false],
	] as const) {
		test(`${events}: ${status}${flagged ? ', flagged' : ''}`, () => {
			const site = new MemorySite();
			let flags: string[] = [];
			for (const event of events.split(' ')) flags = send(site, event, { admitted: first, at: event === 'A03' ? discharged : '' });
			assert.deepEqual(statusOf(site), [status]);
			assert.deepEqual(flags, flagged ? ['visit-ended'] : []);
			const [{ end } = { end: undefined }] = visits(site) as { end?: string }[];
			assert.equal(end !== undefined && status === 'in-progress', false, 'an open visit has no end');
		});
	}

	test('an admission that begins after the end is a new stay under the same number', () => {
		const site = new MemorySite();
		send(site, 'A01', { admitted: first });
		send(site, 'A03', { at: discharged });
		assert.deepEqual(send(site, 'A01', { admitted: '202602010800' }), []);
		assert.deepEqual(visits(site), [{ status: 'in-progress', start: '2026-02-01T08:00:00+01:00', places: '' }]);
	});

	test('a transfer completes the former location, named or not', () => {
		const site = new MemorySite();
		send(site, 'A01', { place: 'ER' });
		send(site, 'A02', { place: 'W1' });
		assert.equal(visits(site)[0]?.places, 'W1 active, ER completed');
		send(site, 'A02', { place: 'W1' });
		assert.equal(visits(site)[0]?.places, 'W1 active, ER completed');
		send(site, 'A02', { place: 'W2' });
		assert.equal(visits(site)[0]?.places, 'W2 active, W1 completed, ER completed');
		send(site, 'A02', { place: 'W3', prior: 'OR' });
		assert.equal(visits(site)[0]?.places, 'W3 active, OR completed');
	});
});

describe('a visit without a number', () => {
	const none = { number: '' };
	test('is begun by an admission, and is the one that later events without a number mean', () => {
		const site = new MemorySite();
		assert.deepEqual(send(site, 'A01', { ...none, place: 'ER' }), []);
		send(site, 'A01', { ...none, place: 'W1' });
		send(site, 'A02', { ...none, place: 'W2' });
		assert.deepEqual(visits(site), [{ status: 'in-progress', places: 'W2 active, W1 completed' }]);
		send(site, 'A03', { ...none, at: discharged });
		assert.deepEqual(statusOf(site), ['finished']);
		send(site, 'A13', none);
		assert.deepEqual(visits(site), [{ status: 'in-progress', places: 'W2 active, W1 completed' }]);
		send(site, 'A11', none);
		assert.deepEqual(statusOf(site), ['cancelled']);
	});

	test('is the open one of the patient, if that has a number', () => {
		const site = new MemorySite();
		send(site, 'A01', { number: 'V1', place: 'ER' });
		send(site, 'A01', { ...none, place: 'W1' });
		assert.deepEqual(
			visits(site).map(({ places }) => places),
			['W1 active'],
		);
	});

	test('is a new one after the discharge, unless the admission came late', () => {
		const site = new MemorySite();
		send(site, 'A01', none);
		send(site, 'A03', { ...none, at: discharged });
		assert.deepEqual(send(site, 'A01', { ...none, at: '202601010800' }), ['visit-ended']);
		assert.deepEqual(send(site, 'A01', { ...none, at: '202602010800' }), []);
		assert.deepEqual(statusOf(site), ['finished', 'in-progress']);
	});

	test('is not known to other events, and not begun by a PV1 that names no visit', () => {
		const site = new MemorySite();
		for (const trigger of ['A02', 'A03', 'A11', 'A13']) assert.deepEqual(send(site, trigger, none), ['unknown-visit']);
		assert.deepEqual(send(site, 'A08', none), ['segment-skipped']);
		assert.deepEqual(send(site, 'A01', { ...none, patientClass: 'N' }), ['segment-skipped']);
		assert.deepEqual(send(site, 'A01', { ...none, patientClass: '' }), ['segment-skipped']);
		assert.deepEqual(statusOf(site), []);
	});

	test('gets the number that a later message has for it, and is known by both', () => {
		const site = new MemorySite();
		send(site, 'A01', { ...none, place: 'ER' });
		assert.deepEqual(send(site, 'A08', { number: 'V7', place: 'W1' }), []);
		assert.deepEqual(send(site, 'A02', { number: 'V7', place: 'W2' }), []);
		send(site, 'A02', { ...none, place: 'W3' });
		assert.deepEqual(visits(site), [{ status: 'in-progress', places: 'W3 active, W2 completed, W1 completed' }]);
		const [visit] = site.resources('Encounter');
		assert.deepEqual(
			((visit?.['identifier'] ?? []) as JsonObject[]).map(({ value }) => value),
			['V7'],
		);
		send(site, 'A03', { number: 'V7', at: discharged });
		send(site, 'A08', { number: 'V8' });
		assert.deepEqual(statusOf(site), ['finished', 'in-progress'], 'a visit that has ended gets no number');
	});

	test('that is known by the time of its admission gets the number, and is still found by that time', () => {
		const site = new MemorySite();
		send(site, 'A01', { ...none, admitted: first });
		send(site, 'A08', { number: 'V7', admitted: first });
		send(site, 'A02', { ...none, admitted: first, place: 'W1' });
		send(site, 'A02', { number: 'V7', place: 'W2' });
		assert.deepEqual(visits(site), [{ status: 'in-progress', start: '2026-01-01T08:00:00+01:00', places: 'W2 active, W1 completed' }]);
	});

	for (const [why, begun, next] of [
		['another time of admission', { ...none, admitted: first }, { number: 'V7', admitted: '202602010800' }],
		['an admission after the visit was last heard of', none, { number: 'V7', admitted: '202602010800' }],
		['an admission of another class', { ...none, patientClass: 'O' }, { number: 'V7' }],
		['another number', { number: 'V6' }, { number: 'V7' }],
	] as const) {
		test(`is another one: ${why}`, () => {
			const site = new MemorySite();
			send(site, 'A01', begun);
			send(site, 'A01', next);
			assert.deepEqual(statusOf(site), ['in-progress', 'in-progress']);
		});
	}
});
