import { Dialog } from '../../components/dialog.tsx';
import { Form, text } from '../../components/form.tsx';
import { type KeyRecord, type RotatedKey, rotateKey } from './calls.ts';
import { expires } from './fields.ts';

const overlaps = [
	{ value: '0m', label: 'None: the old key ends now' },
	{ value: '1d', label: 'One day' },
	{ value: '7d', label: 'One week' },
	{ value: '30d', label: '30 days' },
];

/** Gives a key a successor with the same owner, site, scopes and settings. */
export function RotateKey({ of, onClose, onRotated }: { of: KeyRecord; onClose(): void; onRotated(key: RotatedKey): void }) {
	return (
		<Dialog title={`Rotate ${of.label || of.prefix}`} onClose={onClose}>
			<p class="prose">The new key may do what the old one may. The old key stays valid for a while, so that nothing stops in between.</p>
			<Form
				groups={[
					{
						fields: [
							{ kind: 'select', name: 'overlap', label: 'Both are valid for', required: true, half: true, options: overlaps },
							{
								...expires,
								label: 'The new key ends',
								half: true,
								hint: 'If it is empty, the new key gets the same lifetime as the old one.',
							},
						],
					},
				]}
				initial={{ overlap: '7d', expires: '' }}
				action="Rotate key"
				onCancel={onClose}
				onSubmit={async (values) => {
					const end = text(values, 'expires');
					onRotated(await rotateKey({ id: of.id, overlap: text(values, 'overlap'), ...(end !== '' && { expires: end }) }));
				}}
			/>
		</Dialog>
	);
}
