import { useEffect, useState } from 'preact/hooks';
import { useAnswer } from '../answers.ts';
import { Dialog } from '../components/dialog.tsx';
import { Problem } from '../components/problem.tsx';
import { SearchInput } from '../components/search.tsx';
import { moveRow } from '../keyboard.ts';
import { pageOf } from '../pages.ts';
import { scoped } from '../scope.ts';
import { screens } from '../screens.tsx';
import { includes, type SignedInUser } from '../session.ts';
import { type Found, findThings } from './calls.ts';

const pages: Readonly<Record<Found['kind'], (thing: Found) => string>> = {
	site: ({ id }) => pageOf('site', { slug: id }),
	client: ({ id }) => pageOf('client', { id }),
	key: ({ site }) => `/keys?${new URLSearchParams({ site })}`,
	message: ({ id }) => pageOf('message', { id }),
	patient: ({ site, id }) => pageOf('patient', { site, id }),
	study: ({ site, id }) => pageOf('study', { site, id }),
};

const typingMs = 250;

/** Jumps to a screen, or to what an id belongs to. What is typed stays in the page. */
export function Find({ user, onClose }: { user: SignedInUser; onClose(): void }) {
	const [typed, setTyped] = useState('');
	const [text, setText] = useState('');
	useEffect(() => {
		const timer = setTimeout(() => setText(typed.trim()), typingMs);
		return () => clearTimeout(timer);
	}, [typed]);
	const found = useAnswer(text.length < 2 ? undefined : (signal) => findThings({ text }, signal), [text]);
	const things = text.length < 2 ? [] : (found.data ?? []);
	const small = typed.trim().toLowerCase();
	const places =
		small === ''
			? []
			: screens.filter((screen) => isPlace(screen.path) && includes(user.role, screen.role) && screen.title.toLowerCase().includes(small));
	const isNothing =
		small.length >= 2 && text.toLowerCase() === small && !found.loading && !found.failure && things.length + places.length === 0;
	return (
		<Dialog title="Find" onClose={onClose}>
			<form
				class="find"
				onSubmit={(event) => {
					event.preventDefault();
					event.currentTarget.querySelector<HTMLElement>('[data-row-link]')?.click();
				}}
				onKeyDown={(event) => {
					if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
					if (moveRow(event.key === 'ArrowDown' ? 1 : -1)) event.preventDefault();
				}}
			>
				<SearchInput
					bare
					label="Find by id or name"
					value={typed}
					onValue={setTyped}
					placeholder="Patient number, control id, accession, UID, client, site, key, screen"
				/>
				<ul class="find-results" aria-busy={found.loading && text.length >= 2}>
					{places.map((screen) => (
						<Line key={screen.path} href={scoped(screen.path)} title={screen.title} detail="screen" onClose={onClose} />
					))}
					{things.map((thing) => (
						<Line
							key={`${thing.kind} ${thing.site} ${thing.id} ${thing.detail}`}
							href={pages[thing.kind](thing)}
							title={thing.title}
							detail={`${thing.detail} · ${thing.site}`}
							onClose={onClose}
						/>
					))}
				</ul>
				{found.failure && text.length >= 2 && <Problem failure={found.failure} onRetry={found.reload} />}
				{isNothing && <p class="muted">Nothing was found that begins like this.</p>}
			</form>
		</Dialog>
	);
}

/** A screen of one thing has no place without it. */
const isPlace = (path: string) => !path.includes(':');

function Line({ href, title, detail, onClose }: { href: string; title: string; detail: string; onClose(): void }) {
	return (
		<li data-row>
			<a data-row-link href={href} onClick={() => requestAnimationFrame(onClose)}>
				<span>{title}</span> <span class="sub">{detail}</span>
			</a>
		</li>
	);
}
