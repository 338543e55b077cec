import { navigate } from './router.ts';
import { scoped } from './scope.ts';

/** Ctrl-K everywhere, and shortcuts without a modifier outside of text fields: `/`, `?`, `j`, `k`, and `g` followed by the letter of a screen. */

interface Keys {
	/** Letter after `g` → path. */
	screens: ReadonlyMap<string, string>;
	help(): void;
	find(): void;
}

function typing(target: EventTarget | null): boolean {
	return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

/** Looks in the open dialog, or else on the page. */
function scene(): ParentNode {
	const dialogs = document.querySelectorAll('dialog[open]');
	return dialogs[dialogs.length - 1] ?? document;
}

/** Moves the focus between the rows of the list that has it, or into the first list. */
export function moveRow(step: 1 | -1): boolean {
	const rows = [...scene().querySelectorAll<HTMLElement>('[data-row]')];
	const held = rows.findIndex((row) => row.contains(document.activeElement));
	const next = rows[held === -1 ? (step === 1 ? 0 : rows.length - 1) : held + step];
	if (next === undefined) return false;
	(next.querySelector<HTMLElement>('[data-row-link]') ?? next).focus();
	next.scrollIntoView({ block: 'nearest' });
	return true;
}

/** Follows the link to the next or the previous one, on the page of one thing of several. */
function step(direction: 'next' | 'previous'): boolean {
	const link = scene().querySelector<HTMLElement>(`[data-step=${direction}]`);
	link?.click();
	return link !== null;
}

export function startKeyboard(keys: Keys): void {
	let went = Number.NEGATIVE_INFINITY;
	document.addEventListener('keydown', (event) => {
		if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === 'k' && scene() === document) {
			event.preventDefault();
			keys.find();
			return;
		}
		if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
		if (event.key === 'Escape' && event.target instanceof HTMLInputElement && event.target.type === 'search') {
			event.target.blur();
			return;
		}
		if (typing(event.target)) return;
		const path = event.timeStamp - went < 1500 ? keys.screens.get(event.key) : undefined;
		went = Number.NEGATIVE_INFINITY;
		if (path !== undefined && scene() === document) navigate(scoped(path));
		else if (event.key === 'g') went = event.timeStamp;
		else if (event.key === 'j' || event.key === 'k') {
			if (!moveRow(event.key === 'j' ? 1 : -1) && !step(event.key === 'j' ? 'next' : 'previous')) return;
		} else if (event.key === '/') {
			const search = scene().querySelector<HTMLInputElement>('input[type=search]');
			if (search === null) return;
			search.focus();
			search.select();
		} else if (event.key === '?' && scene() === document) keys.help();
		else return;
		event.preventDefault();
	});
}
