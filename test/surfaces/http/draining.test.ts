import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { HttpAnswer } from '#surfaces/http/message.ts';
import { serve } from './serving.ts';

interface Heard {
	status: number | undefined;
	connection: string | undefined;
	body: string;
}

/** Asks once. @throws the error of the connection */
function ask(port: number, agent: Agent, path: string): Promise<Heard> {
	return new Promise((resolve, reject) => {
		const asking = request({ host: '127.0.0.1', port, path, agent }, (answer) => {
			let body = '';
			answer.on('data', (chunk) => {
				body += chunk;
			});
			answer.on('error', reject);
			answer.on('end', () => resolve({ status: answer.statusCode, connection: answer.headers.connection, body }));
		});
		asking.on('error', reject);
		asking.end();
	});
}

/** Asks again as soon as it has the answer, on one connection that it keeps, until that cannot be had any more. */
async function askOnAndOn(port: number, path: string, heard: Heard[]): Promise<NodeJS.ErrnoException> {
	const agent = new Agent({ keepAlive: true, maxSockets: 1 });
	try {
		for (;;) heard.push(await ask(port, agent, path));
	} catch (error) {
		return error as NodeJS.ErrnoException;
	} finally {
		agent.destroy();
	}
}

async function* pieces(): AsyncGenerator<Uint8Array> {
	for (const text of ['one ', 'two ', 'three']) {
		yield Buffer.from(text);
		await pause(5);
	}
}

const answers: Record<string, { answer: () => HttpAnswer; status: number; body: string }> = {
	'/whole': { answer: () => ({ status: 200, body: 'whole' }), status: 200, body: 'whole' },
	'/none': { answer: () => ({ status: 204 }), status: 204, body: '' },
	'/pieces': { answer: () => ({ status: 200, body: pieces() }), status: 200, body: 'one two three' },
};

describe('a server that drains', () => {
	for (const [path, { answer, status, body }] of Object.entries(answers)) {
		test(`ends while clients that keep their connections send on and on: ${path}`, async () => {
			const handle = async () => {
				// With eight clients there is hardly a moment without a request under way.
				await pause(20);
				return answer();
			};
			const server = await serve([{ method: 'GET', pattern: path, handle }]);
			const heard = Array.from({ length: 8 }, (): Heard[] => []);
			const clients = heard.map((own) => askOnAndOn(server.port, path, own));
			while (heard.some((own) => own.length < 3)) await pause(5);
			// Longer than the test may take: it has to end because nothing is under way.
			await server.close(600_000);
			const ends = await Promise.all(clients);
			for (const [index, own] of heard.entries()) {
				assert.deepEqual(
					own.map((each) => [each.status, each.body]),
					own.map(() => [status, body]),
				);
				const told = own.map(({ connection }) => connection === 'close');
				assert.equal(told.lastIndexOf(true), told.indexOf(true), 'a client was told once');
				// One that was just about to ask again when nothing was under way any more found its connection closed.
				const code = ends[index]?.code;
				if (code === 'ECONNREFUSED') assert.equal(told.at(-1), true, 'a client was told with its last answer');
				else assert.equal(code, 'ECONNRESET');
			}
			assert.ok(
				heard.some((own) => own.at(-1)?.connection === 'close'),
				'clients were told',
			);
		});
	}
});
