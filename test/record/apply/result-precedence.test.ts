import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { interpret } from '#hl7v2/interpret.ts';
import { noSettings } from '#record/settings/settings.ts';
import { MemorySite } from '#test/support/memory-site.ts';
import { message, plainSettings } from '../../hl7v2/reading.ts';

/** The ages at which a new statement counts, for each word of the table. */
const words: Readonly<Record<string, readonly string[]>> = {
	always: ['older', 'equal', 'newer'],
	'not older': ['equal', 'newer'],
	newer: ['newer'],
	never: [],
};
const times: Readonly<Record<string, string>> = {
	older: '20240102080000+0100',
	equal: '20240102090000+0100',
	newer: '20240102100000+0100',
};
const withoutValue = new Set(['I', 'X', 'D', 'W', 'U']);

interface Stated {
	code: string;
	value?: string;
	age?: string;
	by?: string;
	order?: string;
}

/** A result of one order. Its age is that of OBX-14, OBR-22 or MSH-7; the others are alike. */
function oru({ code, value = '1.0', age = 'equal', by = 'MSH-7', order = 'F' }: Stated) {
	const time = (field: string) => times[by === field ? age : 'equal'];
	const absent = by === 'OBR-22' ? '' : 'x';
	return interpret(
		message(
			`MSH|^~\\&|LAB|HOSP|||${time('MSH-7')}||ORU^R01|1|P|2.5.1`,
			'PID|1||100^^^MRN',
			`OBR|1||F1|718-7^Hb^LN${'|'.repeat(18)}${time('OBR-22')}|||${order}`,
			`OBX|1|NM|718-7^Hb^LN||${withoutValue.has(code) ? '' : value}|g/dL|||||${code}|||${absent === '' ? '' : time('OBX-14')}`,
		),
		plainSettings,
	);
}

function apply(site: MemorySite, stated: Stated) {
	const result = oru(stated);
	assert.equal(result.kind, 'apply');
	return site.apply(result.kind === 'apply' ? result.changeSet : { changes: [], flags: [] });
}

/** The table of docs/conformance/hl7v2.md. */
function tableOfDocument(): { codes: string[]; rows: { held: string; cells: string[] }[] } {
	const text = readFileSync('docs/conformance/hl7v2.md', 'utf8');
	const lines = text.slice(text.indexOf('| Known ')).split('\n');
	const cells = (line: string) =>
		line
			.split('|')
			.slice(1, -1)
			.map((cell) => cell.trim());
	const [, ...codes] = cells(lines[0] ?? '');
	const end = lines.findIndex((line) => !line.startsWith('|'));
	return {
		codes,
		rows: lines
			.slice(2, end)
			.map(cells)
			.map(([held = '', ...rest]) => ({ held, cells: rest })),
	};
}

describe('which of two results counts', () => {
	const { codes, rows } = tableOfDocument();
	test('the document tells it for every code', () => {
		assert.deepEqual(codes, ['F', 'C', 'P', 'R', 'S', 'I', 'X', 'D', 'W', 'U']);
		assert.deepEqual(
			rows.map(({ held }) => held),
			codes,
		);
	});
	for (const { held, cells } of rows) {
		for (const [index, word] of cells.entries()) {
			const code = codes[index] ?? '';
			test(`${held}, then ${code}: ${word}`, () => {
				for (const by of ['OBX-14', 'OBR-22', 'MSH-7']) {
					for (const age of ['older', 'equal', 'newer']) {
						const site = new MemorySite();
						apply(site, { code: held, value: '12.0' });
						const before = site.texts('Observation');
						const { flags } = apply(site, { code, value: '11.0', age, by, order: '' });
						const late = flags.filter(({ code: flag }) => flag === 'late-result').length;
						const counts = words[word]?.includes(age);
						assert.equal(late, counts ? 0 : 1, `${age} by ${by}`);
						if (!counts) assert.deepEqual(site.texts('Observation'), before);
					}
				}
			});
		}
	}
	test('the flag names the version that stays, and no value', () => {
		const site = new MemorySite();
		apply(site, { code: 'F', value: '12.0' });
		const { flags } = apply(site, { code: 'P', value: '11.0' });
		const id = site.rows('Observation')[0]?.id;
		const text = `OBX[1] states preliminary late: Observation/${id}/_history/1 is final and stays as it is`;
		assert.deepEqual(flags, [{ code: 'late-result', text }]);
	});
	test('the same result again is no new version, whenever it was sent', () => {
		const site = new MemorySite();
		apply(site, { code: 'F' });
		const { changed, flags } = apply(site, { code: 'F', age: 'newer' });
		assert.deepEqual([changed, flags], [[], []]);
	});
	test('a message that is replayed may put right the version that it wrote itself, and no other', () => {
		const site = new MemorySite();
		const again = (value: string, id: string) => {
			const result = oru({ code: 'F', value, age: 'older', by: 'OBX-14' });
			return result.kind === 'apply' ? site.apply(result.changeSet, noSettings, `urn:tributary:${id}`).flags.length : -1;
		};
		const first = oru({ code: 'F', value: '12.0' });
		if (first.kind === 'apply') site.apply(first.changeSet, noSettings, 'urn:tributary:mllp:77');
		assert.deepEqual([again('13.0', 'mllp:77'), again('13.0', 'replay:78'), again('14.0', 'replay:77')], [1, 1, 0]);
		assert.deepEqual(site.resources('Observation')[0]?.['valueQuantity'], { value: 14, unit: 'g/dL' });
	});
	test('a result that is cancelled after it was reported is withdrawn and stays to be read', () => {
		const site = new MemorySite();
		apply(site, { code: 'F', value: '12.0' });
		apply(site, { code: 'X', age: 'newer' });
		const [observation] = site.resources('Observation');
		assert.equal(observation?.['status'], 'entered-in-error');
		assert.deepEqual(observation?.['valueQuantity'], { value: 12, unit: 'g/dL' });
	});
});

