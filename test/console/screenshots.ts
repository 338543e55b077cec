import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { consoleBrowser, goTo, signInOnPage } from '#test/support/browser.ts';
import { inventNetwork, sampleScreens } from '#test/support/console-sample.ts';
import { inventMessages } from '#test/support/console-traffic.ts';
import { without } from '#test/support/needs.ts';
import { testService } from '#test/support/service.ts';

/** Writes docs/images: `npm run screenshots`. What they show is invented. */

const folder = new URL('../../docs/images/', import.meta.url);

type Scheme = 'light' | 'dark';
/** Name of a sample screen, width of the window, colours. */
const pictures: readonly (readonly [screen: string, width: 1280 | 390, scheme: Scheme])[] = [
	['overview', 1280, 'light'],
	['overview', 1280, 'dark'],
	['overview', 390, 'light'],
	['overview', 390, 'dark'],
	['client', 1280, 'dark'],
	['clients', 1280, 'light'],
	['messages', 1280, 'light'],
	['message', 1280, 'light'],
	['patient', 1280, 'dark'],
	['clients', 390, 'light'],
	['audit-event', 1280, 'light'],
	['first-steps', 1280, 'light'],
	['failures', 1280, 'light'],
	['identity', 1280, 'light'],
	['study', 1280, 'light'],
	['remote-aes', 1280, 'light'],
	['retention', 1280, 'light'],
	['feeds', 1280, 'light'],
	['feed', 1280, 'light'],
	['patient-timeline', 1280, 'light'],
	['patient-chart', 1280, 'light'],
	['images', 1280, 'light'],
];

/** An hour of a network, the same in every picture. */
async function inventTraffic(page: Page): Promise<void> {
	const now = Date.now();
	const wave = (index: number, length: number, phase = 0) => Math.sin((index / length) * 2 * Math.PI + phase);
	const points = Array.from({ length: 360 }, (_, index) => ({
		at: new Date(now - (359 - index) * 10_000).toISOString(),
		received: Math.round(310 + 90 * wave(index, 300) + 24 * wave(index, 17) + 15 * wave(index, 7)),
		refused: index % 47 === 0 ? 3 : index % 29 === 0 ? 1 : 0,
		latency_p50_ms: 4.1 + 0.6 * wave(index, 90),
		latency_p99_ms: 17 + 5 * wave(index, 110, 1) + 2 * wave(index, 13) + (index > 300 && index < 318 ? 26 : 0),
		waiting: Math.max(0, Math.round(5 + 4 * wave(index, 60) + (index > 300 && index < 318 ? 90 : 0))),
		storage_bytes: 3.38e12 + index * 1.1e8,
		associations: Math.round(6 + 3.4 * wave(index, 150) + wave(index, 31)),
	}));
	const minutes = Array.from({ length: 60 }, (_, index) => ({
		at: new Date(now - (59 - index) * 60_000).toISOString(),
		received: Math.round(1860 + 540 * wave(index, 50) + 140 * wave(index, 7)),
		refused: index % 11 === 0 ? 4 : index % 5 === 0 ? 1 : 0,
	}));
	const sumOf = (what: 'received' | 'refused') => minutes.reduce((sum, minute) => sum + minute[what], 0);
	const overview = {
		points,
		last_hour: { since: minutes[0]?.at, received: sumOf('received'), refused: sumOf('refused'), minutes },
		mailboxes: [
			{ site: 'north', waiting: 3 },
			{ site: 'harbour', waiting: 1 },
		],
		storage_bytes: 3.42e12,
		alerts: [
			{
				name: 'TributaryRefusalsHigh',
				since: new Date(now - 540_000).toISOString(),
				summary: 'site harbour has many refused messages',
				severity: 'warning',
				list: '/failures?site=harbour',
				runbook: 'Open the failures of the site: most have one cause.',
			},
		],
	};
	await page.route('**/api/v1/overview', (route) => route.fulfill({ json: overview }));
	await page.addInitScript(
		`window.EventSource = class extends EventTarget {
			constructor() { super(); setTimeout(() => this.dispatchEvent(new Event('open'))); }
			close() {}
		}`,
	);
}

describe('pictures of the console', { skip: without('chromium') }, () => {
	test('are written', async () => {
		await using service = await testService();
		await inventNetwork(service);
		await inventMessages(service);
		await using browser = await consoleBrowser(service);
		mkdirSync(folder, { recursive: true });
		const screens = await sampleScreens(service);
		const page = await browser.open({ reducedMotion: 'reduce' });
		await inventTraffic(page);
		await signInOnPage(service, page, 'ann.weiss@example.org');
		for (const [name, width, scheme] of pictures) {
			const screen = screens.find((candidate) => candidate.name === name);
			assert.ok(screen, name);
			await page.setViewportSize({ width, height: width === 390 ? 844 : 800 });
			await page.emulateMedia({ colorScheme: scheme });
			await goTo(page, screen.path, screen.heading);
			await page.mouse.move(0, 0);
			await screen.open?.(page);
			await page.locator('.toast').waitFor({ state: 'detached' });
			await page.screenshot({ path: new URL(`${name}-${width}-${scheme}.png`, folder).pathname });
		}
		assert.deepEqual(browser.faults, []);
	});
});
