import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import type { FieldDescription } from '../../components/field.tsx';
import { Form, text, type Values } from '../../components/form.tsx';
import { siteField } from '../../components/site-field.ts';
import { say } from '../../components/toast.tsx';
import { useSites } from '../../scope.ts';
import { may } from '../../session.ts';
import { addHold } from './calls.ts';

/** The patient or study to keep, as far as the page knows it. */
interface Of {
	site: string;
	patient?: string;
	study?: string;
}

interface PlaceHoldProps {
	of: Of;
	onClose(): void;
	onDone(): void;
}

const kind: FieldDescription = {
	kind: 'radio',
	name: 'kind',
	label: 'Keep',
	required: true,
	options: [
		{ value: 'patient', label: 'A patient', hint: 'All studies of the patient are kept, and those that a merge brings.' },
		{ value: 'study', label: 'A study', hint: 'The study is kept, and what is split off from it.' },
	],
};
const patient: FieldDescription = {
	kind: 'text',
	name: 'patient',
	label: 'Id of the patient',
	hint: 'The page of the patient shows it under Demographics.',
	required: true,
	code: true,
};
const study: FieldDescription = { kind: 'text', name: 'study', label: 'Study Instance UID', required: true, code: true, maxLength: 64 };
const reason: FieldDescription = {
	kind: 'area',
	name: 'reason',
	label: 'Reason',
	hint: 'Name a file number, but no data of the patient: lists and the audit trail show the reason.',
	rows: 3,
	required: true,
};

/** Asks what to keep, and why. */
export function PlaceHold({ of, onClose, onDone }: PlaceHoldProps) {
	const sites = useSites();
	const isOf = (which: string) => (values: Values) => values['kind'] === which;
	const isKnown = of.patient !== undefined || of.study !== undefined;
	const place = async (values: Values) => {
		const kept = values['kind'] === 'study' ? { study: text(values, 'study') } : { patient: text(values, 'patient') };
		await addHold({ site: text(values, 'site'), ...kept, reason: text(values, 'reason') });
		say(`The ${values['kind'] === 'study' ? 'study' : 'patient'} is under a legal hold.`);
		onDone();
	};
	const named = [
		{ fields: [siteField(sites), kind] },
		{ fields: [patient], when: isOf('patient') },
		{ fields: [study], when: isOf('study') },
	];
	return (
		<Dialog
			title={isKnown ? `Place a legal hold on this ${of.study === undefined ? 'patient' : 'study'}` : 'Place a legal hold'}
			onClose={onClose}
		>
			<Form
				groups={[...(isKnown ? [] : named), { fields: [reason] }]}
				initial={{
					...{ site: of.site, patient: of.patient ?? '', study: of.study ?? '', reason: '' },
					kind: of.study === undefined ? 'patient' : 'study',
				}}
				action="Place the hold"
				onSubmit={place}
				onCancel={onClose}
			/>
		</Dialog>
	);
}

/** A button for the page of a patient or a study; nothing for people who may not place a hold. */
export function HoldButton(of: Of) {
	const [placing, setPlacing] = useState(false);
	if (!may('manager')) return null;
	return (
		<>
			<Button onClick={() => setPlacing(true)}>Legal hold…</Button>
			{placing && <PlaceHold of={of} onClose={() => setPlacing(false)} onDone={() => setPlacing(false)} />}
		</>
	);
}
