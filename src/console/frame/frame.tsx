import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { asFailure } from '../answers.ts';
import { Empty } from '../components/empty.tsx';
import { Page } from '../components/page.tsx';
import { announce } from '../components/toast.tsx';
import { startKeyboard } from '../keyboard.ts';
import { match, usePlace } from '../router.ts';
import { refreshSites } from '../scope.ts';
import type { Screen, ScreenProps } from '../screen.ts';
import { screens } from '../screens.tsx';
import { includes, type SignedInUser } from '../session.ts';
import { refreshSettings } from '../settings.ts';
import { Boundary } from './boundary.tsx';
import { Navigation } from './navigation.tsx';
import { Shortcuts } from './shortcuts.tsx';
import { TopBar } from './top-bar.tsx';

function find(path: string): { screen: Screen; parameters: ScreenProps['parameters'] } | undefined {
	for (const screen of screens) {
		const parameters = match(screen.path, path);
		if (parameters !== undefined) return { screen, parameters };
	}
	return undefined;
}

/** The page of a signed-in user: navigation, top bar and one screen. */
export function Frame({ user }: { user: SignedInUser }) {
	const { path } = usePlace();
	const [menu, setMenu] = useState(false);
	const [help, setHelp] = useState(false);
	const found = find(path);
	const title = found?.screen.title ?? 'Not found';
	useEffect(() => {
		const keys = screens.filter(({ key, role }) => key !== undefined && includes(user.role, role));
		return startKeyboard({ screens: new Map(keys.map((screen) => [screen.key ?? '', screen.path])), help: () => setHelp(true) });
	}, []);
	useEffect(() => {
		Promise.all([refreshSites(), refreshSettings()]).catch((error: unknown) => announce(asFailure(error).message));
	}, []);
	useArrival(path, title);
	useEffect(() => setMenu(false), [path]);
	return (
		<>
			<a class="skip" href="#main">
				Skip to content
			</a>
			<div class={menu ? 'frame menu-open' : 'frame'}>
				<Navigation user={user} path={path} onClose={() => setMenu(false)} />
				<TopBar user={user} bySite={found?.screen.bySite === true} menu={menu} onMenu={() => setMenu(!menu)} onHelp={() => setHelp(true)} />
				<main id="main" tabIndex={-1}>
					<Boundary key={path}>{found === undefined ? <NotFound /> : <Shown {...found} user={user} />}</Boundary>
				</main>
			</div>
			{help && <Shortcuts user={user} onClose={() => setHelp(false)} />}
		</>
	);
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
					It may have been removed, or you may not have access to its site. <a href="/">Go to the overview.</a>
				</p>
			</Empty>
		</Page>
	);
}

/** After navigation, the screen starts at its top with the focus on its heading. */
function useArrival(path: string, title: string): void {
	const before = useRef<string>(undefined);
	useLayoutEffect(() => {
		document.title = `${title} · Tributary`;
		const arriving = before.current !== undefined && before.current !== path;
		before.current = path;
		// A page that has just been opened starts at its top anyway.
		if (!arriving) return;
		scrollTo(0, 0);
		document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
	}, [path]);
}
