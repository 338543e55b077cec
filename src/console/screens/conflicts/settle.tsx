import { Confirm } from '../../components/confirm.tsx';
import { say } from '../../components/toast.tsx';
import { settleConflict } from './calls.ts';

/** The question to a person before a conflict is settled. */
export interface Decision {
	title: string;
	action: string;
	text: string;
}

/** Asks for confirmation and settles the conflict. */
export function Settle({
	id,
	keep,
	decision,
	onClose,
	reload,
}: {
	id: string;
	keep: 'stored' | 'received' | 'split';
	decision: Decision;
	onClose(): void;
	reload(): void;
}) {
	return (
		<Confirm
			title={decision.title}
			action={decision.action}
			onConfirm={async () => {
				await settleConflict({ id, keep });
				say('The conflict is settled.');
				onClose();
				reload();
			}}
			onClose={onClose}
		>
			<p>{decision.text}</p>
		</Confirm>
	);
}
