import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type ConsoleBrowser, consoleBrowser, goTo, signInOnPage } from '#test/support/browser.ts';
import { without } from '#test/support/needs.ts';
import { type TestService, testService } from '#test/support/service.ts';

/** The last hour of a node whose labels are as long as they get. */
function overview(nowMs: number) {
	const at = (ms: number) => new Date(nowMs - ms).toISOString();
	const point = (ms: number) => ({
		...{ at: at(ms), received: 4000, refused: 0, latency_p50_ms: 3.5, latency_p99_ms: 24, waiting: 999_999, associations: 0 },
		storage_bytes: 900 * 1024 ** 2,
	});
	const minutes = Array.from({ length: 60 }, (_, index) => ({ at: at((60 - index) * 60_000), received: 24_000, refused: 100 }));
	return {
		points: [point(20_000), point(10_000)],
		mailboxes: [],
		last_hour: { since: minutes[0]?.at, received: 1_440_000, refused: 6000, minutes },
		storage_bytes: 900 * 1024 ** 2,
		alerts: [],
	};
}

describe('what the console draws', { skip: without('chromium') }, () => {
	let service: TestService;
	let browser: ConsoleBrowser;
	before(async () => {
		service = await testService();
		await service.addSite('north');
		browser = await consoleBrowser(service);
	});
	after(async () => {
		await browser[Symbol.asyncDispose]();
		await service[Symbol.asyncDispose]();
	});

	test('has every label of an axis in its chart, and the rate of messages in one unit', async () => {
		const page = await browser.open();
		await page.route('**/api/v1/overview', (route) => route.fulfill({ json: overview(Date.now()) }));
		await page.route('**/api/v1/overview/live', (route) => route.abort());
		await signInOnPage(service, page);
		for (const width of [1280, 390]) {
			await page.setViewportSize({ width, height: 900 });
			await goTo(page, '/overview', 'Overview');
			const rate = page.getByRole('img', { name: /^Messages received per second, all nodes, .*: now 400, lowest 400, highest 400$/ });
			await rate.waitFor();
			assert.deepEqual(
				await rate
					.locator('text[text-anchor=end]')
					.allTextContents()
					.then((texts) => texts.slice(0, 3)),
				['0', '250', '500'],
			);
			await page.getByText('12.5 ms', { exact: true }).waitFor();
			const cut: string[] = await page.evaluate(`new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(
				[...document.querySelectorAll('.chart svg')].flatMap((svg) => [...svg.querySelectorAll('text')].filter((text) => {
					const [one, whole] = [text.getBoundingClientRect(), svg.getBoundingClientRect()];
					return one.left < whole.left - 0.5 || one.right > whole.right + 0.5;
				}).map((text) => text.textContent))))))`);
			assert.deepEqual(cut, [], `at ${width} pixels`);
		}
		await page.context().close();
	});

	test('has the notice of a moved site as one text', async () => {
		await service.rows(
			"update site set move_state = 'left', move_peer = 'postgres://db.example.org/other', moved_at = now() where slug = 'north'",
		);
		const page = await browser.open();
		await signInOnPage(service, page);
		await page.setViewportSize({ width: 390, height: 900 });
		await goTo(page, '/sites/north', 'north');
		const notice = page.locator('p.note', { hasText: 'It was moved to the database' });
		await notice.waitFor();
		const display = await page.evaluate("getComputedStyle(document.querySelector('p.note.warning')).display");
		assert.equal(display, 'block', 'each part of a sentence would be a column of its own');
		await page.context().close();
	});
});
