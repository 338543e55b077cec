import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { addClient } from '#administration/clients.ts';
import { createKey } from '#administration/keys.ts';
import { addSite } from '#administration/sites.ts';
import { addUser } from '#administration/users.ts';
import { consoleBrowser, settled, signInOnPage } from '#test/support/browser.ts';
import { opened } from '#test/support/images.ts';
import { without } from '#test/support/needs.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';
import { ctInstance, StorageScu } from '#test/support/storage-scu.ts';

/** Would run in a page that took it for markup. */
const markup = (name: string) => `<img src=x onerror=window.hostile=1>${name}`;
const [family, number] = ['Hostilia', '4711-secret'];
const study = '1.2.826.0.1.66';

const messageOf = (controlId: string, event: string, patient: string) =>
	`MSH|^~\\&|${markup('ADT')}|NORTH|||20260105||ADT^${event}|${controlId}|P|2.5.1\rPID|1||${patient}^^^MRN||${markup(family)}^Ada||18151210|F|||${markup('Row')}\r`;

/** Every place where somebody outside chooses the words. */
async function fill(service: TestService): Promise<void> {
	const { administration } = service;
	await addSite(administration, { slug: 'north', name: markup('North'), ae_title: 'NORTH' });
	const client = { site: 'north', name: markup('Sender'), sending_application: markup('APP') };
	await addClient(administration, { ...client, protocols: ['hl7-mllp'], allowed_ips: ['192.0.2.1'] });
	await addUser(administration, { email: 'other@example.org', sites: ['north'] });
	const { key } = await createKey(administration, { site: 'north', owner: 'other@example.org', label: markup('label') });
	await eventually(async () => (await service.fhir('/fhir/Patient', key)).status === 200, 'the key');
	const send = async (body: string) =>
		(
			await fetch(`http://127.0.0.1:${service.port('hl7')}/v2/ingest`, {
				method: 'POST',
				headers: { 'X-API-Key': key, 'Content-Type': 'text/plain' },
				body,
			})
		).status;
	assert.equal(await send(messageOf(markup('1'), 'A01', number)), 200);
	assert.equal(await send(messageOf(markup('2'), 'A01', '4712')), 200);
	assert.equal(await send(messageOf(markup('3'), 'A28', number)), 422);
	await opened(service, 'north');
	const scu = await StorageScu.open(service.port('dimse'), { called: 'NORTH', calling: '<img src=x>' });
	for (const patientId of [number, markup('P')]) await scu.store(ctInstance({ sopInstanceUid: `${study}.1`, studyUid: study, patientId }));
	await scu.release();
}

describe('what senders choose', { skip: without('chromium') }, () => {
	test('is text in every screen, and what is known of a patient is in no address, title or storage', async () => {
		await using service = await testService();
		await fill(service);
		await using browser = await consoleBrowser(service);
		const page = await browser.open({ viewport: { width: 1280, height: 900 } });
		const addresses: string[] = [];
		page.on('request', (request) => addresses.push(request.url()));
		await signInOnPage(service, page);
		const titles: string[] = [];
		const textOf = async (what: string, within: string) => {
			titles.push(await page.title());
			assert.equal(await page.evaluate('window.hostile'), undefined, what);
			assert.equal(await page.locator('img[src=x]').count(), 0, what);
			return (await page.locator(within).first().textContent()) ?? '';
		};
		const look = async (what: string) => {
			await page.getByRole('heading', { level: 1 }).waitFor();
			await settled(page);
			return textOf(what, 'main');
		};
		const dialog = async (what: string) => {
			await page.locator('dialog').first().waitFor();
			return textOf(what, 'dialog');
		};
		let shown = '';
		const links = await page
			.locator('#navigation a')
			.evaluateAll((found) => found.map((link) => (link as unknown as { href: string }).href));
		assert.ok(links.length > 10);
		for (const link of links) {
			const url = new URL(link);
			url.searchParams.set('site', 'north');
			await page.goto(url.href);
			shown += await look(link);
			const row = page.locator('main [data-row-link]').first();
			if ((await row.count()) === 0) continue;
			const href = await row.getAttribute('href');
			if (href !== null) await page.goto(href);
			else await row.click();
			shown += href === null ? await dialog(link) : await look(`the first of ${link}`);
		}
		// What is found is searched for, or the screens had nothing to go wrong with.
		await page.goto('/patients?site=north');
		await page.getByRole('searchbox').fill(number);
		await page.getByRole('searchbox').press('Enter');
		await settled(page);
		shown += await look('patients');
		await page.goto((await page.locator('main [data-row-link]').first().getAttribute('href')) ?? '');
		shown += await look('a patient');
		for (const text of [markup('North'), markup('Sender'), markup('label'), markup('3'), family, number])
			assert.ok(shown.includes(text), `${text} is shown`);
		const told = [...addresses, ...titles, JSON.stringify(await page.context().storageState())].join('\n');
		for (const text of [family, number]) assert.ok(!told.includes(text), text);
		assert.deepEqual(browser.faults, []);
	});
});
