import { createStore } from './store.ts';
import { apply, theme } from './theme.ts';

/** The ground that the page is painted on. Whatever draws by itself, on a canvas, draws anew when it changes. */
export const painting = createStore<'light' | 'dark' | 'paper'>('light');

/** Follows the theme. Paper is light whatever the screen is. */
export function startPainting(): void {
	const dark = matchMedia('(prefers-color-scheme: dark)');
	const onScreen = () => {
		const chosen = theme.get();
		painting.set(chosen === 'auto' ? (dark.matches ? 'dark' : 'light') : chosen);
	};
	onScreen();
	theme.subscribe(onScreen);
	dark.addEventListener('change', onScreen);
	addEventListener('beforeprint', () => {
		apply('light');
		painting.set('paper');
	});
	addEventListener('afterprint', () => {
		apply(theme.get());
		onScreen();
	});
}
