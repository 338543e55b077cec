import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { partsOf, permits, readScopes } from '#record/scopes.ts';

describe('the scopes of a token', () => {
	const cases: [what: string, texts: string, patient: unknown, whole: object, parts: object[]][] = [
		['of a system', 'system/Patient.rs system/Patient.c system/*.read', undefined, { Patient: 'rsc', '*': 'rs' }, []],
		['of a user who was not launched for a patient', 'user/Patient.cruds', undefined, { Patient: 'cruds' }, []],
		['of a user beside a patient', 'user/Patient.cruds', 'p1', {}, []],
		['of a user with a launch', 'user/Patient.cruds launch/patient', undefined, {}, []],
		['of a patient', 'patient/*.rs', 'p1', {}, [{ type: '*', letters: 'rs', patient: 'p1' }]],
		[
			'of a patient in the first version of SMART',
			'patient/Observation.read',
			'p1',
			{},
			[{ type: 'Observation', letters: 'rs', patient: 'p1' }],
		],
		['of a patient whom no claim names', 'patient/*.rs', undefined, {}, []],
		['of a patient by a claim that is no id', 'patient/*.rs', 'p 1', {}, []],
		['of a patient by a claim of several', 'patient/*.rs', ['p1', 'p2'], {}, []],
		['with a search', 'system/Observation.rs?category=a', undefined, {}, [{ type: 'Observation', letters: 'rs', search: 'category=a' }]],
		[
			'of a patient with a search',
			'patient/Observation.r?a=b',
			'p1',
			{},
			[{ type: 'Observation', letters: 'r', patient: 'p1', search: 'a=b' }],
		],
		['with an empty search', 'system/Observation.rs?', undefined, {}, []],
		['with a search in the first version of SMART', 'system/Observation.read?category=a', undefined, {}, []],
		['of other forms', 'openid fhirUser system/Patient.sr patient/patient.rs practitioner/*.rs', 'p1', {}, []],
	];
	for (const [what, texts, patient, whole, parts] of cases) {
		test(what, () => assert.deepEqual(readScopes(texts.split(' '), patient), { whole, parts }));
	}

	test('that permit a part of a type permit nothing where nobody carries the limit out', () => {
		const scopes = readScopes(['patient/*.cruds', 'system/Observation.cruds?category=a'], 'p1');
		for (const permission of ['c', 'r', 'u', 'd', 's'] as const) assert.equal(permits(scopes, 'Observation', permission), false);
		assert.deepEqual(partsOf(scopes, 'Observation', 'r').length, 2);
		assert.deepEqual(partsOf(scopes, 'Patient', 'r').length, 1);
		assert.deepEqual(partsOf(undefined, 'Patient', 'r'), []);
	});

	test('that permit parts are forty at most', () => {
		const texts = Array.from({ length: 60 }, (_, index) => `system/Observation.rs?code=${index}`);
		assert.equal(readScopes(texts).parts.length, 40);
	});
});
