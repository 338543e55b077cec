import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { searchPatients } from '#administration/patients.ts';
import { showResourceHistory } from '#administration/resource-history.ts';
import { setSite } from '#administration/sites.ts';
import {
	addressOf,
	assertFits,
	type ConsoleBrowser,
	consoleBrowser,
	seriousViolations,
	settled,
	signInOnPage,
} from '#test/support/browser.ts';
import { MllpClient } from '#test/support/mllp-client.ts';
import { without } from '#test/support/needs.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';

const pid = 'PID|1||4711^^^MRN||Okafor^Ngozi||19580314|F';
const day = (number: number) => `202601${String(number).padStart(2, '0')}073000+0100`;

function oru(number: number, ...observed: string[]): string {
	const head = [
		`MSH|^~\\&|LAB|NORTH|||${day(number)}||ORU^R01|R${number}|P|2.5.1`,
		pid,
		`OBR|1||F${number}|58410-2^CBC panel^LN|||${day(number)}`,
	];
	return [...head, ...observed.map((obx, index) => `OBX|${index + 1}|${obx}|||F|||${day(number)}`)].join('\r');
}

/** CRP and haemoglobin of ten days; potassium and glucose in two units; the range of haemoglobin changes on the sixth day. */
async function receive(service: TestService): Promise<void> {
	const mllp = await MllpClient.connect(service.port('mllp'));
	for (let number = 1; number <= 10; number++) {
		const crp = (90 * 0.6 ** number).toFixed(2);
		const haemoglobin = (11.4 + number / 3).toFixed(1);
		const message = oru(
			number,
			number === 9
				? 'SN|1988-5^C reactive protein^LN||<^0.6|mg/L|0-5|'
				: `NM|1988-5^C reactive protein^LN||${crp}|mg/L|0-5|${number < 3 ? 'H' : ''}`,
			`NM|718-7^Hemoglobin^LN||${haemoglobin}|g/dL|${number < 6 ? '12.0-15.5' : '11.5-15.0'}|`,
			`NM|2823-3^Potassium^LN||${(4.1 + number / 20).toFixed(2)}|mmol/L|3.5-5.1|N`,
			`NM|2345-7^Glucose^LN||${number < 8 ? `${90 + number}|mg/dL|70-99` : `${(5 + number / 10).toFixed(1)}|mmol/L|3.9-5.5`}|`,
		);
		assert.match(await mllp.send(message), /MSA\|AA/);
	}
	mllp.close();
}

