import type { ShownSite } from '#administration/sites.ts';
import { type Holder, useSettings } from '../settings.ts';
import { Facts } from './page.tsx';

const origins: Readonly<Record<string, string>> = {
	site: 'set for the site',
	client: 'set here',
	key: 'set here',
	default: 'the default',
	host: 'assumed: the zone of the host',
};

/** The values of the settings that hold for a site or a sender, and where they come from. */
export function InForce({ holder, settings }: { holder: Holder; settings: ShownSite['settings'] }) {
	const those = useSettings(holder);
	return (
		<Facts
			facts={those.map(({ name, label }) => {
				const { value = null, from = 'default' } = settings[name] ?? {};
				const text = Array.isArray(value) ? value.join(', ') : value === null ? '' : String(value);
				return [
					label,
					<span key={name}>
						{text === '' ? <span class="muted">–</span> : <code>{text}</code>}{' '}
						<span class="muted">{holder === 'site' && from === 'site' ? 'set here' : origins[from]}</span>
					</span>,
				];
			})}
		/>
	);
}
