import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { peerOf } from '#administration/moving/connections.ts';
import { tiesOf } from '#administration/moving/plan.ts';
import { differing, rowCount } from '#storage/moving/compare.ts';

const client = (site: string, ranges: string[], application = '', facility = '') => ({
	name: `${site} sender`,
	site,
	ranges,
	application,
	facility,
});

describe('a site that moves', () => {
	test('groups differ that one side lacks or has otherwise', () => {
		const here = new Map([
			['1', '2 100'],
			['2', '1 50'],
			['3', '1 7'],
		]);
		const there = new Map([
			['1', '2 100'],
			['2', '1 51'],
			['4', '3 1'],
		]);
		assert.deepEqual(differing(here, there).sort(), ['2', '3', '4']);
		assert.deepEqual(differing(here, here), []);
		assert.equal(rowCount(here), 4);
	});

	test('clients are in the way that match the same messages equally well', () => {
		const own = [client('north', ['10.0.0.0/8'], 'LAB')];
		assert.equal(tiesOf(own, [client('south', ['10.0.0.0/8'], 'LAB')]).length, 1);
		assert.deepEqual(tiesOf(own, [client('south', ['10.0.0.0/8'], 'ADT')]), [], 'another application');
		assert.deepEqual(tiesOf(own, [client('south', ['10.1.0.0/16'], 'LAB')]), [], 'the longer prefix gets the messages');
		assert.deepEqual(tiesOf(own, [client('south', ['11.0.0.0/8'], 'LAB')]), [], 'another address');
	});

	test('a database is named without user and password', () => {
		assert.equal(peerOf('postgres://somebody:secret@db.example.org:6432/records?sslmode=require'), 'db.example.org:6432/records');
	});
});
