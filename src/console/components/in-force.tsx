import type { ShownSite } from '#administration/sites.ts';
import { type Holder, useSettings } from '../settings.ts';
import { Facts } from './page.tsx';

const origins: Readonly<Record<string, string>> = {
	site: 'set for the site',
	default: 'the default',
	environment: 'said by the environment',
	host: 'assumed: the zone of the host',
};

interface InForceProps {
	holder: Holder;
	settings: ShownSite['settings'];
	/** How it is said that the holder has the value itself. */
	here?: string;
	/** Leaves out what this holder may have, too. */
	without?: Holder | undefined;
}

/** The values of the settings that hold for a site or a sender, and where they come from. */
export function InForce({ holder, settings, here = 'set here', without }: InForceProps) {
	const those = useSettings(holder).filter(({ of }) => without === undefined || !of.includes(without));
	return (
		<Facts
			facts={those.map(({ name, label, otherwise }) => {
				const { value = null, from = 'default' } = settings[name] ?? {};
				const text = Array.isArray(value) ? value.join(', ') : value === null ? '' : String(value);
				return [
					label,
					<span key={name}>
						{text === '' ? <span class="muted">{from === 'environment' ? otherwise : '–'}</span> : <code>{text}</code>}{' '}
						<span class="muted">{from === holder ? here : origins[from]}</span>
					</span>,
				];
			})}
		/>
	);
}
