import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { newId } from '#core/id.ts';
import { fillNorth } from '#test/support/administered-site.ts';
import { assertFits, type ConsoleBrowser, consoleBrowser, goTo, seriousViolations, settled, signInOnPage } from '#test/support/browser.ts';
import { without } from '#test/support/needs.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';

const insertCommitment = `insert into commitment_request (site_id, id, transaction_uid, is_duplicate, calling_ae, called_ae, source, received_at, due_at,
	state, sop_class_uids, sop_instance_uids, committed, refused, attempts, failure, settled_at)
	select id, $1::uuid, '1.2.3', false, 'CT01', 'NORTH', '192.0.2.40', now(), now(), $2, '{1.2}'::text[], '{1.2.3}'::text[], $3::integer, $4::integer, 1, $5, now() from site where slug = 'north'`;

describe('procedure steps, commitments, exports and imports', { skip: without('chromium') }, () => {
	let service: TestService;
	let browser: ConsoleBrowser;
	let page: Page;
	before(async () => {
		service = await testService();
		const { key } = await service.addSite('north');
		await fillNorth(service, key);
		await service.rows(insertCommitment, [newId(), 'reported', 1, 0, null]);
		await service.rows(insertCommitment, [newId(), 'failed', 0, 1, 'CT01 cannot be reached']);
		browser = await consoleBrowser(service);
		page = await browser.open();
		await signInOnPage(service, page);
	});
	after(async () => {
		await browser[Symbol.asyncDispose]();
		await service[Symbol.asyncDispose]();
		assert.deepEqual(browser.faults, []);
	});

	/** Holds a screen to what each has to keep: no fault over which somebody would stumble, and no scrolling sideways. */
	async function looksWell(): Promise<void> {
		await settled(page);
		assert.deepEqual(await seriousViolations(page), []);
		await page.setViewportSize({ width: 390, height: 844 });
		await assertFits(page);
		await page.setViewportSize({ width: 1280, height: 900 });
	}

	test('a procedure step leads to its study, its patient and its messages', async () => {
		await goTo(page, '/steps?site=north&status=completed', 'Procedure steps');
		await page.getByRole('link', { name: '2 images' }).waitFor();
		await looksWell();
		await page.locator('main [data-row-link]').first().click();
		await page.getByRole('heading', { level: 2, name: 'Reports about the step' }).waitFor();
		await looksWell();
		assert.equal(await page.locator('dd a[href^="/patients/north/"]').count(), 1);
		assert.equal(await page.locator('dd a[href="/studies/north/1.2.826.0.1.2"]').count(), 1);
		await page.getByRole('link', { name: 'Message 1' }).click();
		await page.getByText('MPPS COMPLETED').first().waitFor();
		await goTo(page, '/steps?site=north&status=discontinued', 'Procedure steps');
		await page.getByText('No procedure steps match').waitFor();
	});

	test('a commitment that failed says why', async () => {
		await goTo(page, '/commitments?site=north', 'Storage commitment');
		await page.getByText('CT01 cannot be reached').waitFor();
		assert.equal(await page.locator('main tbody tr').count(), 2);
		await looksWell();
		await page.getByLabel('Report').selectOption('reported');
		await settled(page);
		assert.equal(await page.locator('main tbody tr').count(), 1);
		assert.match(page.url(), /state=reported/);
	});

	test('an export shows its files and the line that fetches them, and is deleted', async () => {
		await eventually(async () => (await service.rows("select from bulk_job where state = 'done'")).length === 1, 'the export');
		await goTo(page, '/exports?site=north', 'Exports and imports');
		await looksWell();
		await page.locator('main [data-row-link]').first().click();
		await page.getByRole('heading', { level: 2, name: 'Files' }).waitFor();
		await looksWell();
		const line = (await page.locator('main pre').textContent()) ?? '';
		assert.match(line, new RegExp(`127\\.0\\.0\\.1:${service.port('fhir')}/fhir/\\$export-file/[^/]+/Patient\\.ndjson`));
		await page.getByRole('button', { name: 'Delete…' }).click();
		await page.getByRole('button', { name: 'Delete it' }).click();
		await page.getByText('No exports or imports yet').waitFor();
		assert.deepEqual(await service.rows('select from bulk_job'), []);
		assert.equal((await service.rows("select from audit_event where action = 'bulk.export.delete'")).length, 1);
	});

	test('one that runs is cancelled, and one of another state is told', async () => {
		const site = (await service.rows<{ id: string }>("select id from site where slug = 'north'"))[0]?.id;
		const insert = `insert into bulk_job (site_id, id, kind, state, node_id, key_id, request, parameters, progress, failure)
			values ($1, $2, 'import', $3, $4, 'token:registry', 'http://127.0.0.1/fhir/$import', '{}', '20 of 100 lines', $5)`;
		await service.rows(insert, [site, newId(), 'running', newId(), null]);
		await service.rows(insert, [site, newId(), 'failed', newId(), 'line 7 is not JSON']);
		await goTo(page, '/exports?site=north', 'Exports and imports');
		await page.getByText('20 of 100 lines').waitFor();
		await page
			.getByRole('row', { name: /running/ })
			.getByRole('link')
			.click();
		await page.getByRole('button', { name: 'Cancel…' }).click();
		await page.getByRole('button', { name: 'Cancel the import' }).click();
		await page.getByText('The import is cancelled.').waitFor();
		await page
			.getByRole('row', { name: /failed/ })
			.getByRole('link')
			.click();
		await page.getByText('line 7 is not JSON').waitFor();
	});
});
