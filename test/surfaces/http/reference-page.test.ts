import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { assertFits, consoleBrowser, seriousViolations, signInOnPage } from '#test/support/browser.ts';
import { without } from '#test/support/needs.ts';
import { type FhirBody, testService } from '#test/support/service.ts';

/** Opens an operation of the page and sends what stands in its fields. */
async function send(page: Page, method: string, path: string): Promise<string> {
	const section = page.locator('details').filter({ has: page.locator(`summary:has(b.${method}):has(code:text-is("${path}"))`) });
	await section.locator('summary').click();
	await section.getByRole('button', { name: 'Send' }).click();
	const output = section.locator('pre.answer');
	await output.waitFor();
	return (await output.textContent()) ?? '';
}

describe('the page of an API reference', { skip: without('chromium') }, () => {
	test('sends its examples with the key of the caller', async () => {
		await using service = await testService();
		const { key } = await service.addSite('west');
		await using browser = await consoleBrowser(service);
		const page = await browser.open();
		const requests: [string, string, string][] = [
			['fhir', '/fhir/Patient', 'post'],
			['hl7', '/v2/ingest', 'post'],
			['hl7', '/v3/ingest', 'post'],
			['mpps', '/ingest', 'post'],
		];
		for (const [surface, path, method] of requests) {
			await page.goto(`http://127.0.0.1:${service.port(surface)}/api/documentation`);
			await page.getByLabel('X-API-Key').waitFor();
			assert.match(await send(page, method, path), /^401 /, `${path} without a key`);
			await page.reload();
			await page.getByLabel('X-API-Key').fill(key);
			assert.match(await send(page, method, path), /^20[01] /, path);
		}
		assert.deepEqual(browser.faults, []);
	});

	test('of the admin API sends with the session of the console', async () => {
		await using service = await testService();
		await service.addSite('north');
		await using browser = await consoleBrowser(service);
		const page = await browser.open();
		await page.goto('/api/documentation');
		await page.getByText('Sign in to the console').waitFor();
		await signInOnPage(service, page);
		await page.goto('/api/documentation');
		await page.getByLabel('X-CSRF-Token').waitFor();
		assert.match(await send(page, 'get', '/api/v1/sites'), /^200 [\s\S]*"north"/);
		assert.match(await send(page, 'post', '/api/v1/clients/match'), /^200 /);
		assert.deepEqual(browser.faults, []);
	});

	test('is searched, shows answers and a line of curl that works, in both colours and on a narrow screen', async () => {
		await using service = await testService();
		const { key } = await service.addSite('west');
		await using browser = await consoleBrowser(service);
		for (const colorScheme of ['light', 'dark'] as const) {
			const page = await browser.open({ colorScheme });
			await page.goto(`http://127.0.0.1:${service.port('fhir')}/api/documentation`);
			await page.getByText(/^\d{3} operations$/).waitFor();
			await page.keyboard.press('/');
			await page.keyboard.type('observation everything-or-read get');
			await page.getByText('0 operations').waitFor();
			await page.getByLabel('Search operations').fill('get /fhir/observation/{id}');
			await page.getByText(/^[1-9] operations?$/).waitFor();
			await page.locator('summary:visible').first().click();
			await page.getByRole('heading', { name: 'Answers' }).waitFor();
			assert.deepEqual(await seriousViolations(page), [], colorScheme);
			await page.setViewportSize({ width: 390, height: 844 });
			await assertFits(page);
			await page.context().close();
		}
		const page = await browser.open();
		await page.goto(`http://127.0.0.1:${service.port('hl7')}/api/documentation`);
		await page.getByLabel('X-API-Key').fill(key);
		await page
			.locator('details', { has: page.locator('code:text-is("/v2/ingest")') })
			.locator('summary')
			.click();
		const line = (await page.locator('details[open] .curl').textContent()) ?? '';
		assert.ok(!line.includes(key), 'the key is not written out');
		const { stdout: printed } = await promisify(execFile)('bash', ['-c', line], { env: { ...process.env, KEY: key } });
		assert.match(printed, /"success":true|MSA\|AA/);
		const { schemas } = (
			(await (await fetch(`http://127.0.0.1:${service.port('admin')}/api/documentation/openapi.json`)).json()) as FhirBody
		).components;
		for (const name of ['Site', 'WholeSite', 'Client', 'Key', 'Messages', 'ClientMatch'])
			assert.ok(schemas[name], `${name} of ${Object.keys(schemas)}`);
		for (const [surface, text] of [
			['fhir', /^Tributary: FHIR R4 at \/fhir.* API reference: http:\/\/127\.0\.0\.1:\d+\/api\/documentation\n$/],
			['hl7', /^Tributary: POST \/v2\/ingest, .*\/api\/documentation\n$/],
			['mpps', /^Tributary: POST \/ingest.*\/api\/documentation\n$/],
		] as const) {
			const answer = await fetch(`http://127.0.0.1:${service.port(surface)}/`);
			assert.equal(answer.status, 200);
			assert.match(await answer.text(), text);
		}
		assert.deepEqual(browser.faults, []);
	});
});
