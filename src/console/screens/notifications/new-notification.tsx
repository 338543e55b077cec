import { Dialog } from '../../components/dialog.tsx';
import type { FieldDescription } from '../../components/field.tsx';
import { Form, list, text, type Values } from '../../components/form.tsx';
import { siteField } from '../../components/site-field.ts';
import { say } from '../../components/toast.tsx';
import { useSites } from '../../scope.ts';
import { currentUser, may } from '../../session.ts';
import { type AddNotification, addNotification, type NewNotification } from './calls.ts';
import { alertNames, severityChoices, siteNames } from './fields.ts';

interface NewNotificationDialogProps {
	site: string | undefined;
	onClose(): void;
	onAdded(added: NewNotification): void;
}

const ways: FieldDescription = {
	kind: 'radio',
	name: 'by',
	label: 'By',
	required: true,
	options: [
		{ value: 'email', label: 'E-mail' },
		{ value: 'webhook', label: 'Webhook', hint: 'One of your systems gets a signed POST request.' },
	],
};

function whose(): FieldDescription {
	const you = { value: 'you', label: 'You', hint: 'You get the alerts of the sites that you may see.' };
	const site = { value: 'site', label: 'A site', hint: 'The alerts of one site are sent.' };
	const network = { value: 'network', label: 'The network', hint: 'All alerts are sent, including those of nodes.' };
	const options = [you, ...(may('manager') ? [site] : []), ...(may('administrator') ? [network] : [])];
	return { kind: 'radio', name: 'for', label: 'For', required: true, options };
}

const url: FieldDescription = {
	kind: 'text',
	name: 'to',
	label: 'URL',
	required: true,
	code: true,
	placeholder: 'https://…/alerts',
};
const address: FieldDescription = { kind: 'email', name: 'to', label: 'E-mail address', required: true, placeholder: 'ward@example.org' };

export function NewNotificationDialog({ site, onClose, onAdded }: NewNotificationDialogProps) {
	const sites = useSites();
	const isFor = (who: string) => (values: Values) => values['for'] === who;
	const create = async (values: Values) => {
		const [by, who] = [text(values, 'by') === 'webhook' ? ('webhook' as const) : ('email' as const), text(values, 'for')];
		const to = by === 'email' && who === 'you' ? undefined : text(values, 'to');
		const added = await addNotification({
			by,
			...(to !== undefined && { to }),
			...(who === 'site' && { site: text(values, 'site') }),
			...(who === 'network' && { network: true }),
			...(who === 'you' && { sites: list(values, 'sites') }),
			severities: list(values, 'severities') as AddNotification['severities'],
			alerts: list(values, 'alerts') as AddNotification['alerts'],
		});
		say(`${added.to} is notified from now on.`);
		onAdded(added);
	};
	return (
		<Dialog title="New notification" onClose={onClose}>
			<Form
				groups={[
					{ fields: [whose(), ways] },
					{ fields: [siteField(sites)], when: isFor('site') },
					{ fields: [url], when: (values) => values['by'] === 'webhook' },
					{ fields: [address], when: (values) => values['by'] === 'email' && values['for'] !== 'you' },
					{
						hint: `Mail goes to ${currentUser()?.email ?? 'you'}.`,
						fields: [],
						when: (values) => values['by'] === 'email' && values['for'] === 'you',
					},
					{ fields: [severityChoices, alertNames] },
					{ fields: [siteNames(sites)], when: (values) => values['for'] === 'you' && sites.length > 1 },
				]}
				initial={{ for: 'you', by: 'email', to: '', site: site ?? '', severities: ['critical', 'warning'], alerts: [], sites: [] }}
				action="Add"
				onSubmit={create}
				onCancel={onClose}
			/>
		</Dialog>
	);
}
