import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { unzipSync } from 'fflate';
import type { Page } from 'playwright-core';
import { addRemoteAe } from '#administration/remote-aes.ts';
import { setSite } from '#administration/sites.ts';
import { dataSetOffset } from '#dicom/part10.ts';
import { explicitLittleEndian } from '#dicom/transfer-syntax.ts';
import { assertFits, type ConsoleBrowser, consoleBrowser, goTo, seriousViolations, signInOnPage } from '#test/support/browser.ts';
import {
	compressed,
	compressedImages,
	compressions,
	grey,
	hostile,
	sampleImages,
	series,
	shows,
	stack,
	study,
} from '#test/support/console-images.ts';
import { uploadTests } from '#test/support/console-uploads.ts';
import { viewingTests } from '#test/support/console-viewing.ts';
import { ctStorage } from '#test/support/data-set.ts';
import { startStorescp, temporaryFolder } from '#test/support/dcmtk.ts';
import { eventually } from '#test/support/eventually.ts';
import { without } from '#test/support/needs.ts';
import {
	ctSlice,
	deflatedFrames,
	htj2kLossless,
	jpeg2000Lossless,
	jpegBaseline,
	jpegLossless,
	jpegLsLossless,
	rleLossless,
	secondaryCapture,
	ultrasoundMultiFrame,
} from '#test/support/pixel-images.ts';
import { type TestService, testService } from '#test/support/service.ts';
import { addImagingSite, type SentInstance, StorageScu } from '#test/support/storage-scu.ts';

