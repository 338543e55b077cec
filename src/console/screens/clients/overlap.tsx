import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ApiFailure } from '../../api.ts';
import { Confirm } from '../../components/confirm.tsx';

/** Is given `confirm_overlap` once the administrator has confirmed it. */
type Change = (confirmed: { confirm_overlap?: true }) => Promise<void>;

/** Carries out a change of a client. If its addresses are also those of another site's client, an administrator is asked first. */
export function useOverlap(): { carryOut(change: Change): Promise<void>; question: JSX.Element | undefined } {
	const [asked, setAsked] = useState<{ text: string; change: Change }>();
	const close = () => setAsked(undefined);
	const carryOut = async (change: Change) => {
		try {
			await change({});
		} catch (error) {
			if (!(error instanceof ApiFailure) || error.field !== 'confirm_overlap') throw error;
			setAsked({ text: error.message, change });
		}
	};
	const confirm = async () => {
		await asked?.change({ confirm_overlap: true });
		close();
	};
	const question = asked && (
		<Confirm title="Another site uses these addresses" action="Use them anyway" danger onConfirm={confirm} onClose={close}>
			<p>{asked.text}</p>
		</Confirm>
	);
	return { carryOut, question };
}
