import { useAnswer } from '../../answers.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Loading } from '../../components/empty.tsx';
import type { FieldDescription } from '../../components/field.tsx';
import { type FieldGroup, Form, list, text, type Values } from '../../components/form.tsx';
import { siteField } from '../../components/site-field.ts';
import { useSites } from '../../scope.ts';
import { currentUser } from '../../session.ts';
import { addIssuer, type IssuerRecord, listOwners, setIssuer } from './calls.ts';

const tokens: readonly FieldDescription[] = [
	{
		kind: 'text',
		name: 'issuer',
		label: 'Issuer',
		required: true,
		code: true,
		maxLength: 1000,
		hint: 'This is the claim iss of the tokens, exactly as they state it: the URL of the provider.',
	},
	{
		kind: 'text',
		name: 'audience',
		label: 'Audience',
		required: true,
		code: true,
		maxLength: 500,
		hint: 'This is the value of the claim aud that stands for this service.',
	},
	{
		kind: 'list',
		name: 'clients',
		label: 'Clients',
		required: true,
		code: true,
		placeholder: 'research-export',
		hint: 'Tokens of the clients with these ids are accepted; press Enter after each.',
		check: (part) => (part.length <= 500 ? undefined : `${part} is too long.`),
	},
];

const further: readonly (readonly [name: string, label: string, hint: string])[] = [
	[
		'jwks_url',
		'Keys',
		'The keys of the provider are read from this URL. If it is empty, the metadata of the provider says where they are.',
	],
	['token_endpoint', 'Token endpoint', 'Clients get their tokens at this URL. If it is empty, the metadata of the provider says where.'],
	['client_claim', 'Claim of the client', 'If it is empty, client_id, azp or appid is read.'],
	['scope_claim', 'Claim of the scopes', 'If it is empty, scope or scp is read.'],
	['site_claim', 'Claim of the site', 'If the provider serves several sites, tokens for this site must have this claim.'],
	['site_value', 'Value of that claim', ''],
];

const provider: FieldGroup = {
	title: 'Provider',
	hint: 'Most providers need none of these.',
	fields: further.map(
		([name, label, hint]): FieldDescription => ({
			...{ kind: 'text', name, label, code: true, half: true, maxLength: 1000 },
			...(hint === '' ? {} : { hint }),
		}),
	),
};

function initialOf(of: IssuerRecord | undefined, site: string): Values {
	const owner = of?.owner ?? currentUser()?.email ?? '';
	const stated = { issuer: of?.issuer ?? '', audience: of?.audience ?? '', clients: of?.clients ?? [] };
	const rest = Object.fromEntries(further.map(([name]) => [name, String((of as Record<string, unknown> | undefined)?.[name] ?? '')]));
	return { site, owner, label: of?.label ?? '', ...stated, ...rest };
}

function sent(values: Values) {
	const members = ['owner', 'label', 'issuer', 'audience', 'jwks_url', 'token_endpoint'] as const;
	const claims = ['client_claim', 'scope_claim', 'site_claim', 'site_value'] as const;
	const texts = Object.fromEntries([...members, ...claims].map((name) => [name, text(values, name)]));
	return { ...(texts as Record<(typeof members)[number] | (typeof claims)[number], string>), clients: list(values, 'clients') };
}

/** Adds an issuer, or changes one. */
export function EditIssuer({
	of,
	site,
	onClose,
	onSaved,
}: {
	of: IssuerRecord | undefined;
	site: string | undefined;
	onClose(): void;
	onSaved(issuer: IssuerRecord): void;
}) {
	const sites = useSites().filter(({ active }) => active);
	const owners = useAnswer((signal) => listOwners({}, signal), []);
	const start = initialOf(of, of?.site ?? site ?? (sites.length === 1 ? (sites[0]?.slug ?? '') : ''));
	const active = (owners.data ?? []).filter((owner) => owner.active).map((owner) => owner.email);
	const options = [...new Set([text(start, 'owner'), ...active])];
	const who: FieldGroup = {
		fields: [
			...(of === undefined ? [{ ...siteField(sites), half: true } as FieldDescription] : []),
			{
				kind: 'select',
				name: 'owner',
				label: 'Owner',
				required: true,
				half: true,
				hint: 'If the owner is disabled, the tokens are refused.',
				options: options.map((owner) => ({ value: owner, label: owner })),
			},
			{ kind: 'text', name: 'label', label: 'Label', maxLength: 200, placeholder: 'Hospital sign-on' },
			...tokens,
		],
	};
	return (
		<Dialog title={of === undefined ? 'New token issuer' : `Change ${of.label || of.issuer}`} onClose={onClose}>
			{owners.loading ? (
				<Loading lines={3} />
			) : (
				<Form
					groups={[who, provider]}
					initial={start}
					action={of === undefined ? 'Add issuer' : 'Save'}
					onCancel={onClose}
					onSubmit={async (values) =>
						onSaved(
							of === undefined
								? await addIssuer({ site: text(values, 'site'), ...sent(values) })
								: await setIssuer({ id: of.id, ...sent(values) }),
						)
					}
				/>
			)}
		</Dialog>
	);
}