describe('the results of a patient', { skip: without('chromium') }, () => {
	let service: TestService;
	let browser: ConsoleBrowser;
	let path: string;
	let key: string;
	before(async () => {
		service = await testService();
		({ key } = await service.addSite('north'));
		await eventually(async () => (await service.fhir('/fhir/Patient', key)).status === 200, 'the key');
		await receive(service);
		const [patient] = await searchPatients(service.administration, { site: 'north', text: '4711', limit: 1 });
		path = `/patients/north/${patient?.id}`;
		browser = await consoleBrowser(service);
	});
	after(async () => {
		await browser[Symbol.asyncDispose]();
		await service[Symbol.asyncDispose]();
		assert.deepEqual(browser.faults, []);
	});

	async function opened(options: Parameters<ConsoleBrowser['open']>[0] = {}): Promise<Page> {
		const page = await browser.open({ timezoneId: 'Europe/Berlin', reducedMotion: 'reduce', ...options });
		await signInOnPage(service, page);
		await page.goto(path);
		await page.getByRole('table', { name: 'Latest result of each code' }).waitFor();
		return page;
	}
	const course = async (page: Page, name: string) => {
		await page.getByRole('button', { name }).click();
		return page.getByRole('slider', { name: `Course of ${name}` });
	};

	test('are drawn with their range, read by the keyboard, and lead to their message', async () => {
		const page = await opened();
		const chart = await course(page, 'C reactive protein');
		assert.equal(await chart.getAttribute('aria-valuemax'), '10');
		await chart.focus();
		await page.keyboard.press('Home');
		assert.equal(
			await chart.getAttribute('aria-valuetext'),
			'2026-01-01 07:30: C reactive protein 54.00 mg/L, High, high by its reference range, reference 0-5',
		);
		await page.keyboard.press('ArrowRight');
		await page.keyboard.press('ArrowRight');
		assert.match(String(await chart.getAttribute('aria-valuetext')), /19\.44 mg\/L, high by its reference range/);
		await page.getByText('△ above range').first().waitFor();
		await page.keyboard.press('End');
		await page.keyboard.press('ArrowLeft');
		assert.match(String(await chart.getAttribute('aria-valuetext')), /C reactive protein <0\.6 mg\/L, reference 0-5$/);
		await page.keyboard.press('Enter');
		await page.getByRole('heading', { level: 1, name: /ORU\^R01/ }).waitFor();
		await page.getByText('Logical Observation Identifier Names and Codes (LOINC®)').first().waitFor();
		await page.context().close();
	});

	test('of several codes share an axis by unit; units that differ are a doubt and are not converted', async () => {
		const page = await opened();
		await course(page, 'Glucose');
		await page.getByText('Glucose has values in mmol/L and mg/dL. They are separate lines and are not converted.').waitFor();
		await page.getByLabel('Compare with').selectOption({ label: 'Potassium' });
		await page.getByRole('slider', { name: 'Course of Glucose in mmol/L, Glucose in mg/dL, Potassium in mmol/L' }).waitFor();
		await page.getByLabel('Compare with').selectOption({ label: 'Hemoglobin' });
		await page.getByText('Hemoglobin in g/dL is not drawn: a chart has two axes.').waitFor();
		await page.context().close();
	});

	test('are zoomed by dragging and shown whole again; a period and a filter narrow them', async () => {
		const page = await opened();
		const chart = await course(page, 'Hemoglobin');
		const box = (await chart.locator('.u-over').boundingBox()) ?? assert.fail('no chart');
		await page.mouse.move(box.x + box.width * 0.3, box.y + 60);
		await page.mouse.down();
		await page.mouse.move(box.x + box.width * 0.6, box.y + 60, { steps: 5 });
		await page.mouse.up();
		await page.getByRole('button', { name: 'Show all' }).click();
		await page.getByRole('button', { name: 'Show all' }).waitFor({ state: 'detached' });
		await page.mouse.move(box.x + box.width - 4, box.y + 60);
		await page.locator('.trend-reading').getByText('14.7 g/dL').waitFor();
		await page.getByLabel('Period').selectOption({ label: 'From … to …' });
		await page.getByLabel('First day').fill('2026-01-03');
		await page.keyboard.press('Tab');
		await settled(page);
		await page.getByLabel('Last day').fill('2026-01-04');
		await page.keyboard.press('Tab');
		await settled(page);
		await eventually(async () => (await chart.getAttribute('aria-valuemax')) === '2', 'the results of two days');
		await page.getByRole('button', { name: 'All results' }).click();
		const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'CSV' }).click()]);
		assert.equal(download.suggestedFilename(), 'results.csv');
		const [head = '', ...lines] = readFileSync(await download.path(), 'utf8')
			.trimEnd()
			.split('\r\n');
		assert.match(head, /"text".*"value"/);
		assert.ok(lines.length > 2 && lines.every((line) => /2026-01-0[34]/.test(line)), lines.join('\n'));
		await page.getByLabel('Only results with values out of range').check();
		await page.getByRole('button', { name: 'C reactive protein' }).waitFor();
		assert.equal(await page.getByRole('button', { name: 'Potassium' }).count(), 0);
		await page.context().close();
	});

	for (const colorScheme of ['light', 'dark'] as const) {
		test(`are readable by everybody and fit a narrow window, ${colorScheme}`, async () => {
			const page = await opened({ colorScheme });
			await course(page, 'C reactive protein');
			await page.locator('.trend canvas').waitFor();
			assert.deepEqual(await seriousViolations(page), []);
			await page.setViewportSize({ width: 390, height: 844 });
			await eventually(async () => ((await page.locator('.trend canvas').boundingBox())?.width ?? 999) < 390, 'the narrow chart');
			await assertFits(page);
			await page.context().close();
		});
	}

	test('are shown as JSON with their versions, what each changed and the message that wrote it, to the audit trail as well', async () => {
		await setSite(service.administration, { slug: 'north', deletes: true });
		const url = `http://127.0.0.1:${service.port('fhir')}/fhir/RiskAssessment`;
		const headers = { 'X-API-Key': key, 'Content-Type': 'application/fhir+json' };
		// Only types that no message writes can be deleted.
		const judged = (probability: string, id?: string) =>
			`{"resourceType":"RiskAssessment",${id === undefined ? '' : `"id":"${id}",`}"status":"final","subject":{"reference":"Patient/${path.split('/').at(-1)}"},"prediction":[{"probabilityDecimal":${probability}}]}`;
		const made = await fetch(url, { method: 'POST', headers, body: judged('0.50') });
		assert.equal(made.status, 201);
		const { id } = (await made.json()) as { id: string };
		assert.equal((await fetch(`${url}/${id}`, { method: 'PUT', headers, body: judged('0.250', id) })).status, 200);
		assert.equal((await fetch(`${url}/${id}`, { method: 'DELETE', headers })).status, 204);

		const page = await opened();
		await page.getByRole('link', { name: 'JSON', exact: true }).click();
		await page.getByRole('heading', { level: 1, name: 'Patient' }).waitFor();
		await page.getByText('"family": "Okafor"').waitFor();
		const patients = page.getByRole('table', { name: 'Versions, newest first' });
		await patients.getByRole('link', { name: 'from a message' }).first().click();
		await page.getByRole('heading', { level: 1, name: /ORU\^R01/ }).waitFor();
		await page.getByRole('listitem').filter({ hasText: 'Observation' }).getByRole('link', { name: 'version 1' }).first().click();
		await page.getByRole('heading', { level: 1, name: 'Observation' }).waitFor();
		await page.getByRole('region', { name: 'JSON of version 1' }).waitFor();

		await page.goto(`/resources/north/RiskAssessment/${id}`);
		await page.getByText('This version deleted the resource').waitFor();
		await page.getByRole('button', { name: '2', exact: true }).click();
		const changed = page.getByRole('region', { name: 'Changes in version 2' });
		await changed.getByText('Removed:').first().waitFor();
		assert.match(String(await changed.textContent()), /− Removed: +"probabilityDecimal": 0\.50.*\+ Added: +"probabilityDecimal": 0\.250/);
		await page.getByRole('region', { name: 'JSON of version 2' }).getByText('"probabilityDecimal": 0.250').waitFor();
		assert.equal(new URL(page.url()).searchParams.get('version'), '2');
		assert.deepEqual(await seriousViolations(page), []);
		await page.getByRole('button', { name: '1', exact: true }).click();
		const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download' }).click()]);
		assert.match(readFileSync(await download.path(), 'utf8'), /"probabilityDecimal": 0\.50/);
		await page.goto(`/resources/north/RiskAssessment/${id}?version=9`);
		await page.getByText('Version 9 is not among these.').waitFor();
		assert.equal(await page.getByRole('region', { name: /^JSON of version/ }).count(), 0);
		await page.context().close();

		const subject = `RiskAssessment/${id}`;
		const [event] = await service.rows('select actor, patients from audit_event where action = $1 and subject = $2', [
			'resource.read',
			subject,
		]);
		assert.deepEqual(event, { actor: 'owner@example.org', patients: [path.split('/').at(-1)] });
		const of = (given: { type: string; id: string }) => showResourceHistory(service.administration, { site: 'north', ...given });
		await assert.rejects(of({ type: 'Observation', id: 'nothing' }), /there is no Observation 'nothing'/);
		await assert.rejects(of({ type: 'Nothing', id }), /there is no resource type 'Nothing'/);
	});

	test('stand in the timeline with all else that is known, by kind, and lead to their pages', async () => {
		const page = await opened({ viewport: { width: 1280, height: 800 } });
		const edges = (await page.evaluate(
			`[...document.querySelectorAll('.tab-list')].map((list) => list.scrollWidth - list.clientWidth)`,
		)) as number[];
		assert.deepEqual(edges, [0], 'no tab is out of sight');
		await page.getByRole('tab', { name: 'Timeline' }).click();
		const table = page.getByRole('table', { name: 'What is known of this patient, newest first' });
		await table.getByRole('columnheader', { name: 'When (Europe/Berlin)' }).waitFor();
		await table.getByText('First recorded').waitFor();
		assert.deepEqual(await seriousViolations(page), []);
		await page.getByLabel('Results', { exact: true }).check();
		await table.getByText('First recorded').waitFor({ state: 'detached' });
		await table.getByText('4 results').nth(9).waitFor();
		await table
			.getByRole('row', { name: /<0\.6 mg\/L/ })
			.getByRole('link')
			.click();
		await page.getByRole('heading', { level: 1, name: /ORU\^R01/ }).waitFor();
		await page.context().close();
	});

	test('are found as reports by the number of the patient, with marks, and without those that are not about images', async () => {
		const page = await opened();
		await page.goto('/reports?site=north');
		const table = page.getByRole('table', { name: 'Reports, newest first' });
		await page.getByRole('searchbox', { name: 'Search reports' }).fill('4711');
		await page.keyboard.press('Enter');
		await table.getByRole('cell', { name: 'Okafor, Ngozi' }).nth(9).waitFor();
		assert.ok(!addressOf(page).includes('4711'));
		await table.getByRole('link', { name: 'CBC panel' }).last().click();
		await page.getByRole('heading', { level: 1, name: 'CBC panel' }).waitFor();
		await page.getByText('below range').waitFor();
		await page.getByRole('link', { name: 'Okafor, Ngozi' }).waitFor();
		await page.getByRole('button', { name: 'Print' }).waitFor();
		await page.goto('/reports?site=north');
		await page.getByLabel('About').selectOption({ label: 'Images only' });
		await page.getByText('No reports match').waitFor();
		await page.context().close();
	});

	test('are printed on A4 with whose they are, and without what can be pressed', async () => {
		const page = await opened({ colorScheme: 'dark' });
		await course(page, 'C reactive protein');
		await page.locator('.trend canvas').waitFor();
		const pdf = await page.pdf({ preferCSSPageSize: true });
		assert.match(pdf.subarray(0, 8).toString('latin1'), /^%PDF-/);
		await page.emulateMedia({ media: 'print' });
		await page.getByText('Printed', { exact: true }).waitFor();
		const head = String(await page.locator('.print-head').textContent());
		assert.match(head, /Okafor, Ngozi.*north.*owner@example\.org/);
		for (const name of ['Print', 'All results']) assert.equal(await page.getByRole('button', { name }).count(), 0, name);
		assert.equal(await page.getByRole('navigation').count(), 0);
		// A column of links says nothing on paper.
		const from = page.locator('th', { hasText: 'From' });
		assert.equal(await from.count(), 1);
		assert.equal(await from.isVisible(), false);
		await page.context().close();
	});
});
