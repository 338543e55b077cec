import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure } from '#core/failure.ts';
import { validateResource } from '#fhir/validation/validate.ts';
import { splitMessages } from '#hl7v2/batch.ts';
import { interpret } from '#hl7v2/interpret.ts';
import { Message } from '#hl7v2/message.ts';
import { type CorpusFile, corpusFiles } from '#test/support/corpus.ts';
import { assertEmitted } from '#test/support/emitted.ts';
import { fhirClient } from '#test/support/fhir-client.ts';
import { insertSites } from '#test/support/many-sites.ts';
import { MemorySite } from '#test/support/memory-site.ts';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import { without } from '#test/support/needs.ts';
import { eventually, testService } from '#test/support/service.ts';

const also = ['A02', 'A03', 'A11', 'A13', 'A28', 'A31', 'A37'];
const settings = { also, processing_ids: ['P', 'T', 'D'], time_zone: 'UTC' };

/** Every message of a file that is taken, applied to one site in memory. */
function siteOf(file: CorpusFile): MemorySite {
	const site = new MemorySite();
	for (const bytes of splitMessages(file.bytes)) {
		try {
			const interpreted = interpret(Message.parse(bytes), settings);
			if (interpreted.kind === 'apply') site.apply(interpreted.changeSet);
		} catch (error) {
			if (!(error instanceof Failure)) throw error;
		}
	}
	return site;
}

type Counts = Record<string, number>;

/** A message read by hand, without the product's parser: how many things its segments name. */
function independentCounts(text: string): Counts {
	const named = { AllergyIntolerance: new Set<string>(), Condition: new Set<string>(), Procedure: new Set<string>() };
	for (const line of text.split(/[\r\n]+/)) {
		const fields = line.trim().split('|');
		const field = (number: number) => fields[number]?.trim() ?? '';
		const code = (number: number) => {
			const [value = '', name = '', system = ''] = field(number).split('^');
			return value === '' ? name.trim().toLowerCase() : `${system}|${value.trim()}`;
		};
		const number = (value: number) => field(value).split('^')[0] ?? '';
		if (fields[0] === 'AL1') named.AllergyIntolerance.add(code(3));
		if (fields[0] === 'DG1') named.Condition.add(number(20) || code(3) || field(4).toLowerCase());
		if (fields[0] === 'PR1') named.Procedure.add(number(19) || `${code(3)} ${field(5)}`);
	}
	for (const set of Object.values(named)) set.delete('');
	return Object.fromEntries(Object.entries(named).map(([type, set]) => [type, set.size]));
}

describe('what the shared HL7 v2 files become', { skip: without('corpus') }, () => {
	test('is valid FHIR R4, by our validation and by that of @medplum/core', () => {
		const wrong: string[] = [];
		const counts: Counts = {};
		for (const file of corpusFiles('hl7v2')) {
			for (const resource of siteOf(file).all()) {
				const type = String(resource['resourceType']);
				counts[type] = (counts[type] ?? 0) + 1;
				for (const { expression, diagnostics } of validateResource(resource)) wrong.push(`${file.path}: ${expression} ${diagnostics}`);
				if (type !== 'Observation' || (counts[type] ?? 0) % 20 === 0) assertEmitted(JSON.parse(JSON.stringify(resource)));
			}
		}
		assert.deepEqual(wrong, []);
		for (const type of ['Patient', 'Encounter', 'Observation', 'AllergyIntolerance', 'Condition', 'Procedure'])
			assert.ok((counts[type] ?? 0) > 0, `${counts[type]} ${type}`);
	});

	test('as many allergies, conditions and procedures stand in FHIR as the files name', async () => {
		await using service = await testService();
		const files = corpusFiles('hl7v2').filter(
			({ bytes, expect }) => expect !== 'n/a' && /[\r\n](?:AL1|DG1|PR1)\|/.test(bytes.toString('latin1')),
		);
		const sites = await insertSites(service.databaseUrl, files.length, also);
		await eventually(async () => (await service.fhir('/fhir/metadata', sites.at(-1)?.key ?? '')).status === 200, 'the sites');
		const found: Record<string, Counts> = {};
		const expected: Record<string, Counts> = {};
		for (const [index, file] of files.entries()) {
			const site = sites[index];
			assert.ok(site);
			const mllp = await MllpClient.connect(service.port('mllp'), site.address);
			const taken = msa(await mllp.send(file.bytes)).code === 'AA';
			mllp.close();
			if (!taken) continue;
			const call = fhirClient(service, site.key);
			const counts: Counts = {};
			for (const type of ['AllergyIntolerance', 'Condition', 'Procedure']) {
				counts[type] = (await call('GET', `/${type}?_count=1000`)).body.entry?.length ?? 0;
			}
			found[file.path] = counts;
			expected[file.path] = independentCounts(file.bytes.toString('latin1'));
		}
		assert.deepEqual(found, expected);
		assert.ok(Object.keys(found).length >= 15, `${Object.keys(found).length} files`);
		for (const type of ['AllergyIntolerance', 'Condition', 'Procedure']) assert.ok(Object.values(found).some((counts) => counts[type]));
	});
});
