import { pathToFileURL } from 'node:url';
import { freePort } from './free-port.ts';
import { peerPath, requirePeer } from './installed.ts';

/** A receiver of HL7 messages made of a peer, in a process of its own: it answers AA and keeps nothing. Prints its port. */

interface MedplumConnection {
	addEventListener(kind: 'message', heard: (event: { message: { buildAck(): unknown } }) => void): void;
	send(answer: unknown): void;
}
interface MedplumLibrary {
	Hl7Server: new (handle: (connection: MedplumConnection) => void) => { start(port: number): Promise<void> };
}
interface SimpleLibrary {
	tcp(): { use(handle: (request: unknown, response: { end(): void }) => void): void; start(port: number): void };
}

const [, , name = ''] = process.argv;
const port = await freePort();
if (name === 'simple-hl7') {
	const app = (requirePeer(name) as SimpleLibrary).tcp();
	app.use((_request, response) => response.end());
	app.start(port);
} else if (name === '@medplum/hl7') {
	const { Hl7Server } = (await import(pathToFileURL(peerPath(name) ?? '').href)) as MedplumLibrary;
	await new Hl7Server((connection) => {
		connection.addEventListener('message', ({ message }) => connection.send(message.buildAck()));
	}).start(port);
} else throw new Error(`there is no peer ${name}`);
process.stdout.write(`${port}\n`);