describe('images in the console', { skip: without('chromium') }, () => {
	let service: TestService;
	let browser: ConsoleBrowser;
	let page: Page;
	let sent: SentInstance[];
	before(async () => {
		service = await testService();
		await addImagingSite(service, 'north');
		sent = await sampleImages();
		const contexts = [
			...[ctStorage, secondaryCapture, ultrasoundMultiFrame].map((sopClass) => [sopClass, explicitLittleEndian] as const),
			[ctStorage, rleLossless] as const,
			[secondaryCapture, jpegBaseline] as const,
			...[jpegLossless, jpegLsLossless, jpeg2000Lossless, htj2kLossless, deflatedFrames].map((syntax) => [ctStorage, syntax] as const),
		];
		const scu = await StorageScu.open(service.port('dimse'), { called: 'NORTH', contexts });
		for (const instance of [...sent, ...(await compressedImages())]) assert.equal((await scu.store(instance)).status, 0);
		await scu.release();
		browser = await consoleBrowser(service);
		page = await browser.open({ viewport: { width: 1280, height: 900 } });
		await signInOnPage(service, page);
	});
	after(async () => {
		await browser[Symbol.asyncDispose]();
		await service[Symbol.asyncDispose]();
		assert.deepEqual(browser.faults, []);
	});

	test('are scrolled through, windowed, inverted and reset by keys, wheel and mouse', async () => {
		await goTo(page, series(1), `CT · ${hostile}`);
		await shows(page, grey(stack[0], 40, 400), 'the first slice');
		assert.equal(await page.locator('[data-position]').textContent(), '1 / 5');
		await page.keyboard.press('ArrowDown');
		await shows(page, grey(stack[1], 40, 400), 'the second slice');
		await page.keyboard.press('End');
		await shows(page, grey(stack[4], 40, 400), 'the last slice');
		await page.keyboard.press('Home');
		const canvas = page.locator('.image-canvas');
		await canvas.hover();
		await page.mouse.wheel(0, 72);
		await shows(page, grey(stack[3], 40, 400), 'three slices on');
		await page.getByRole('combobox', { name: 'Window' }).selectOption({ label: 'Brain' });
		await shows(page, grey(stack[3], 40, 80), 'the window of the brain');
		await page.keyboard.press('i');
		await shows(
			page,
			grey(stack[3], 40, 80).map((tone) => 255 - tone),
			'inverted',
		);
		await page.keyboard.press('r');
		await shows(page, grey(stack[3], 40, 400), 'as the image states it');
		const before = await page.locator('[data-window]').textContent();
		await page.mouse.down();
		await page.mouse.move(700, 500, { steps: 3 });
		await page.mouse.up();
		assert.notEqual(await page.locator('[data-window]').textContent(), before);
		await page.keyboard.press('r');
		assert.deepEqual(await seriousViolations(page), []);
	});

	viewingTests(() => page);

	test('may be in colour, films, or compressed', async () => {
		await goTo(page, series(2), 'OT · axial');
		await shows(page, [200, 30, 60], 'the colour');
		await goTo(page, series(3), 'US · axial');
		await eventually(async () => (await page.locator('[data-position]').textContent()) === '1 / 6', 'the first of six frames');
		await shows(page, [0, 0, 0], 'the first frame');
		await page.keyboard.press('End');
		await shows(page, [255, 255, 255], 'the last frame');
		await page.getByRole('button', { name: 'Play' }).click();
		await eventually(async () => String(await page.locator('[data-position]').textContent()).startsWith('3 /'), 'the film');
		await page.getByRole('button', { name: 'Stop' }).click();
		const asked: string[] = [];
		page.on('request', (request) => asked.push(new URL(request.url()).pathname));
		await goTo(page, series(4), 'CT · axial');
		await shows(page, grey(40, 40, 400), 'RLE');
		assert.deepEqual(
			asked.filter((path) => /codec|wasm/.test(path)),
			[],
			'no codec is loaded before it is needed',
		);
		await goTo(page, series(5), 'CT · axial');
		await shows(page, grey(40, 40, 400), 'JPEG 2000');
		assert.ok(asked.some((path) => path.endsWith('.wasm')));
	});

	test('are shown in every compression that the browser decodes', async () => {
		await goTo(page, series(1, compressed), 'OT · axial');
		await shows(page, [90, 90, 90], 'JPEG of 8 bits');
		for (const [index, [name]] of compressions.entries()) {
			await goTo(page, series(2 + index, compressed), 'CT · axial');
			await shows(page, grey(40, 40, 400), name);
			assert.equal(await page.getByText('Drawn by the service').count(), 0, name);
		}
	});

	test('that the browser cannot decode are drawn by the service, which the picture says', async () => {
		const said = page.getByText('Drawn by the service with its own window, because this browser cannot decode the image.');
		await goTo(page, series(8, compressed), 'CT · axial');
		await said.waitFor();
		await shows(page, grey(40, 40, 400), 'a compression without a decoder in the browser');
		await page.keyboard.press('i');
		await shows(
			page,
			grey(40, 40, 400).map((tone) => 255 - tone),
			'inverted',
		);
		await page.keyboard.press('r');
		assert.deepEqual(await seriousViolations(page), []);
		await page.route('**/*.wasm', (route) => route.abort());
		await goTo(page, series(5), 'CT · axial');
		await said.waitFor();
		await shows(page, grey(40, 40, 400), 'a decoder that could not be loaded');
		await page.unroute('**/*.wasm');
		await goTo(page, series(9, compressed), 'CT · axial');
		await page.getByText(/^The console has no decoder for the way in which this image is compressed\. [A-Z]/).waitFor();
	});

	test('belong to studies whose list the service orders, by the head of its column', async () => {
		await goTo(page, '/studies?site=north', 'Studies');
		const order = () => page.locator('main [data-row-link]').allTextContents();
		const when = page.getByRole('columnheader', { name: 'When' });
		assert.equal(await when.getAttribute('aria-sort'), 'descending');
		assert.deepEqual(await order(), ['Compressed', hostile]);
		await when.getByRole('button').click();
		await page.locator('th[aria-sort="ascending"]').waitFor();
		await eventually(async () => (await order()).join() === [hostile, 'Compressed'].join(), 'oldest first');
		assert.equal(new URL(page.url()).searchParams.get('sort'), 'oldest');
		await page.getByLabel('Order').selectOption('changed');
		await page.locator('th[aria-sort]').waitFor({ state: 'detached' });
		await page.getByRole('button', { name: 'Save filters…' }).waitFor();
		await page.goto('/studies?site=north&of=nobody');
		await page.getByText('These are the studies of').waitFor();
		assert.equal(await page.getByRole('button', { name: 'Save filters…' }).count(), 0, 'a patient is no filter to keep');
	});

	test('are read no further once their page is left, and start no decoder then', async () => {
		const released = Promise.withResolvers<void>();
		await page.route('**/frames/*', async (route) => {
			await released.promise;
			await route.continue().catch(() => undefined);
		});
		const asked = page.waitForRequest(/\/frames\/1$/);
		await page.goto(series(4));
		await asked;
		const broken = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/frames/1'));
		await page.getByRole('link', { name: 'Study', exact: true }).click();
		await broken;
		released.resolve();
		await page.getByRole('table', { name: 'Series' }).waitFor();
		await page.unroute('**/frames/*');
		assert.equal(page.workers().length, 0);
	});

	test('stand in the page of their study, which can be printed, with their elements, and a script in them is a text', async () => {
		await goTo(page, `/studies/north/${study}`, hostile);
		await page.getByRole('button', { name: 'Print' }).waitFor();
		await page.emulateMedia({ media: 'print' });
		await page.getByText('Printed', { exact: true }).waitFor();
		assert.match(String(await page.locator('.print-head').textContent()), /Sample, Ida.*north.*owner@example\.org/);
		assert.equal((await page.getByRole('navigation').count()) + (await page.getByRole('button', { name: 'Print' }).count()), 0);
		await page.emulateMedia({ media: null });
		await page.getByRole('row', { name: /OT/ }).getByRole('button').first().click();
		await page.getByRole('link', { name: '1', exact: true }).waitFor();
		for (const [index, file, holds] of [
			[0, 'series.csv', '"series_uid"'],
			[1, 'instances.csv', '"sop_instance_uid"'],
		] as const) {
			const button = page.getByRole('button', { name: 'CSV' }).nth(index);
			const [download] = await Promise.all([page.waitForEvent('download'), button.click()]);
			assert.equal(download.suggestedFilename(), file);
			const text = readFileSync(await download.path(), 'utf8');
			assert.ok(text.includes(holds) && text.includes(`"${study}.`) && !text.includes('instance_list'), text);
		}
		await page.getByRole('link', { name: '1', exact: true }).click();
		await page.getByRole('heading', { level: 1, name: 'Instance' }).waitFor();
		await page.getByLabel('Search elements').fill('patient n');
		await page.getByRole('row', { name: /\(0010,0010\).*Sample\^Ida/ }).waitFor();
		await page.getByText('1 element of').waitFor();
		await page.getByLabel('Search elements').fill('private');
		await page.getByRole('row', { name: /\(0009,1001\).*EXAMPLE 1\.0.*a private value/ }).waitFor();
		assert.deepEqual(await seriousViolations(page), []);
	});

	test('are named while the preview of their new patient arrives, and what is typed stays', async () => {
		const released = Promise.withResolvers<void>();
		await page.route('**/study-edits/preview', async (route) => {
			await released.promise;
			await route.continue();
		});
		await goTo(page, `/studies/north/${study}`, hostile);
		await page.getByRole('button', { name: 'Split off…' }).click();
		const dialog = page.getByRole('dialog');
		await dialog.getByLabel('Number or id of the patient').fill('nobody');
		await dialog.getByLabel('Single images, by SOP Instance UID').fill(`${study}.1.1`);
		released.resolve();
		await dialog.locator('.note.warning').waitFor();
		assert.equal(await dialog.getByLabel('Single images, by SOP Instance UID').inputValue(), `${study}.1.1`);
		await page.unroute('**/study-edits/preview');
		await page.keyboard.press('Escape');
	});

	test('are opened in the viewer of the site, in a window of its own', async () => {
		await goTo(page, `/studies/north/${study}`, hostile);
		assert.equal(await page.getByRole('button', { name: 'Open in viewer' }).count(), 0);
		// It only has to answer; what a viewer may read is tried at DICOMweb.
		const viewer = `http://127.0.0.1:${service.port('ops')}/health/live?StudyInstanceUIDs={study}&token={token}`;
		await setSite(service.administration, { slug: 'north', viewer_url: viewer });
		await goTo(page, `/studies/north/${study}`, hostile);
		const opened = page.context().waitForEvent('page');
		await page.getByRole('button', { name: 'Open in viewer' }).click();
		const window = await opened;
		await window.waitForURL(/StudyInstanceUIDs=/);
		const asked = new URL(window.url()).searchParams;
		assert.equal(asked.get('StudyInstanceUIDs'), study);
		assert.match(asked.get('token') ?? '', /^tv_[\w-]{43}$/);
		await window.close();
	});

	test('are downloaded byte for byte as they were sent', async () => {
		await goTo(page, `/studies/north/${study}`, hostile);
		const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Download (ZIP)' }).click()]);
		const chunks: Buffer[] = [];
		for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
		const files = unzipSync(Buffer.concat(chunks));
		assert.deepEqual(
			Object.keys(files).sort(),
			sent.map(({ sopInstanceUid }) => `${sopInstanceUid.replace(/\.\d+$/, '')}/${sopInstanceUid}.dcm`).sort(),
		);
		for (const { sopInstanceUid, dataSet } of sent) {
			const file = Buffer.from(files[`${sopInstanceUid.replace(/\.\d+$/, '')}/${sopInstanceUid}.dcm`] ?? []);
			assert.ok(file.subarray(dataSetOffset(file)).equals(dataSet), sopInstanceUid);
		}
		const events = await service.rows<{ action: string }>("select action from audit_event where action like '%.download'");
		assert.deepEqual(events, [{ action: 'study.download' }]);
	});

	test('are sent to a remote AE, which says whether it is there', { skip: without('dcmtk') }, async () => {
		using folder = temporaryFolder();
		await using peer = await startStorescp(folder.path, '+xa');
		await addRemoteAe(service.administration, { site: 'north', title: 'PACS1', host: '127.0.0.1', port: peer.port, tls: false });
		await goTo(page, '/remote-aes', 'Remote AEs');
		await page.getByRole('row', { name: /PACS1/ }).getByRole('button', { name: 'Echo' }).click();
		await page.getByText('It is there, knows this service, and answers.').waitFor();
		assert.deepEqual(await seriousViolations(page), []);
		await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
		await goTo(page, `/studies/north/${study}`, hostile);
		await page.getByRole('button', { name: 'Send…' }).click();
		await page.getByRole('dialog').getByRole('button', { name: 'Send' }).click();
		await page.getByText('Everything was sent.').waitFor();
		await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
		const received = readdirSync(folder.path).map((name) => readFileSync(join(folder.path, name)));
		assert.equal(received.length, sent.length);
		for (const { sopInstanceUid, dataSet } of sent)
			assert.ok(
				received.some((file) => file.subarray(dataSetOffset(file)).equals(dataSet)),
				sopInstanceUid,
			);
	});

	uploadTests(() => ({ service, page }));

	test('of a conflict stand side by side', async () => {
		const other = ctSlice({ studyUid: study, seriesUid: `${study}.1`, sopInstanceUid: `${study}.1.1` }, 200);
		const scu = await StorageScu.open(service.port('dimse'), { called: 'NORTH' });
		await scu.store(other);
		await scu.release();
		await goTo(page, '/conflicts?site=north', 'Conflicts');
		await page.getByRole('row', { name: /Sample/ }).waitFor();
		await page.locator('main [data-row-link]').first().click();
		await page.locator('.viewport').nth(1).waitFor();
		await eventually(async () => (await page.locator('[data-window]').count()) === 2, 'both images');
		const middles = () =>
			page.evaluate(`[...document.querySelectorAll('.image-canvas')].map((canvas) =>
				canvas.getContext('2d').getImageData(canvas.width / 2, canvas.height / 2, 1, 1).data[0])`) as Promise<number[]>;
		const wanted = [grey(0, 40, 400)[0], grey(200, 40, 400)[0]];
		await eventually(async () => JSON.stringify(await middles()) === JSON.stringify(wanted), 'what differs');
		assert.deepEqual(await seriousViolations(page), []);
	});

	test('fit a window of 390 pixels', async () => {
		const narrow = await browser.open({ viewport: { width: 390, height: 844 } });
		await signInOnPage(service, narrow);
		for (const [path, heading] of [
			[series(1), `CT · ${hostile}`],
			[`/studies/north/${study}`, hostile],
			[`/studies/north/${study}/instances/${study}.1.1`, 'Instance'],
		] as const) {
			await goTo(narrow, path, heading);
			await assertFits(narrow);
		}
		await narrow.context().close();
	});
});
