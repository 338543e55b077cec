import { useAnswer } from '../../answers.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Loading } from '../../components/empty.tsx';
import { Form, list, text } from '../../components/form.tsx';
import { siteField } from '../../components/site-field.ts';
import { ShownOnce, ToCopy } from '../../components/to-copy.tsx';
import { pageFact } from '../../page-facts.ts';
import { useSites } from '../../scope.ts';
import { currentUser } from '../../session.ts';
import { type CreatedKey, createKey, listOwners } from './calls.ts';
import { expires, scopes } from './fields.ts';

export function NewKey({ site, onClose, onCreated }: { site: string | undefined; onClose(): void; onCreated(key: CreatedKey): void }) {
	const sites = useSites().filter(({ active }) => active);
	const owners = useAnswer((signal) => listOwners({}, signal), []);
	const email = currentUser()?.email ?? '';
	const active = (owners.data ?? []).filter((owner) => owner.active).map((owner) => owner.email);
	const options = active.includes(email) ? active : [email, ...active];
	return (
		<Dialog title="New API key" onClose={onClose}>
			{owners.loading ? (
				<Loading lines={3} />
			) : (
				<Form
					groups={[
						{
							fields: [
								{ ...siteField(sites), half: true },
								{
									kind: 'select',
									name: 'owner',
									label: 'Owner',
									required: true,
									half: true,
									hint: 'If the owner is disabled, the key stops working.',
									options: options.map((owner) => ({ value: owner, label: owner })),
								},
								{
									kind: 'text',
									name: 'label',
									label: 'Label',
									maxLength: 200,
									placeholder: 'Viewer of the emergency department',
									hint: 'Name the system that uses the key, so that you know later what stops if you revoke it.',
								},
								scopes,
								expires,
							],
						},
					]}
					initial={{ site: site ?? (sites.length === 1 ? (sites[0]?.slug ?? '') : ''), owner: email, label: '', scopes: [], expires: '' }}
					action="Create key"
					onCancel={onClose}
					onSubmit={async (values) => {
						const end = text(values, 'expires');
						const limits = list(values, 'scopes') as NonNullable<CreatedKey['scopes']>;
						const named = { site: text(values, 'site'), owner: text(values, 'owner'), label: text(values, 'label') };
						onCreated(await createKey({ ...named, ...(end !== '' && { expires: end }), ...(limits.length > 0 && { scopes: limits }) }));
					}}
				/>
			)}
		</Dialog>
	);
}

/** Shows the key, which is possible only once. */
export function Secret({ created, onClose }: { created: CreatedKey; onClose(): void }) {
	const port = pageFact('fhir-port');
	const curl = `curl -H 'X-API-Key: ${created.key}' '${location.protocol}//${location.hostname}:${port}/fhir/Patient?_count=5'`;
	return (
		<Dialog title="Your new API key" onClose={onClose}>
			<p class="note warning">Copy the key now. It is shown only once, and nobody can look it up later.</p>
			<ShownOnce title={`Key for ${created.site}`} text={created.key} copy="Copy key" />
			<ToCopy title="Try it" text={curl} copy="Copy command">
				<p class="hint">
					This reads patients of the site through FHIR. If the service is behind a proxy, use the host and port of the proxy.
				</p>
			</ToCopy>
			<div class="actions">
				<Button kind="primary" onClick={onClose}>
					I have copied it
				</Button>
			</div>
		</Dialog>
	);
}
