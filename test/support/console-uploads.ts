import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { part10Head } from '#dicom/part10.ts';
import { explicitLittleEndian } from '#dicom/transfer-syntax.ts';
import { goTo, seriousViolations } from './browser.ts';
import { grey, shows, study } from './console-images.ts';
import { ctStorage } from './data-set.ts';
import { temporaryFolder } from './dcmtk.ts';
import { eventually } from './eventually.ts';
import { ctSlice } from './pixel-images.ts';
import type { TestService } from './service.ts';

/** Tests uploads from the console to a service that runs. */
export function uploadTests(of: () => { service: TestService; page: Page }): void {
	test('are uploaded from the console, file by file', async () => {
		const { service, page } = of();
		const { sopInstanceUid, dataSet } = ctSlice(
			{ studyUid: `${study}.9`, seriesUid: `${study}.9.1`, sopInstanceUid: `${study}.9.1.1` },
			40,
		);
		const head = part10Head({ sopClassUid: ctStorage, sopInstanceUid, transferSyntaxUid: explicitLittleEndian });
		await goTo(page, '/studies?site=north', 'Studies');
		await page.getByRole('button', { name: 'Upload images…' }).click();
		await page.getByLabel('DICOM files').setInputFiles([
			{ name: 'slice.dcm', mimeType: 'application/dicom', buffer: Buffer.concat([head, dataSet]) },
			{ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('no image') },
		]);
		await page.getByText('1 file of 2 stored.').waitFor();
		await page.getByRole('row', { name: /notes\.txt.*failed.*no DICOM file/ }).waitFor();
		assert.deepEqual(await seriousViolations(page), []);
		await page
			.getByRole('row', { name: /slice\.dcm.*stored/ })
			.getByRole('link', { name: 'Open' })
			.click();
		await page.getByRole('heading', { level: 1, name: 'Head' }).waitFor();
		const events = await service.rows("select subject from audit_event where action = 'instance.upload'");
		assert.deepEqual(events, [{ subject: sopInstanceUid }]);
	});

	test('are uploaded by dropping their files on the page', async () => {
		const { page } = of();
		using folder = temporaryFolder();
		const paths = [1, 2].map((number) => {
			const uid = `${study}.8.1.${number}`;
			const { dataSet } = ctSlice(
				{ studyUid: `${study}.8`, seriesUid: `${study}.8.1`, sopInstanceUid: uid, number, studyDescription: 'Dropped' },
				40,
			);
			const head = part10Head({ sopClassUid: ctStorage, sopInstanceUid: uid, transferSyntaxUid: explicitLittleEndian });
			const path = join(folder.path, `dropped-${number}.dcm`);
			writeFileSync(path, Buffer.concat([head, dataSet]));
			return path;
		});
		await goTo(page, '/studies?site=north', 'Studies');
		await page.getByRole('button', { name: 'Upload images…' }).click();
		// The browser itself is told, as by a hand that drags files from a folder to a place beside the frame.
		const devtools = await page.context().newCDPSession(page);
		const data = { items: [], files: paths, dragOperationsMask: 1 };
		const heading = await page.getByRole('heading', { level: 1 }).boundingBox();
		assert.ok(heading);
		const search = page.getByRole('main').getByRole('searchbox').first();
		const field = await search.boundingBox();
		assert.ok(field);
		const text = { items: [{ mimeType: 'text/plain', data: 'Rivers' }], dragOperationsMask: 1 };
		for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
			await devtools.send('Input.dispatchDragEvent', { type, x: field.x + 20, y: field.y + field.height / 2, data: text });
		await eventually(async () => (await search.inputValue()) === 'Rivers', 'the text that was dropped on the field');
		await search.fill('');
		const drag = (type: 'dragEnter' | 'dragOver' | 'dragCancel' | 'drop') =>
			devtools.send('Input.dispatchDragEvent', { type, x: heading.x + 2, y: heading.y + 2, data });
		await drag('dragEnter');
		await drag('dragOver');
		await page.locator('.drop.over').waitFor();
		await drag('drop');
		await page.getByText('2 files of 2 stored.').waitFor();
		assert.equal(await page.locator('.drop.over').count(), 0);
		await page
			.getByRole('row', { name: /dropped-2\.dcm.*stored/ })
			.getByRole('link', { name: 'Open' })
			.click();
		await page.getByRole('heading', { level: 1, name: 'Dropped' }).waitFor();
		await page.getByRole('link', { name: 'View', exact: true }).click();
		await eventually(async () => (await page.locator('[data-position]').textContent()) === '1 / 2', 'the two slices');
		await shows(page, grey(40, 40, 400), 'what was dropped');
		await devtools.detach();
	});
}
