import { render } from 'preact';

function Console() {
	return (
		<main>
			<h1>Tributary</h1>
		</main>
	);
}

render(<Console />, document.body);
