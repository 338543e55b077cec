import { Component, type ComponentChildren } from 'preact';
import { Button } from '../components/button.tsx';
import { Problem } from '../components/problem.tsx';

/** Contains the failure of one screen. */
export class Boundary extends Component<{ children: ComponentChildren }, { failed: boolean }> {
	override state = { failed: false };

	static override getDerivedStateFromError() {
		return { failed: true };
	}

	override componentDidCatch(error: unknown): void {
		reportError(error);
	}

	override render() {
		if (!this.state.failed) return this.props.children;
		return (
			<div class="failed">
				<h1 tabIndex={-1}>This screen has failed</h1>
				<Problem failure={{ message: 'Something went wrong on this screen. The other screens still work.' }} />
				<Button icon="refresh" onClick={() => location.reload()}>
					Reload the page
				</Button>
			</div>
		);
	}
}
