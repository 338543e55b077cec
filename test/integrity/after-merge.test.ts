import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { AdtSender } from '#test/support/adt-sender.ts';
import type { FhirBody } from '#test/support/service.ts';

let adt: AdtSender;

before(async () => {
	adt = await AdtSender.open();
});

after(() => adt[Symbol.asyncDispose]());

const send = (event: string, ...segments: string[]) => adt.send(event, ...segments);

const pid = (numbers: string, name: string, born = '19800101', more = '') => `PID|1||${numbers}||${name}||${born}|F|||${more}`;
const number = (value: string, authority = 'H', type = 'MR') => `${value}^^^${authority}^${type}`;

/** The patients whom a number finds. */
async function found(value: string): Promise<FhirBody[]> {
	const { body } = await adt.call('GET', `/Patient?identifier=${value}`);
	return (body.entry ?? []).map(({ resource }: FhirBody) => resource);
}

/** The active patient whom a number finds. */
async function person(value: string): Promise<FhirBody> {
	const active = (await found(value)).filter((patient) => patient.active);
	assert.equal(active.length, 1, value);
	return active[0];
}

const shown = ({ name, birthDate, address }: FhirBody) => [name[0].family, birthDate, address?.[0].city];

describe('a message under a number that was merged away', () => {
	test('changes nothing of the survivor where it states somebody else, also along a chain', async () => {
		await send('A01', pid(number('A1'), 'Rivers^Alba', '19800101', '^^Bath'));
		for (const prior of ['A2', 'A3']) await send('A01', pid(number(prior), 'Other^Olga', '19710202'));
		await send('A40', pid(number('A2'), 'Other^Olga', '19710202'), `MRG|${number('A3')}`);
		await send('A40', pid(number('A1'), 'Rivers^Alba'), `MRG|${number('A2')}`);
		for (const prior of ['A2', 'A3'])
			for (const event of ['A08', 'A31', 'A01'])
				assert.deepEqual(await send(event, pid(number(prior), 'Other^Olga', '19710202', '^^Bonn')), ['mismatch', 'merged-number'], event);
		assert.deepEqual(await send('A08', pid(number('A2'), 'Married^Alba', '19800101', '^^Bonn')), ['merged-number']);
		assert.deepEqual(shown(await person('A1')), ['Rivers', '1980-01-01', 'Bath']);
		assert.deepEqual(await send('A08', pid(number('A2'), 'Rivers^Alba', '19800101', '^^Bonn')), []);
		assert.deepEqual(shown(await person('A1')), ['Rivers', '1980-01-01', 'Bonn']);
		await send('A37', pid(number('A1'), 'Rivers^Alba'), pid(number('A2'), 'Other^Olga'));
		assert.deepEqual(shown(await person('A2')), ['Other', '1971-02-02', undefined]);
	});
});

describe('after a merge', () => {
	test('every number of the prior patient finds the survivor, those that MRG-1 does not name and those of earlier merges too', async () => {
		await send('A01', pid(`${number('B2')}~${number('N2', 'NATION', 'NI')}`, 'Stone^Bea'));
		await send('A01', pid(number('B3'), 'Stone^Bea'));
		await send('A01', pid(number('B1'), 'Stone^Bea'));
		await send('A40', pid(number('B2'), 'Stone^Bea'), `MRG|${number('B3')}`);
		await send('A40', pid(number('B1'), 'Stone^Bea'), `MRG|${number('B2')}`);
		const { id } = await person('B1');
		for (const value of ['B2', 'B3', 'N2']) assert.equal((await person(value)).id, id, value);
		await send('A37', pid(number('B1'), 'Stone^Bea'), pid(number('B2'), 'Stone^Bea'));
		for (const value of ['B2', 'B3', 'N2']) assert.notEqual((await person(value)).id, id, value);
	});

	test('a number that PID-3 and MRG-1 have in common is the survivor’s own', async () => {
		const common = number('N4', 'NATION', 'NI');
		await send('A01', pid(`${number('C2')}~${common}`, 'Field^Cleo'));
		await send('A01', pid(number('C1'), 'Field^Cleo'));
		await send('A40', pid(`${number('C1')}~${common}`, 'Field^Cleo'), `MRG|${number('C2')}~${common}`);
		const { id, identifier } = await person('N4');
		assert.equal(id, (await person('C1')).id);
		assert.deepEqual(
			identifier.map(({ value, use }: FhirBody) => [value, use]),
			[
				['C1', undefined],
				['N4', undefined],
				['C2', 'old'],
			],
		);
		await send('A08', pid(`${number('C1')}~${common}`, 'Field^Cleo'));
		assert.equal((await person('N4')).id, id);
	});
});

test('PID-3 leaves the numbers of authorities that it does not name, whatever their type', async () => {
	const others = [number('S5', 'INSURER', 'SN'), number('D5', 'STATE', 'DL'), number('I5', 'OTHER', 'PI')];
	await send('A01', pid([number('E1'), ...others].join('~'), 'Lake^Dora'));
	await send('A31', pid(number('E1'), 'Lake^Dora'));
	const { identifier } = await person('E1');
	assert.deepEqual(identifier.map(({ value }: FhirBody) => value).sort(), ['D5', 'E1', 'I5', 'S5']);
});
