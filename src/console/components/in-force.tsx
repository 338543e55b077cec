import type { ShownSite } from '#administration/sites.ts';
import { type Holder, settingText, useSettings } from '../settings.ts';
import { Facts } from './page.tsx';

const origins: Readonly<Record<string, string>> = {
	site: 'set for the site',
	default: 'the default',
	environment: 'from the environment',
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

/** A value that is chosen is shown as a word, and one that is written as it was written. */
const isWord = (kind: string) => kind === 'switch' || kind === 'choice';

/** The values of the settings that hold for a site or a sender, and where they come from. */
export function InForce({ holder, settings, here = 'set here', without }: InForceProps) {
	const those = useSettings(holder).filter(({ of }) => without === undefined || !of.includes(without));
	return (
		<Facts
			facts={those.map((setting) => {
				const { name, label, kind, otherwise } = setting;
				const { value = null, from = 'default' } = settings[name] ?? {};
				const text = settingText(setting, value);
				return [
					label,
					<span key={name}>
						{text === '' ? (
							<span class="muted">{from === 'environment' ? otherwise : '–'}</span>
						) : isWord(kind) ? (
							text
						) : (
							<code>{text}</code>
						)}{' '}
						<span class="muted">{from === holder ? here : origins[from]}</span>
					</span>,
				];
			})}
		/>
	);
}
