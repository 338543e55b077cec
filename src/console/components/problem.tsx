import type { ApiFailure } from '../api.ts';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';

/** Shows an error in place of the answer. */
export function Problem({ failure, onRetry }: { failure: Pick<ApiFailure, 'message'>; onRetry?: () => void }) {
	return (
		<div class="problem" role="alert">
			<Icon name="failures" />
			<p>{failure.message}</p>
			{onRetry && (
				<Button icon="refresh" onClick={onRetry}>
					Try again
				</Button>
			)}
		</div>
	);
}