describe('a report', () => {
	const statuses = (site: MemorySite) =>
		[...site.resources('DiagnosticReport'), ...site.resources('Observation')].map(({ status }) => status);
	const cancel = (site: MemorySite, code: string, age: string) => {
		const [header, pid, obr] = [
			`MSH|^~\\&|LAB|HOSP|||${times[age]}||ORU^R01|2|P|2.5.1`,
			'PID|1||100^^^MRN',
			`OBR|1||F1|718-7^Hb^LN${'|'.repeat(21)}${code}`,
		];
		const result = interpret(message(header, pid, obr), plainSettings);
		if (result.kind === 'apply') return site.apply(result.changeSet);
		throw new Error('the message was ignored');
	};
	test('that is cancelled withdraws its observations', () => {
		const site = new MemorySite();
		apply(site, { code: 'F' });
		cancel(site, 'X', 'newer');
		assert.deepEqual(statuses(site), ['entered-in-error', 'entered-in-error']);
	});
	test('that is cancelled as a draft cancels its observations', () => {
		const site = new MemorySite();
		apply(site, { code: 'P', order: 'P' });
		cancel(site, 'X', 'newer');
		assert.deepEqual(statuses(site), ['cancelled', 'cancelled']);
	});
	test('gets the new results of a late message, and stays as it is else', () => {
		const site = new MemorySite();
		apply(site, { code: 'C' });
		const [before] = site.resources('DiagnosticReport');
		const late = interpret(
			message(
				`MSH|^~\\&|LAB|HOSP|||${times['older']}||ORU^R01|2|P|2.5.1`,
				'PID|1||100^^^MRN',
				`OBR|1||F1|718-7^Hb^LN${'|'.repeat(21)}P`,
				'OBX|1|NM|718-7^Hb^LN||1|g/dL|||||P',
				'OBX|2|NM|4544-3^Hct^LN||40|%|||||F',
			),
			plainSettings,
		);
		assert.equal(late.kind, 'apply');
		const flags = late.kind === 'apply' ? site.apply(late.changeSet).flags : [];
		const [after] = site.resources('DiagnosticReport');
		assert.deepEqual(flags.map(({ code }) => code).sort(), ['late-report', 'late-result']);
		assert.deepEqual([after?.['status'], ((before?.['result'] ?? []) as unknown[]).length], [before?.['status'], 1]);
		const results = ((after?.['result'] ?? []) as { reference: string }[]).map(({ reference }) => reference);
		assert.deepEqual(new Set(results), new Set(site.rows('Observation').map(({ id }) => `Observation/${id}`)));
		assert.equal(results.length, 2);
	});
	test('is not cancelled by an older message', () => {
		const site = new MemorySite();
		apply(site, { code: 'F' });
		const { flags } = cancel(site, 'X', 'older');
		assert.deepEqual(statuses(site), ['final', 'final']);
		assert.deepEqual(
			flags.map(({ code }) => code),
			['late-report'],
		);
	});
});
