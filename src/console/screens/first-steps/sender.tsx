import { useState } from 'preact/hooks';
import type { SiteRecord } from '#administration/sites.ts';
import { Button } from '../../components/button.tsx';
import type { FieldDescription } from '../../components/field.tsx';
import { Form, list, text, type Values } from '../../components/form.tsx';
import { pageFact } from '../../page-facts.ts';
import { pageOf } from '../../pages.ts';
import { currentUser } from '../../session.ts';
import { addClient } from '../clients/calls.ts';
import { useOverlap } from '../clients/overlap.tsx';
import { createKey } from '../keys/calls.ts';
import { nameSite } from './calls.ts';
import { dicomLine, httpLine, mllpLine, type Place } from './lines.ts';

/** A sender that may send now, and the line that sends as this sender. */
export interface Sender {
	name: string;
	/** Its page; a key has none. */
	href: string | undefined;
	sends: 'messages' | 'images';
	line: string;
	/** Text that is shown only once, such as a key. */
	secret?: string;
	/** Messages that came before this do not count. */
	sinceMs: number;
}

type Way = 'mllp' | 'http' | 'dicom';

const ways: readonly { way: Way; title: string; hint: string; port: 'mllp-port' | 'hl7-port' | 'dimse-port' }[] = [
	{ way: 'mllp', title: 'HL7 v2 over MLLP', hint: 'A hospital information system or a laboratory', port: 'mllp-port' },
	{ way: 'http', title: 'HL7 v2 over HTTP', hint: 'An interface engine, or a first try with curl', port: 'hl7-port' },
	{ way: 'dicom', title: 'DICOM', hint: 'A modality or a PACS', port: 'dimse-port' },
];

/** Asks what will send, and lets it. */
export function FirstSender({ site, onSender }: { site: SiteRecord; onSender(sender: Sender): void }) {
	const [way, setWay] = useState<Way>();
	const { carryOut, question } = useOverlap();
	if (way === undefined) {
		return (
			<>
				<p>What sends first?</p>
				<div class="choice">
					{ways
						.filter(({ port }) => pageFact(port) !== '')
						.map((each) => (
							<Button key={each.way} onClick={() => setWay(each.way)}>
								<span>
									{each.title}
									<span class="sub">{each.hint}</span>
								</span>
							</Button>
						))}
				</div>
			</>
		);
	}
	const place = (port: 'mllp-port' | 'hl7-port' | 'dimse-port'): Place => ({ host: location.hostname, port: pageFact(port) });
	const create = (values: Values) =>
		carryOut(async (confirmed) => {
			const sinceMs = Date.now();
			if (way === 'http') {
				const created = await createKey({ site: site.slug, owner: currentUser()?.email ?? '', label: text(values, 'name') });
				const line = httpLine(place('hl7-port'), created.key);
				return onSender({ name: created.label || created.id, href: undefined, sends: 'messages', line, secret: created.key, sinceMs });
			}
			const named = { site: site.slug, name: text(values, 'name'), allowed_ips: list(values, 'allowed_ips'), ...confirmed };
			if (way === 'mllp') {
				const client = await addClient({ ...named, protocols: ['hl7-mllp'] });
				return onSender({
					name: client.name,
					href: pageOf('client', { id: client.id }),
					sends: 'messages',
					line: mllpLine(place('mllp-port')),
					sinceMs,
				});
			}
			const called = site.ae_title ?? text(values, 'ae_title');
			if (site.ae_title === null) await nameSite({ slug: site.slug, ae_title: called });
			const calling = text(values, 'calling_ae');
			const client = await addClient({ ...named, protocols: ['dicom'], calling_ae: calling });
			const line = dicomLine(place('dimse-port'), called, calling);
			return onSender({ name: client.name, href: pageOf('client', { id: client.id }), sends: 'images', line, sinceMs });
		});
	return (
		<>
			<Form
				key={way}
				groups={[{ fields: fieldsOf(way, site) }]}
				initial={{ name: '', allowed_ips: isLoopback() ? ['127.0.0.1'] : [], calling_ae: 'CT01', ae_title: '' }}
				action={way === 'http' ? 'Create key' : 'Let it send'}
				onCancel={() => setWay(undefined)}
				onSubmit={create}
			/>
			{question}
		</>
	);
}

/** A console that is open on the machine of the service is tried from there. */
function isLoopback(): boolean {
	return location.hostname === 'localhost' || location.hostname === '127.0.0.1';
}

function fieldsOf(way: Way, site: SiteRecord): FieldDescription[] {
	const name: FieldDescription = {
		kind: 'text',
		name: 'name',
		label: 'Name',
		required: true,
		half: true,
		maxLength: 200,
		placeholder: way === 'dicom' ? 'CT scanner' : way === 'mllp' ? 'Laboratory' : 'First try',
	};
	if (way === 'http') return [{ ...name, hint: 'Name the system that will use the key.' }];
	const addresses: FieldDescription = {
		kind: 'list',
		name: 'allowed_ips',
		label: 'Address',
		required: true,
		half: true,
		code: true,
		placeholder: '192.0.2.10',
		hint: 'It sends from this address; press Enter after it. 127.0.0.1 is the machine of the service itself.',
	};
	if (way === 'mllp') return [name, addresses];
	const ae = (field: string, label: string, hint: string): FieldDescription => ({
		...{ kind: 'text', name: field, label, hint, required: true, half: true, code: true, maxLength: 16 },
	});
	return [
		name,
		addresses,
		ae('calling_ae', 'AE title of the sender', 'The modality calls itself by this AE title.'),
		...(site.ae_title === null
			? [ae('ae_title', 'AE title of the site', 'The modality has to call this AE title: capital letters and digits.')]
			: []),
	];
}
