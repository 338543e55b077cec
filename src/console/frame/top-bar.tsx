import { useState } from 'preact/hooks';
import { asFailure } from '../answers.ts';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { Icon } from '../components/icon.tsx';
import { say } from '../components/toast.tsx';
import { setSiteScope, useSiteScope, useSites } from '../scope.ts';
import { PasswordDialog } from '../screens/sign-in/change-password.tsx';
import { SecondFactorDialog } from '../screens/sign-in/second-factor.tsx';
import { type SignedInUser, signOut } from '../session.ts';
import { useStore } from '../store.ts';
import { type Theme, theme } from '../theme.ts';

export interface TopBarProps {
	user: SignedInUser;
	/** True if the screen follows the chosen site. */
	bySite: boolean;
	menu: boolean;
	onMenu(): void;
	onHelp(): void;
	onFind(): void;
}

export function TopBar({ user, bySite, menu, onMenu, onHelp, onFind }: TopBarProps) {
	return (
		<header class="top">
			<button type="button" class="button quiet compact menu-button" aria-expanded={menu} aria-controls="navigation" onClick={onMenu}>
				<Icon name="menu" />
				<span class="visually-hidden">Menu</span>
			</button>
			{bySite && <SiteScope />}
			<div class="top-end">
				<Button kind="quiet" icon="search" compact onClick={onFind}>
					Find (Ctrl-K)
				</Button>
				<ThemeSwitch />
				<UserMenu user={user} onHelp={onHelp} />
			</div>
		</header>
	);
}

/** Narrows every list to one site. */
function SiteScope() {
	const sites = useSites();
	const scope = useSiteScope();
	const [only] = sites;
	if (sites.length === 1 && only !== undefined && scope === undefined) return <p class="only-site">{only.name}</p>;
	return (
		<label class="scope">
			<span>Site</span>
			<select value={scope ?? ''} onChange={(event) => setSiteScope(event.currentTarget.value || undefined)}>
				<option value="">All sites</option>
				{sites.map(({ slug, name }) => (
					<option key={slug} value={slug}>
						{name}
					</option>
				))}
				{scope !== undefined && !sites.some(({ slug }) => slug === scope) && <option value={scope}>{scope}</option>}
			</select>
		</label>
	);
}

const next: Record<Theme, Theme> = { auto: 'light', light: 'dark', dark: 'auto' };
const themeNames: Record<Theme, string> = { auto: 'as the system', light: 'light', dark: 'dark' };

function ThemeSwitch() {
	const current = useStore(theme);
	return (
		<Button kind="quiet" icon={current} compact onClick={() => theme.set(next[current])}>
			{`Colours: ${themeNames[current]}`}
		</Button>
	);
}

function UserMenu({ user, onHelp }: { user: SignedInUser; onHelp(): void }) {
	const [dialog, setDialog] = useState<'password' | 'factor'>();
	const choose = (action: () => void) => () => {
		document.getElementById('user-menu')?.hidePopover();
		action();
	};
	const leave = () => {
		signOut().catch((error: unknown) => say(asFailure(error).message, 'danger'));
	};
	return (
		<>
			<button type="button" class="button quiet user-button" popovertarget="user-menu" aria-label={`Account of ${user.email}`}>
				<Icon name="person" />
				<span class="user-email">{user.email}</span>
				<Icon name="down" />
			</button>
			<div id="user-menu" class="popover" popover="auto">
				<div class="popover-head">
					<strong>{user.email}</strong>
					<Badge>{user.role}</Badge>
					<p class="muted">
						{user.role === 'administrator' ? 'All sites' : user.sites.map(({ name }) => name).join(', ') || 'All sites, read only'}
					</p>
				</div>
				{!user.byProvider && (
					<>
						<button type="button" onClick={choose(() => setDialog('password'))}>
							Change password…
						</button>
						<button type="button" onClick={choose(() => setDialog('factor'))}>
							Second factor…
						</button>
					</>
				)}
				<button type="button" onClick={choose(onHelp)}>
					Keyboard shortcuts… <kbd>?</kbd>
				</button>
				<button type="button" onClick={choose(leave)}>
					Sign out
				</button>
			</div>
			{dialog === 'factor' && <SecondFactorDialog onClose={() => setDialog(undefined)} />}
			{dialog === 'password' && <PasswordDialog onClose={() => setDialog(undefined)} />}
		</>
	);
}
