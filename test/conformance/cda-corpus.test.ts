import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import pg from 'pg';
import { countsOf, type DocumentCounts, recordTargetsIn } from '#test/support/cda-counts.ts';
import { type CorpusFile, corpusFiles } from '#test/support/corpus.ts';
import { fhirClient } from '#test/support/fhir-client.ts';
import { IndependentDocument } from '#test/support/hl7v3.ts';
import { insertSites } from '#test/support/many-sites.ts';
import { without } from '#test/support/needs.ts';
import { eventually, testService } from '#test/support/service.ts';

const path = join(import.meta.dirname, '../../docs/conformance/cda-corpus.md');
const [begin, end] = ['<!-- from the corpus -->', '<!-- /from the corpus -->'];

/** What FHIR search is asked to count what XPath counts. */
const searches: Readonly<Record<keyof DocumentCounts, string>> = {
	problems: '/Condition?_count=1000',
	allergies: '/AllergyIntolerance?_count=1000',
	results: '/Observation?category=laboratory&_count=1000',
	vitalSigns: '/Observation?category=vital-signs&_count=1000',
	procedures: '/Procedure?_count=1000',
	reports: '/DiagnosticReport?_count=1000',
};
const kinds = Object.keys(searches) as (keyof DocumentCounts)[];
const otherObservations = '/Observation?category=social-history,survey,exam,imaging&_count=1000';

interface Outcome {
	/** `AA`, or the status and what is wrong. */
	answer: string;
	counts: DocumentCounts;
	otherObservations: number;
	notes: number;
}

const none: DocumentCounts = { problems: 0, allergies: 0, results: 0, vitalSigns: 0, procedures: 0, reports: 0 };
const nameOf = (file: CorpusFile) =>
	file.path.replace(/^cda\//, '').replace(/modules\/cda\/|src\/test\/resources\/|data\/SampleData\//g, '');

/** Without the padding of tables. */
const squeezed = (text: string) => text.replace(/ +/g, ' ').replace(/-{3,}/g, '---').trim();

function tableOf(outcomes: ReadonlyMap<string, Outcome>): string {
	const header = [
		'document',
		'answer',
		'problems',
		'allergies',
		'results',
		'vital signs',
		'other observations',
		'procedures',
		'reports',
		'notes',
	];
	const rows = [...outcomes].map(([name, { answer, counts, otherObservations: others, notes }]) => {
		const { problems, allergies, results, vitalSigns, procedures, reports } = counts;
		return [
			name,
			answer,
			...(answer === 'AA' ? [problems, allergies, results, vitalSigns, others, procedures, reports, notes] : Array(8).fill('')),
		];
	});
	const table = [header, ...rows].map((row) => row.map(String));
	const widths = header.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
	const line = (row: readonly string[]) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
	const [first = [], ...others] = table;
	return [line(first), line(widths.map((width) => '-'.repeat(width))), ...others.map(line)].join('\n');
}

describe('the shared clinical documents', { skip: without('corpus') }, () => {
	test('answer as docs/conformance/cda-corpus.md says, and FHIR search finds what XPath counts', async () => {
		await using service = await testService();
		const files = corpusFiles('cda');
		const sites = await insertSites(service.databaseUrl, files.length);
		await eventually(async () => (await service.fhir('/fhir/metadata', sites.at(-1)?.key ?? '')).status === 200, 'the sites');
		const database = new pg.Client({ connectionString: service.databaseUrl });
		await database.connect();
		await using _ended = { [Symbol.asyncDispose]: () => database.end() };
		const outcomes = new Map<string, Outcome>();
		const expected: Record<string, DocumentCounts> = {};
		const found: Record<string, DocumentCounts> = {};
		for (const [index, file] of files.entries()) {
			const { id, key } = sites[index] ?? assert.fail('there is no site');
			const answer = await fetch(`http://127.0.0.1:${service.port('hl7')}/v3/ingest`, {
				method: 'POST',
				headers: { 'X-API-Key': key, 'Content-Type': 'application/xml' },
				body: Buffer.from(file.bytes),
			});
			const acknowledgement = new IndependentDocument(await answer.text());
			const [code] = acknowledgement.values('//v3:acknowledgement/v3:typeCode/@code');
			const [why] = acknowledgement.values('//v3:acknowledgementDetail/v3:text');
			const call = fhirClient(service, key);
			const count = async (search: string) => {
				const { status, body } = await call('GET', search);
				assert.equal(status, 200);
				return (body.entry ?? []).length as number;
			};
			const counts = { ...none };
			for (const kind of kinds) counts[kind] = await count(searches[kind]);
			const { rows } = await database.query('select flags from message_log where site_id = $1', [id]);
			outcomes.set(nameOf(file), {
				answer: code === 'AA' ? 'AA' : `${answer.status} ${why?.replace(/ \(.*$/, '')}`,
				counts,
				otherObservations: await count(otherObservations),
				notes: (rows[0]?.flags ?? []).length,
			});
			found[nameOf(file)] = counts;
			const text = file.bytes.toString('utf8');
			const targets = code === 'AA' ? recordTargetsIn(text) : [];
			// Of whom the entries are, a document with several recordTargets does not say.
			expected[nameOf(file)] = targets.length === 1 ? countsOf(text) : none;
			assert.equal(await count('/DocumentReference?_count=10'), new Set(targets).size, file.path);
		}
		assert.deepEqual(found, expected);

		const text = readFileSync(path, 'utf8');
		const [head, tail] = [text.slice(0, text.indexOf(begin) + begin.length), text.slice(text.indexOf(end))];
		const generated = tableOf(outcomes);
		if (process.env['UPDATE_CONFORMANCE']) writeFileSync(path, `${head}\n\n${generated}\n\n${tail}`);
		else assert.equal(squeezed(text.slice(text.indexOf(begin) + begin.length, text.indexOf(end))), squeezed(generated));
	});
});
