import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { resetPassword } from '#administration/users.ts';
import { needs } from './needs.ts';
import type { TestService } from './service.ts';

export const ownPassword = 'seven quiet herons';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * Lists the faults over which a screen reader, or somebody who sees little, would stumble.
 * @param rules the rules of axe-core that are tried; without them all
 */
export async function seriousViolations(page: Page, rules?: readonly string[]): Promise<string[]> {
	await page.evaluate(axe);
	const { violations } = (await page.evaluate(`axe.run(${rules === undefined ? '' : JSON.stringify({ runOnly: rules })})`)) as AxeResults;
	return violations
		.filter(({ impact }) => impact === 'serious' || impact === 'critical')
		.map(({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('\n')}`);
}

/** A browser, and what went wrong in its pages: exceptions, refused content, failed loads. */
export interface ConsoleBrowser extends AsyncDisposable {
	/** A tab of a user of its own. */
	open(options?: BrowserContextOptions): Promise<Page>;
	faults: string[];
}

export async function consoleBrowser(service: TestService): Promise<ConsoleBrowser> {
	// In a container there is often no user namespace for the sandbox; the pages are our own.
	const browser: Browser = await chromium.launch({ executablePath: needs.chromium.found ?? '', args: ['--no-sandbox'] });
	const faults: string[] = [];
	return {
		faults,
		open: async (options = {}) => {
			const context = await browser.newContext({ baseURL: `http://127.0.0.1:${service.port('admin')}`, ...options });
			context.setDefaultTimeout(60_000);
			const page = await context.newPage();
			page.on('pageerror', (error) => faults.push(String(error.stack)));
			page.on('console', (message) => {
				// That a request was refused or broken off is told by the page itself.
				if (message.type() === 'error' && !/status of 4\d\d|net::ERR_FAILED/.test(message.text())) faults.push(message.text());
			});
			return page;
		},
		[Symbol.asyncDispose]: async () => {
			await browser.close();
		},
	};
}

/** Signs in through the page, by a one-time password and one of their own. */
export async function signInOnPage(service: TestService, page: Page, email = 'owner@example.org'): Promise<void> {
	const { password } = await resetPassword(service.administration, email);
	await page.goto('/');
	await page.getByLabel('E-mail').fill(email);
	await page.getByLabel('Password').fill(password);
	await page.getByRole('button', { name: 'Sign in' }).click();
	await page.getByLabel('New password', { exact: true }).fill(ownPassword);
	await page.getByLabel('New password again').fill(ownPassword);
	await page.getByRole('button', { name: 'Change password' }).click();
	// In a narrow window it is there, behind a button.
	await page.locator('#navigation').waitFor({ state: 'attached' });
}

/** Goes to a screen within the page and waits for its heading. */
export async function goTo(page: Page, path: string, heading: string): Promise<void> {
	await page.goto(path);
	await page.getByRole('heading', { level: 1, name: heading }).waitFor();
	await settled(page);
}

/** Path, query and fragment of the page. The port before them, which is another each time, has digits of its own. */
export function addressOf(page: Page): string {
	const { pathname, search, hash } = new URL(page.url());
	return `${pathname}${search}${hash}`;
}

/** Waits until nothing is being read any more. What was just pressed leads to a read by effects, which the page carries out after its next frames. */
export async function settled(page: Page): Promise<void> {
	await page.evaluate(`(async () => {
		for (let frame = 0; frame < 3; frame++) await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
	})()`);
	await page.locator('.loading, [aria-busy=true]').first().waitFor({ state: 'detached' });
}

/** Nothing is to be scrolled sideways. */
export async function assertFits(page: Page): Promise<void> {
	const overflow = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
	assert.equal(overflow, 0, `${page.url()} is wider than the window by ${overflow} px`);
}
