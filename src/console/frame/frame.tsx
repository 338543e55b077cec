import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { asFailure } from '../answers.ts';
import { Confirm } from '../components/confirm.tsx';
import { Empty } from '../components/empty.tsx';
import { Page } from '../components/page.tsx';
import { announce } from '../components/toast.tsx';
import { zoneName, zoneOffset } from '../format.ts';
import { startKeyboard } from '../keyboard.ts';
import { type Left, returnTo } from '../return.ts';
import { match, navigate, place, usePlace } from '../router.ts';
import { refreshSites, sites } from '../scope.ts';
import type { Screen, ScreenProps } from '../screen.ts';
import { screens } from '../screens.tsx';
import { includes, type SignedInUser } from '../session.ts';
import { refreshSettings } from '../settings.ts';
import { memoryOf, useStore } from '../store.ts';
import { leaving } from '../unsaved.ts';
import { Boundary } from './boundary.tsx';
import { Find } from './find.tsx';
import { Navigation } from './navigation.tsx';
import { Shortcuts } from './shortcuts.tsx';
import { TopBar } from './top-bar.tsx';

function screenOf(path: string): { screen: Screen; parameters: ScreenProps['parameters'] } | undefined {
	for (const screen of screens) {
		const parameters = match(screen.path, path);
		if (parameters !== undefined) return { screen, parameters };
	}
	return undefined;
}

/** The page of a signed-in user: navigation, top bar and one screen. */
export function Frame({ user }: { user: SignedInUser }) {
	const { path, entry } = usePlace();
	const [menu, setMenu] = useState(false);
	const [help, setHelp] = useState(false);
	const [find, setFind] = useState(false);
	const found = screenOf(path);
	const title = found?.screen.title ?? 'Not found';
	useEffect(() => {
		const keys = screens.filter(({ key, role }) => key !== undefined && includes(user.role, role));
		return startKeyboard({
			screens: new Map(keys.map((screen) => [screen.key ?? '', screen.path])),
			help: () => setHelp(true),
			find: () => setFind(true),
		});
	}, []);
	useEffect(() => {
		Promise.all([refreshSites(), refreshSettings()])
			.then(() => leadNewcomer(user))
			.catch((error: unknown) => announce(asFailure(error).message));
	}, []);
	useArrival(entry, title);
	useEffect(() => setMenu(false), [path]);
	return (
		<>
			<a class="skip" href="#main">
				Skip to content
			</a>
			<div class={menu ? 'frame menu-open' : 'frame'}>
				<Navigation user={user} path={path} onClose={() => setMenu(false)} />
				<TopBar
					user={user}
					bySite={found?.screen.bySite === true}
					menu={menu}
					onMenu={() => setMenu(!menu)}
					onHelp={() => setHelp(true)}
					onFind={() => setFind(true)}
				/>
				<main id="main" tabIndex={-1}>
					<Boundary key={entry}>{found === undefined ? <NotFound /> : <Shown {...found} user={user} />}</Boundary>
					<p class="zone-note">
						Times are in {zoneName()}, now {zoneOffset(new Date())}.
					</p>
				</main>
			</div>
			<LeaveQuestion />
			{find && <Find user={user} onClose={() => setFind(false)} />}
			{help && <Shortcuts user={user} onClose={() => setHelp(false)} />}
		</>
	);
}

/** A console without any site has nothing to show, so it opens with the first steps. */
function leadNewcomer(user: SignedInUser): void {
	if (sites.get().length === 0 && includes(user.role, 'administrator') && place.get().path === '/') navigate('/first-steps');
}

function Shown({ screen, parameters, user }: { screen: Screen; parameters: ScreenProps['parameters']; user: SignedInUser }) {
	if (includes(user.role, screen.role)) return <screen.component parameters={parameters} />;
	return (
		<Page title={screen.title}>
			<Empty icon="keys" title="Not permitted">
				<p>
					This screen is for the role {screen.role}; yours is {user.role}. An administrator can change that.
				</p>
			</Empty>
		</Page>
	);
}

function NotFound() {
	return (
		<Page title="Not found">
			<Empty icon="search" title="There is no such page">
				<p>
					It may have been removed, or you may not have access to its site. <a href="/">Go to the feeds.</a>
				</p>
			</Empty>
		</Page>
	);
}

/** After navigation, the screen starts at its top with the focus on its heading. Back returns to the place that was left. */
function useArrival(entry: string, title: string): void {
	const before = useRef<string>(undefined);
	useLayoutEffect(() => {
		document.title = `${title} · Tributary`;
	}, [title]);
	useLayoutEffect(() => {
		const arriving = before.current !== undefined && before.current !== entry;
		before.current = entry;
		// A page that has just been opened starts at its top anyway.
		if (!arriving) return;
		scrollTo(0, 0);
		document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
		const left = memoryOf(entry).get('left') as Left | undefined;
		return left && returnTo(left);
	}, [entry]);
}

/** Asks before edits are lost that were not saved. */
function LeaveQuestion() {
	const leave = useStore(leaving);
	if (leave === undefined) return null;
	return (
		<Confirm title="Leave without saving?" action="Leave" danger onConfirm={async () => leave()} onClose={() => leaving.set(undefined)}>
			<p>You have changed values on this page that are not saved. If you leave, they are lost.</p>
		</Confirm>
	);
}
