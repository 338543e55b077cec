import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { goTo } from './browser.ts';
import { grey, hostile, series, shows, squareShown, stack } from './console-images.ts';
import { eventually } from './eventually.ts';

/** Tests how the images of `sampleImages` are zoomed, moved and played on a page where somebody is signed in. */
export function viewingTests(of: () => Page): void {
	test('are zoomed and moved by keys, tools, wheel and buttons, and come back', async () => {
		const page = of();
		await goTo(page, series(1), `CT · ${hostile}`);
		await shows(page, grey(stack[0], 40, 400), 'the first slice');
		const first = await squareShown(page, 'the whole picture');
		assert.ok(first.width > 100 && Math.abs(first.x) <= 1 && Math.abs(first.y) <= 1, JSON.stringify(first));
		const tool = (name: string) => page.getByRole('group', { name: 'Dragging' }).getByRole('button', { name, exact: true }).click();
		const percent = (text: string) => page.locator('.corner.lower.right').getByText(text, { exact: true }).waitFor();
		const box = await page.locator('.image-canvas').boundingBox();
		assert.ok(box);
		const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
		const drag = async (dx: number, dy: number, button: 'left' | 'right' | 'middle' = 'left') => {
			await page.mouse.move(x, y);
			await page.mouse.down({ button });
			await page.mouse.move(x + dx, y + dy, { steps: 4 });
			await page.mouse.up({ button });
		};
		await percent('100 %');
		await page.keyboard.press('+');
		await percent('125 %');
		await squareShown(page, 'larger by the key', { ...first, width: 1.25 * first.width });
		await page.keyboard.press('-');
		await percent('100 %');
		await tool('Pan');
		await drag(60, -40);
		await squareShown(page, 'moved by the tool', { ...first, x: first.x + 60, y: first.y - 40 });
		await tool('Zoom');
		await drag(0, 75);
		const small = Math.exp(-0.5);
		await percent('61 %');
		await squareShown(page, 'smaller by the tool', { x: 60 * small, y: -40 * small, width: first.width * small });
		await page.getByRole('button', { name: 'Reset' }).click();
		await percent('100 %');
		await squareShown(page, 'as at first', first);
		await tool('Window');
		await drag(0, -75, 'right');
		await squareShown(page, 'larger by the right button', { ...first, width: first.width / small });
		await page.keyboard.press('r');
		await drag(-30, 20, 'middle');
		await squareShown(page, 'moved by the middle button', { ...first, x: first.x - 30, y: first.y + 20 });
		await page.keyboard.press('r');
		await squareShown(page, 'as at first again', first);
		// The point below the pointer stays there.
		await page.mouse.move(x + 50, y);
		await page.keyboard.down('Control');
		await page.mouse.wheel(0, 150);
		await page.keyboard.up('Control');
		await percent('61 %');
		await squareShown(page, 'smaller by the wheel', { x: 50 - 50 * small, y: 0, width: first.width * small });
		assert.equal(await page.locator('[data-position]').textContent(), '1 / 5', 'nothing of it scrolls');
		await tool('Scroll');
		await drag(0, 50);
		await shows(page, grey(stack[2], 40, 400), 'two slices on');
		await page.keyboard.press('r');
		await page.keyboard.press('Home');
		await squareShown(page, 'as at first once more', first);
		const devtools = await page.context().newCDPSession(page);
		const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', ...across: number[]) =>
			devtools.send('Input.dispatchTouchEvent', { type, touchPoints: across.map((dx, id) => ({ x: x + dx, y, id })) });
		await touch('touchStart', -40, 40);
		await touch('touchMove', -60, 60);
		await percent('150 %');
		await squareShown(page, 'larger by two fingers', { ...first, width: 1.5 * first.width });
		await touch('touchMove', -30, 90);
		await squareShown(page, 'moved by two fingers', { x: first.x + 30, y: first.y, width: 1.5 * first.width });
		await touch('touchEnd');
		await percent('150 %');
		await devtools.detach();
	});

	test('play as a film at the chosen rate, from the end to the beginning again, until they are stopped', async () => {
		const page = of();
		await goTo(page, series(3), 'US · axial');
		await eventually(async () => (await page.locator('[data-position]').textContent()) === '1 / 6', 'the first of six frames');
		assert.equal(await page.getByLabel('Images a second').inputValue(), '20', 'the rate that the film states');
		await page.evaluate(`(() => {
			const place = document.querySelector('[data-position]');
			window.played = [];
			new MutationObserver(() => window.played.push(parseInt(place.textContent))).observe(place, { subtree: true, characterData: true, childList: true });
		})()`);
		const played = async () => {
			const seen = (await page.evaluate('window.played')) as number[];
			return seen.filter((number, at) => number !== seen[at - 1]);
		};
		await page.getByLabel('Images a second').fill('40');
		await page.getByRole('heading', { level: 1 }).focus();
		await page.keyboard.press('Space');
		await page.getByRole('button', { name: 'Stop' }).waitFor();
		await eventually(async () => (await played()).length >= 8, 'more than one round');
		assert.deepEqual((await played()).slice(0, 8), [2, 3, 4, 5, 6, 1, 2, 3]);
		await page.keyboard.press('Space');
		await page.getByRole('button', { name: 'Play' }).waitFor();
		const at = Number.parseInt((await page.locator('[data-position]').textContent()) ?? '', 10);
		const tone = Math.round((255 * (at - 1)) / 5);
		await shows(page, [tone, tone, tone], `frame ${at}, where it was stopped`);
	});
}
