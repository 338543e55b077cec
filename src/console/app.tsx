import { Button } from './components/button.tsx';
import { Dialog } from './components/dialog.tsx';
import { Mark } from './components/icon.tsx';
import { Problem } from './components/problem.tsx';
import { Toasts } from './components/toast.tsx';
import { Frame } from './frame/frame.tsx';
import { ChangePassword } from './screens/sign-in/change-password.tsx';
import { SignInAgain } from './screens/sign-in/provider.tsx';
import { SetUpFirst } from './screens/sign-in/second-factor.tsx';
import { SignIn } from './screens/sign-in/sign-in.tsx';
import { resume, session, signOut } from './session.ts';
import { useStore } from './store.ts';

export function App() {
	return (
		<>
			<State />
			<Toasts />
		</>
	);
}

function State() {
	const current = useStore(session);
	switch (current.state) {
		case 'unknown':
			return (
				<div class="splash" role="status">
					<Mark />
					<span class="visually-hidden">Loading…</span>
				</div>
			);
		case 'unreachable':
			return (
				<main class="gate">
					<div class="gate-card">
						<Mark />
						<h1>The console is not connected</h1>
						<Problem failure={current.failure} onRetry={() => void resume()} />
					</div>
				</main>
			);
		case 'signed-out':
			return <SignIn />;
		case 'change-password':
			return <ChangePassword email={current.user.email} typed={current.typed} onLeave={() => void signOut()} />;
		case 'set-second-factor':
			return <SetUpFirst email={current.user.email} onLeave={() => void signOut()} />;
		case 'signed-in':
		case 'ended':
			return (
				<>
					<Frame key={current.user.email} user={current.user} />
					{current.state === 'ended' && (
						<Dialog title="Your session has ended" onClose={undefined} size="small" opaque>
							{current.user.byProvider ? (
								<SignInAgain />
							) : (
								<>
									<p class="prose">Sign in again to continue. You stay on this page and keep what you have typed.</p>
									<SignIn within email={current.user.email} />
								</>
							)}
							<Button kind="quiet" onClick={() => session.set({ state: 'signed-out' })}>
								Sign in as someone else
							</Button>
						</Dialog>
					)}
				</>
			);
	}
}
