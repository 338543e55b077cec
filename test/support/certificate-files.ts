import { copyFileSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectionOptions, connect } from 'node:tls';

const made = join(import.meta.dirname, '../surfaces/mllp/certificates');

/** The subject of the certificate that the port shows, or the reason why there is no connection. */
export function subjectShown(port: number, options: ConnectionOptions = {}): Promise<string> {
	return new Promise((resolve) => {
		const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options });
		socket.once('secureConnect', () => {
			resolve(`${socket.getPeerX509Certificate()?.subject}`);
			socket.destroy();
		});
		socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
	});
}

/** A certificate and its key where a service reads them, which can be replaced by others. */
export class CertificateFiles implements Disposable {
	readonly #folder = mkdtempSync(join(tmpdir(), 'tributary-certificates-'));

	/** Has CN=server.test at first. */
	constructor() {
		this.use('server');
	}

	get variables(): { TLS_CERT_FILE: string; TLS_KEY_FILE: string } {
		return { TLS_CERT_FILE: join(this.#folder, 'used.cert.pem'), TLS_KEY_FILE: join(this.#folder, 'used.key.pem') };
	}

	use(name: 'server' | 'client'): void {
		for (const kind of ['key', 'cert']) {
			const next = join(this.#folder, `next.${kind}.pem`);
			copyFileSync(join(made, `${name}.${kind}.pem`), next);
			renameSync(next, join(this.#folder, `used.${kind}.pem`));
		}
	}

	[Symbol.dispose](): void {
		rmSync(this.#folder, { recursive: true, force: true });
	}
}
