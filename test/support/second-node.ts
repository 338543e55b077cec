import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '#core/log.ts';
import { type Node, startNode } from '#processes/start-node.ts';
import { readConfig } from '../../src/config.ts';
import { cheapPasswords } from './cheap-passwords.ts';

const surfaces = ['FHIR', 'HL7', 'MPPS', 'ADMIN', 'OPS', 'MLLP', 'DIMSE'];

/** Starts another node on the database of the environment, of one process, with a data directory of its own, which goes with it. */
export async function secondNode(environment: Record<string, string>): Promise<Node> {
	const dataDir = mkdtempSync(join(tmpdir(), 'tributary-second-node-'));
	const ports = Object.fromEntries(surfaces.map((name) => [`${name}_PORT`, '0']));
	const settings = { DATA_DIR: dataDir, LOG_LEVEL: 'silent', WORKERS: '1', PROCESSES: '1' };
	const node = await startNode(readConfig({ ...ports, ...settings, ...environment }), silentLog, cheapPasswords);
	return {
		...node,
		close: async () => {
			await node.close();
			rmSync(dataDir, { recursive: true, force: true });
		},
	};
}
