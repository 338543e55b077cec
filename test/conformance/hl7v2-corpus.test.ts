import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { countMessages } from '#hl7v2/batch.ts';
import { type CorpusFile, corpusFiles, withCarriageReturns } from '#test/support/corpus.ts';
import { insertSites, type PlainSite } from '#test/support/many-sites.ts';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import { without } from '#test/support/needs.ts';
import { eventually, testService } from '#test/support/service.ts';

/** What docs/conformance/hl7v2.md decides for the files on which the specification is silent, by the index's reason. */
const decisions: Readonly<Record<string, 'accept' | 'reject'>> = {
	'MSH-10 missing: required by HL7, spec silent; an ACK cannot echo it': 'reject',
	'OBX-5 present with empty OBX-2': 'accept',
	'several patients in one ORU': 'accept',
	'A40 with several PID/MRG pairs': 'accept',
	'passes own checks but a second tool disagrees': 'accept',
	'PID-3 first repetition has no identifier; a later repetition has one': 'accept',
	'unknown MSH-18 code1~code2': 'accept',
	'malformed segment id(s)': 'reject',
};

/** "passes spec checks, but source files it under invalid": trailing empty fields are fine, version 1.0 is none of ours. */
function expected(file: CorpusFile): string {
	if (file.expect !== 'unclear') return file.expect;
	if (file.path.endsWith('invalid-trailing-empty-fields.hl7')) return 'accept';
	if (file.path.endsWith('invalid-wrong-version.hl7')) return 'reject';
	return decisions[file.reason] ?? 'undecided';
}

const codes: Readonly<Record<string, string>> = { accept: 'AA', reject: 'AE' };

async function overMllp(port: number, site: PlainSite, bytes: Buffer): Promise<string> {
	const client = await MllpClient.connect(port, site.address);
	try {
		return await client.send(bytes);
	} finally {
		client.close();
	}
}

async function overHttp(
	port: number,
	site: PlainSite,
	bytes: Buffer,
): Promise<{ status: number; body: { success: boolean; error?: string; ack?: string } }> {
	const answer = await fetch(`http://127.0.0.1:${port}/v2/ingest`, {
		method: 'POST',
		headers: { 'X-API-Key': site.key, 'Content-Type': 'text/plain' },
		body: bytes,
	});
	return { status: answer.status, body: (await answer.json()) as { success: boolean; error?: string; ack?: string } };
}

describe('the shared HL7 v2 files', { skip: without('corpus') }, () => {
	test('answer as expected over MLLP and HTTP, with the line ends they have and with CR', async () => {
		await using service = await testService();
		const files = corpusFiles('hl7v2');
		const sites = await insertSites(service.databaseUrl, files.length);
		const lastKey = sites.at(-1)?.key ?? '';
		await eventually(async () => (await service.fhir('/fhir/metadata', lastKey)).status === 200, 'the sites');
		const wrong: string[] = [];
		for (const [index, file] of files.entries()) {
			const site = sites[index] as PlainSite;
			const note = (what: string, got: string) => wrong.push(`${file.path} (${expected(file)}): ${what} answered ${got}`);
			if (file.expect === 'n/a') {
				const { status, body } = await overHttp(service.port('hl7'), site, file.bytes);
				const counted = countMessages(file.bytes);
				if (counted > 1 && (status !== 400 || !body.error?.includes(String(counted)))) note('HTTP', `${status} ${body.error}`);
				continue;
			}
			for (const [variant, bytes] of [
				['as it is', file.bytes],
				['with CR', withCarriageReturns(file.bytes)],
			] as const) {
				const { code, text } = msa(await overMllp(service.port('mllp'), site, bytes));
				if (code !== codes[expected(file)]) note(`MLLP ${variant}`, `${code} ${text}`);
				const { status, body } = await overHttp(service.port('hl7'), site, bytes);
				const accepted = status === 200 && body.success;
				const refused = (status === 422 || status === 400) && !body.success && body.error !== '';
				if (expected(file) === 'accept' ? !accepted : !refused) note(`HTTP ${variant}`, `${status} ${body.error}`);
			}
		}
		assert.deepEqual(wrong, []);
	});
});
