import { Dialog } from '../components/dialog.tsx';
import { screens } from '../screens.tsx';
import { includes, type SignedInUser } from '../session.ts';

const everywhere: readonly (readonly [keys: readonly string[], meaning: string])[] = [
	[['Ctrl', 'K'], 'Find by id or name, or go to a screen'],
	[['/'], 'Search in the list'],
	[['j'], 'Next row'],
	[['k'], 'Previous row'],
	[['Enter'], 'Open the row'],
	[['Esc'], 'Close the dialog or leave the search'],
	[['?'], 'Show this list'],
];

export function Shortcuts({ user, onClose }: { user: SignedInUser; onClose(): void }) {
	const reachable = screens.filter(({ key, role }) => key !== undefined && includes(user.role, role));
	return (
		<Dialog title="Keyboard shortcuts" onClose={onClose}>
			<div class="shortcuts">
				<Keys title="Everywhere" keys={everywhere} />
				<Keys title="Go to" keys={reachable.map(({ key = '', title }) => [['g', key], title] as const)} />
			</div>
		</Dialog>
	);
}

function Keys({ title, keys }: { title: string; keys: typeof everywhere }) {
	return (
		<section>
			<h3>{title}</h3>
			<dl>
				{keys.map(([pressed, meaning]) => (
					<div key={meaning}>
						<dt>
							{pressed.map((key) => (
								<kbd key={key}>{key}</kbd>
							))}
						</dt>
						<dd>{meaning}</dd>
					</div>
				))}
			</dl>
		</section>
	);
}
