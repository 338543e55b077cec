import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { consoleBrowser, ownPassword, signInOnPage } from '#test/support/browser.ts';
import { MllpClient } from '#test/support/mllp-client.ts';
import { without } from '#test/support/needs.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';

const message = (id: string) => `MSH|^~\\&|ADT|NORTH|||202601051200||ADT^A01|${id}|P|2.5.1\rPID|1||4711^^^MRN||Lovemore^Ada||18151210|F\r`;

const mismatchOfClient = `select settings ->> 'mismatch' as of from integration_client`;

function ingest(service: TestService, key: string, id: string): Promise<number> {
	return fetch(`http://127.0.0.1:${service.port('hl7')}/v2/ingest`, {
		method: 'POST',
		headers: { 'X-API-Key': key, 'Content-Type': 'text/plain' },
		body: message(id),
	}).then(({ status }) => status);
}

describe('the console', { skip: without('chromium') }, () => {
	test('a site, a key and a client are made, used, and the key revoked', async () => {
		await using service = await testService();
		await using browser = await consoleBrowser(service);
		const page = await browser.open();
		await signInOnPage(service, page);

		await page.getByRole('link', { name: 'Sites' }).click();
		await page.getByRole('button', { name: 'New site' }).first().click();
		const dialog = page.getByRole('dialog');
		await dialog.getByLabel('Name', { exact: true }).fill('North Hospital');
		await dialog.getByLabel('Short name').fill('Not a slug');
		await dialog.getByRole('button', { name: 'Create site' }).click();
		// What is at fault is said at its field, which has the focus.
		const slug = dialog.getByLabel('Short name');
		await dialog.locator('.invalid').waitFor();
		assert.equal(await slug.getAttribute('aria-invalid'), 'true');
		await slug.fill('north');
		await dialog.getByLabel('AE title').fill('NORTH');
		await dialog.getByRole('button', { name: 'Create site' }).click();
		await page.getByRole('heading', { level: 1, name: 'North Hospital' }).waitFor();

		await page.getByRole('link', { name: 'API keys' }).click();
		await page.getByRole('button', { name: 'New key' }).first().click();
		await dialog.getByLabel('Site').selectOption('north');
		await dialog.getByLabel('Label').fill('Admission');
		await dialog.getByRole('button', { name: 'Create key' }).click();
		const key = (await dialog.locator('[data-secret]').textContent()) ?? '';
		assert.match(key, /^trb_/);
		const [, line = '', address = ''] = /(curl -H '[^']+') '([^']+)'/.exec((await dialog.textContent()) ?? '') ?? [];
		assert.equal(line, `curl -H 'X-API-Key: ${key}'`);
		await dialog.getByRole('button', { name: 'I have copied it' }).click();
		assert.ok(!(await page.content()).includes(key), 'the key is gone from the page');
		await eventually(async () => (await ingest(service, key, 'one')) === 200, 'the key');
		assert.equal((await fetch(address, { headers: { 'X-API-Key': key } })).status, 200, address);

		// The zone of the site is set, and what the message said is read anew, after a preview.
		await page.getByRole('link', { name: 'Sites' }).click();
		await page.getByRole('link', { name: 'North Hospital' }).click();
		await page.getByRole('button', { name: 'Read stored times anew…' }).click();
		await dialog.getByLabel('Time zone').fill('Europe/Berlin');
		await dialog.getByRole('button', { name: 'Preview' }).click();
		await dialog.getByText('1 message to be read anew').waitFor();
		await dialog.getByRole('button', { name: 'Save Europe/Berlin and read anew' }).click();
		await dialog.getByText('1 message read anew').waitFor();
		await dialog.getByRole('button', { name: 'Close' }).click();
		assert.deepEqual(await service.rows("select settings ->> 'time_zone' as zone from site"), [{ zone: 'Europe/Berlin' }]);

		await page.getByRole('link', { name: 'Integration clients' }).click();
		await page.getByRole('button', { name: 'New client' }).first().click();
		await dialog.getByLabel('Site', { exact: true }).selectOption('north');
		await dialog.getByLabel('Name', { exact: true }).fill('Admission system');
		await dialog.getByLabel('Allowed addresses').fill('127.0.0.1');
		await dialog.getByLabel('Sending application').fill('ADT');
		await dialog.getByRole('button', { name: 'Create client' }).click();
		await page.getByRole('heading', { level: 1, name: 'Admission system' }).waitFor();
		const mismatch = page.getByRole('group', { name: 'Another person under a known number' });
		for (const [choice, stored] of [
			[/^Hold/, 'hold'],
			[/^As the site/, null],
		] as const) {
			await mismatch.getByRole('radio', { name: choice }).check();
			const reread = page.waitForResponse((answer) => answer.request().method() === 'GET' && /\/clients\/[\w-]+$/.test(answer.url()));
			await page.getByRole('button', { name: 'Save' }).click();
			// The form begins anew with what is stored.
			await reread;
			await page.getByRole('button', { name: 'Save', disabled: true }).waitFor();
			const isStored = async () => (await service.rows<{ of: string | null }>(mismatchOfClient))[0]?.of === stored;
			await eventually(isStored, `the setting ${stored}`);
		}
		await page.getByRole('button', { name: 'Test' }).click();
		await page.getByText('Yes: site north').waitFor();
		await eventually(async () => {
			const sender = await MllpClient.connect(service.port('mllp')).catch(() => undefined);
			const ack = await sender?.send(message('two')).catch(() => undefined);
			sender?.socket.destroy();
			return ack?.includes('MSA|AA|two') === true;
		}, 'the client');

		await page.getByRole('link', { name: 'API keys' }).click();
		await page
			.getByRole('row', { name: /Admission/ })
			.getByRole('button', { name: 'Revoke…' })
			.click();
		await dialog.getByRole('button', { name: 'Revoke key' }).click();
		await page
			.getByRole('row', { name: /Admission/ })
			.getByText('Revoked')
			.waitFor();
		await eventually(async () => (await ingest(service, key, 'three')) === 401, 'the revocation');

		const kept = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])');
		assert.equal(kept, '[{},{},""]', 'nothing is kept in the browser that scripts could read');
		assert.deepEqual(browser.faults, []);
	});

	test('a session that has ended is begun again where it was, with what was typed', async () => {
		await using service = await testService();
		await using browser = await consoleBrowser(service);
		const page = await browser.open();
		await signInOnPage(service, page);
		await page.getByRole('link', { name: 'Sites' }).click();
		await page.getByRole('button', { name: 'New site' }).first().click();
		const form = page.getByRole('dialog', { name: 'New site' });
		await form.getByLabel('Name', { exact: true }).fill('Harbour');
		await form.getByLabel('Short name').fill('harbour');
		await service.rows('delete from admin_session');
		await form.getByRole('button', { name: 'Create site' }).click();
		const again = page.getByRole('dialog', { name: 'Your session has ended' });
		await again.getByLabel('Password').fill('not the password');
		await again.getByRole('button', { name: 'Sign in', exact: true }).click();
		await again.getByText('The e-mail address or the password is wrong.').waitFor();
		await again.getByLabel('Password').fill(ownPassword);
		await again.getByRole('button', { name: 'Sign in', exact: true }).click();
		await again.waitFor({ state: 'detached' });
		assert.equal(await form.getByLabel('Short name').inputValue(), 'harbour');
		await form.getByRole('button', { name: 'Create site' }).click();
		await page.getByRole('heading', { level: 1, name: 'Harbour' }).waitFor();
		assert.deepEqual(browser.faults, []);
	});
});
