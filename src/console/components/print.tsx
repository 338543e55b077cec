import { useEffect, useState } from 'preact/hooks';
import { localTime, zoneName } from '../format.ts';
import { useSites } from '../scope.ts';
import { session } from '../session.ts';
import { useStore } from '../store.ts';
import { Button } from './button.tsx';

/** Prints the page as it stands: the style for paper leaves out navigation and buttons. */
export function PrintButton() {
	return (
		<Button icon="print" onClick={() => print()}>
			Print
		</Button>
	);
}

/** The head of a printed page: whose it is, of which site, and who printed it when. The screen does not show it. */
export function PrintHead({ site, facts }: { site: string; facts: readonly (readonly [name: string, value: string])[] }) {
	const sites = useSites();
	const state = useStore(session);
	const [at, setAt] = useState(() => new Date());
	useEffect(() => {
		const now = () => setAt(new Date());
		addEventListener('beforeprint', now);
		return () => removeEventListener('beforeprint', now);
	}, []);
	const name = sites.find(({ slug }) => slug === site)?.name;
	const by = 'user' in state ? state.user.email : '';
	const all = [
		...facts.filter(([, value]) => value !== ''),
		['Site', name === undefined || name === site ? site : `${name} (${site})`],
		['Printed', `${localTime(at)} (${zoneName()}), by ${by}`],
	] as const;
	return (
		<dl class="print-head">
			{all.map(([title, value]) => (
				<div key={title}>
					<dt>{title}</dt>
					<dd>{value}</dd>
				</div>
			))}
		</dl>
	);
}
