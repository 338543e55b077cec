import { connect } from 'node:net';

/** Sends bytes as they are and answers everything that comes back until the server closes or the text is complete. */
export function raw(port: number, text: string | string[], until?: RegExp): Promise<string> {
	return new Promise((resolve, reject) => {
		const socket = connect(port, '127.0.0.1');
		let answer = '';
		socket.setNoDelay(true);
		socket.on('data', (chunk) => {
			answer += chunk.toString('latin1');
			if (until?.test(answer)) socket.destroy();
		});
		socket.on('error', reject);
		socket.on('close', () => resolve(answer));
		const parts = Array.isArray(text) ? text : [text];
		const send = (index: number): void => {
			if (index < parts.length) socket.write(parts[index] as string, () => setImmediate(send, index + 1));
		};
		send(0);
	});
}
