import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { consoleBrowser, signInOnPage } from '#test/support/browser.ts';
import { without } from '#test/support/needs.ts';
import { testService } from '#test/support/service.ts';

/** Opens an operation of the page and sends what stands in its fields. */
async function send(page: Page, method: string, path: string): Promise<string> {
	const section = page.locator('details').filter({ has: page.locator(`summary:has(b.${method}):has(code:text-is("${path}"))`) });
	await section.locator('summary').click();
	await section.getByRole('button', { name: 'Send' }).click();
	const output = section.locator('pre');
	await output.waitFor();
	return (await output.textContent()) ?? '';
}

describe('the page of an API reference', { skip: without('chromium'), timeout: 180_000 }, () => {
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
});
