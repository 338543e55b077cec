import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure } from '#core/failure.ts';
import { validateResource } from '#fhir/validation/validate.ts';
import { events } from '#hl7v2/events/index.ts';
import { interpret } from '#hl7v2/interpret.ts';
import { applyPatch } from '#record/apply/patch.ts';
import { type Row, resourceOf } from '#record/apply/rows.ts';
import { fc, runs } from '#test/support/fuzzing.ts';
import { MemorySite } from '#test/support/memory-site.ts';
import { header, message, plainSettings } from '../reading.ts';

const policy = { ...plainSettings, also: ['A02', 'A03', 'A11', 'A13', 'A28', 'A31', 'A37'] };

const delimiter = fc.constantFrom('^', '&', '~', '\\', '""', '^^', '\\T\\', '');
const word = fc.oneof(
	fc.string({ maxLength: 8, unit: 'grapheme' }).map((text) => text.replace(/[\r\n|]/g, '')),
	fc.constantFrom(
		'NM',
		'SN',
		'TX',
		'FT',
		'ED',
		'RP',
		'NA',
		'CWE',
		'TS',
		'20240102',
		'19800517103000+0100',
		'1.00',
		'>',
		'-',
		'F',
		'U',
		'X',
		'1.0.1',
		'Base64',
		'ISO',
		'D',
		'90',
		'constructor',
		'202401021530',
		' ',
		'a  b',
		'\\X01\\',
		'\\.br\\',
	),
);
const field = fc.oneof(
	{ weight: 3, arbitrary: fc.constant('') },
	word,
	fc.array(fc.tuple(word, delimiter), { maxLength: 5 }).map((parts) => parts.flat().join('')),
);
const valueTypes = ['', 'NM', 'SN', 'ST', 'TX', 'FT', 'CE', 'CWE', 'DT', 'TM', 'TS', 'NA', 'NR', 'DR', 'CQ', 'SI', 'ED', 'RP', 'XPN'];

/** Mostly past the checks of required fields: PID-3 and MRG-1 have an identifier, PID-7 is often empty. */
function withKeys(id: string, fields: readonly string[]): string[] {
	const line = [id, ...fields];
	if (id === 'PID') {
		while (line.length < 4) line.push('');
		if (line[3] === '') line[3] = '100';
		if (line.length % 4 !== 0 && line.length > 7) line[7] = '';
	}
	if (id === 'MRG') line[1] = '300';
	if (id === 'OBX') {
		while (line.length < 4) line.push('');
		line[2] = valueTypes[line.join('').length % valueTypes.length] ?? '';
		if (line[3] === '') line[3] = 'K';
	}
	return line;
}

/** What is said of the patient beside PID and PV1. */
const further = ['AL1', 'DG1', 'PR1', 'NK1', 'PD1'];

const segment = (ids: string[]) =>
	fc.tuple(fc.constantFrom(...ids), fc.array(field, { maxLength: 48, size: 'max' })).map(([id, fields]) => withKeys(id, fields).join('|'));
const known = fc.constantFrom('PID|1||100^^^HOSP', 'PID|1||200||Doe^Jane', 'OBR|1||F1', 'MRG|300', 'PV1|1|I|||||||||||||||||V1');
const content = fc.array(fc.oneof(known, segment(['PID', 'PV1', 'MRG', 'ORC', 'OBR', 'OBX', 'OBX', 'NTE', 'SPM', 'ZZZ', ...further])), {
	minLength: 3,
	maxLength: 12,
	size: 'max',
});

describe('arbitrary content', () => {
	test('is interpreted or refused with a failure, and what is interpreted can be stored', () => {
		fc.assert(
			fc.property(fc.constantFrom(...events.map(({ messageType }) => messageType)), content, (type, segments) => {
				try {
					const result = interpret(message(header(type), ...segments), policy);
					assert.equal(result.kind, 'apply');
					if (result.kind !== 'apply') return;
					JSON.parse(JSON.stringify(result.changeSet));
					for (const change of result.changeSet.changes) {
						if (change.kind === 'patient' || change.kind === 'encounter' || change.kind === 'item') applyPatch({}, change.patch);
					}
				} catch (error) {
					if (!(error instanceof Failure)) throw error;
					assert.ok(error.location?.segment);
				}
			}),
			{ numRuns: runs(1500) },
		);
	});
	test('refers to patients, visits and members that are in the same set', () => {
		fc.assert(
			fc.property(content, (segments) => {
				let result: ReturnType<typeof interpret>;
				try {
					result = interpret(message(header('ORU^R01'), 'PID|1||100', ...segments), policy);
				} catch (error) {
					if (error instanceof Failure) return;
					throw error;
				}
				assert.ok(result.kind === 'apply');
				const patients = new Set<number>();
				const visits = new Set<number>();
				const seen = new Set<string>();
				const all = new Set<string>();
				for (const change of result.changeSet.changes) {
					if (change.kind === 'patient') patients.add(change.ref);
					if (change.kind === 'encounter') visits.add(change.ref);
					if (change.kind === 'item') {
						assert.ok(patients.has(change.patient));
						assert.ok(change.encounter === undefined || visits.has(change.encounter));
						const key = `${change.resourceType} ${change.patient} ${change.item}`;
						assert.ok(!seen.has(key), 'a thing is stated once in a change-set');
						seen.add(key);
					}
					if (change.kind !== 'observation') continue;
					const key = `${change.order?.system}|${change.order?.value}|${change.item}`;
					assert.ok(patients.has(change.patient));
					assert.ok(change.encounter === undefined || visits.has(change.encounter));
					assert.ok(!seen.has(key), 'an item is unique within its order and message');
					seen.add(key);
					all.add(change.item);
				}
				for (const change of result.changeSet.changes) {
					if (change.kind === 'observation') for (const member of change.members ?? []) assert.ok(all.has(member));
				}
			}),
			{ numRuns: runs(500) },
		);
	});
	const resultsOf = (row: Row) => ((resourceOf(row)['result'] ?? []) as { reference: string }[]).map(({ reference }) => reference);
	test('becomes valid resources, and once applied it changes nothing when it comes again', () => {
		fc.assert(
			fc.property(fc.constantFrom(...events.map(({ messageType }) => messageType)), content, (type, segments) => {
				const site = new MemorySite();
				try {
					const result = interpret(message(header(type), 'PID|1||100', ...segments), policy);
					assert.ok(result.kind === 'apply');
					site.apply(result.changeSet);
					const { changed } = site.apply(result.changeSet);
					// An observation of no order is another every time, and stands in the report instead of the one before.
					const ofNoOrder = changed.filter((row) => row.links['order_key'] === null);
					const others = new Set(ofNoOrder.map((row) => `Observation/${row.id}`));
					const again = changed.filter((row) => !ofNoOrder.includes(row) && !resultsOf(row).some((reference) => others.has(reference)));
					assert.deepEqual(again, []);
				} catch (error) {
					if (!(error instanceof Failure)) throw error;
				}
				for (const resource of site.all()) assert.deepEqual(validateResource(resource), [], JSON.stringify(resource));
			}),
			{ numRuns: runs(1500) },
		);
	});
});
