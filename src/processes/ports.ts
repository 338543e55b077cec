import { createServer, type Server } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { takenPort } from '#core/start-error.ts';
import type { Config } from '../config.ts';

interface WantedPort {
	surface: string;
	host: string;
	port: number;
}

/** The variable that has the port of each address of a surface. */
export const portVariables = {
	fhir: 'FHIR_PORT',
	hl7: 'HL7_PORT',
	mpps: 'MPPS_PORT',
	admin: 'ADMIN_PORT',
	ops: 'OPS_PORT',
	mllp: 'MLLP_PORT',
	mllp_tls: 'MLLP_TLS_PORT',
	dimse: 'DIMSE_PORT',
	dimse_tls: 'DIMSE_TLS_PORT',
} as const satisfies Readonly<Record<string, keyof Config>>;

/** Returns the ports that are chosen. The system chooses a free one for 0. */
function wantedPorts(config: Config): WantedPort[] {
	return Object.entries(portVariables).flatMap(([surface, variable]) => {
		const port = config[variable];
		const host = surface === 'admin' ? config.ADMIN_HOST : surface === 'ops' ? config.OPS_HOST : config.HOST;
		return port === undefined || port === 0 || port === 'off' ? [] : [{ surface, host, port }];
	});
}

/** The time that processes of a node whose parent was killed may take to leave their ports. */
const lastMomentsMs = 2000;

/** The ports of a node of several processes. */
export interface ClaimedPorts {
	release(): Promise<void>;
}

/**
 * Proves that nobody listens on the ports, by listening on all of them alone for a moment. Sockets that share a port would let anybody of the
 * same user in. Two nodes that start at the same time would both pass, so each also holds a name for every port while it runs: an abstract
 * Unix socket, which only one process can have, and which ends with it.
 * @throws StartError
 */
export async function claimPorts(config: Config): Promise<ClaimedPorts> {
	const wanted = wantedPorts(config);
	const names: Server[] = [];
	const release = async () => {
		await Promise.all(names.splice(0).map(closed));
	};
	try {
		for (const port of wanted) names.push(await held(port, { path: `\0tributary ${port.host} ${port.port}` }, 0));
		const alone: Server[] = [];
		try {
			for (const port of wanted) alone.push(await held(port, { host: port.host, port: port.port, exclusive: true }, lastMomentsMs));
		} finally {
			await Promise.all(alone.map(closed));
		}
	} catch (error) {
		await release();
		throw error;
	}
	return { release };
}

type Listened = { path: string } | { host: string; port: number; exclusive: true };

async function held({ surface, host, port }: WantedPort, where: Listened, withinMs: number): Promise<Server> {
	for (let waited = 0; ; waited += 50) {
		try {
			return await listening(where);
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE' && waited < withinMs) await pause(50);
			else throw takenPort(surface, host, port, error);
		}
	}
}

function listening(where: Listened): Promise<Server> {
	return new Promise((resolve, reject) => {
		const server = createServer((socket) => socket.destroy());
		server.once('error', reject);
		server.listen(where, () => resolve(server));
		server.unref();
	});
}

function closed(server: Server): Promise<void> {
	return new Promise((resolve) => server.close(() => resolve()));
}
