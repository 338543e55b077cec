import { Button } from '../components/button.tsx';
import { Icon, Mark } from '../components/icon.tsx';
import { scoped } from '../scope.ts';
import { groups } from '../screen.ts';
import { screens } from '../screens.tsx';
import { includes, type SignedInUser } from '../session.ts';

/** Feeds are the first screen, and have their pages below an address of their own. */
const below: Readonly<Record<string, string>> = { '/': '/feeds/' };

function isWithin(path: string, screen: string): boolean {
	return path === screen || path.startsWith(below[screen] ?? `${screen}/`);
}

export function Navigation({ user, path, onClose }: { user: SignedInUser; path: string; onClose(): void }) {
	const visible = screens.filter(({ role }) => includes(user.role, role));
	return (
		<nav
			class="side"
			id="navigation"
			aria-label="Screens"
			onKeyDown={(event) => {
				if (event.key === 'Escape') onClose();
			}}
		>
			<div class="brand">
				<a href="/">
					<Mark />
					Tributary
				</a>
				<Button kind="quiet" icon="close" compact onClick={onClose}>
					Close the menu
				</Button>
			</div>
			{groups.map((group) => {
				const shown = visible.filter((screen) => screen.group === group);
				if (shown.length === 0) return null;
				return (
					<section key={group} aria-label={group}>
						<h2>{group}</h2>
						<ul>
							{shown.map((screen) => (
								<li key={screen.path}>
									<a href={scoped(screen.path)} aria-current={isWithin(path, screen.path) ? 'page' : undefined}>
										{screen.icon && <Icon name={screen.icon} />}
										{screen.title}
									</a>
								</li>
							))}
						</ul>
					</section>
				);
			})}
		</nav>
	);
}
