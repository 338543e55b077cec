import { useState } from 'preact/hooks';
import type { ClientRecord } from '#administration/clients.ts';
import type { FieldGroup } from '../../components/form.tsx';
import { Form, text, type Values } from '../../components/form.tsx';
import { announce } from '../../components/toast.tsx';
import { capitalized } from '../../format.ts';
import { pageOf } from '../../pages.ts';
import { useSites } from '../../scope.ts';
import { matchClient } from './calls.ts';

type Verdict = Awaited<ReturnType<typeof matchClient>>;

const groups: readonly FieldGroup[] = [
	{
		fields: [
			{ kind: 'text', name: 'address', label: 'Address of the sender', required: true, code: true, placeholder: '192.0.2.10' },
			{ kind: 'text', name: 'sending_application', label: 'MSH-3', code: true, half: true },
			{ kind: 'text', name: 'sending_facility', label: 'MSH-4', code: true, half: true },
			{
				kind: 'text',
				name: 'called_ae',
				label: 'Called AE',
				code: true,
				half: true,
				hint: 'Fill this in to test a DICOM association.',
			},
			{ kind: 'text', name: 'calling_ae', label: 'Calling AE', code: true, half: true },
		],
	},
];

/** Asks the service which client a sender would match now. */
export function SenderTest({ client }: { client?: ClientRecord }) {
	const sites = useSites();
	const [verdict, setVerdict] = useState<Verdict>();
	const dicom = client?.protocols.includes('dicom') === true && !client.protocols.includes('hl7-mllp');
	const first = client?.allowed_ips[0];
	const initial: Values = {
		address: first === undefined || /[/*]/.test(first) ? '' : first,
		sending_application: dicom ? '' : (client?.sending_application ?? ''),
		sending_facility: dicom ? '' : (client?.sending_facility ?? ''),
		called_ae: dicom ? (sites.find(({ slug }) => slug === client.site)?.ae_title ?? '') : '',
		calling_ae: dicom ? (client.calling_ae ?? '') : '',
	};
	const ask = async (values: Values) => {
		setVerdict(undefined);
		const stated = Object.fromEntries(
			['sending_application', 'sending_facility', 'called_ae', 'calling_ae']
				.map((name) => [name, text(values, name)])
				.filter(([, value]) => value !== ''),
		);
		const answer = await matchClient({ address: text(values, 'address'), ...stated });
		setVerdict(answer);
		announce(answer.reason);
	};
	return (
		<Form groups={groups} initial={initial} action="Test" onSubmit={ask} asksOnly>
			{() => verdict && <Answered verdict={verdict} />}
		</Form>
	);
}

function Answered({ verdict: { outcome, site, client, reason } }: { verdict: Verdict }) {
	const sentence = `${capitalized(reason)}.`;
	if (outcome !== 'match') {
		return (
			<div class="verdict">
				<strong>No, it would be refused</strong>
				<p>{sentence}</p>
			</div>
		);
	}
	return (
		<div class="verdict good">
			<strong>
				Yes: site {site}
				{client && (
					<>
						, client <a href={pageOf('client', { id: client.id })}>{client.name}</a>
					</>
				)}
			</strong>
			<p>{sentence}</p>
		</div>
	);
}
