import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

function ip(...parameters: string[]): void {
	const { status, stderr, error } = spawnSync('ip', parameters, { encoding: 'utf8' });
	if (status !== 0) throw new Error(`ip ${parameters.join(' ')}: ${error?.message ?? stderr}`);
}

/**
 * Machines of a network that exists on this machine only: a namespace for each, on one bridge. Needs root. A name may have 15 characters with
 * the letters before it, as the kernel asks for links.
 */
export class Network implements Disposable {
	/** The address of this machine in the network. */
	readonly gateway: string;
	readonly cidr: string;
	readonly #bridge: string;
	readonly #prefix: string;
	readonly #machines: string[] = [];

	/** @throws Error where this user may not make networks */
	constructor() {
		// Others may be there, of a cluster that runs or of one that was killed.
		let number = 0;
		while (number < 255 && existsSync(`/sys/class/net/trib${number}br`)) number++;
		this.#prefix = `trib${number}`;
		this.#bridge = `${this.#prefix}br`;
		this.cidr = `10.213.${number}.0/24`;
		this.gateway = `10.213.${number}.1`;
		ip('link', 'add', this.#bridge, 'type', 'bridge');
		ip('addr', 'add', `${this.gateway}/24`, 'dev', this.#bridge);
		ip('link', 'set', this.#bridge, 'up');
	}

	/** Adds a machine; answers the name of its namespace and its address. */
	add(name: string, host: number): { namespace: string; address: string } {
		const namespace = `${this.#prefix}${name}`;
		const address = `${this.gateway.slice(0, -1)}${host}`;
		ip('netns', 'add', namespace);
		this.#machines.push(namespace);
		ip('link', 'add', `${namespace}v`, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace);
		ip('link', 'set', `${namespace}v`, 'master', this.#bridge, 'up');
		ip('-n', namespace, 'addr', 'add', `${address}/24`, 'dev', 'eth0');
		ip('-n', namespace, 'link', 'set', 'eth0', 'up');
		ip('-n', namespace, 'link', 'set', 'lo', 'up');
		return { namespace, address };
	}

	/** Pulls the cable of a machine, or puts it back. */
	link(namespace: string, state: 'up' | 'down'): void {
		ip('link', 'set', `${namespace}v`, state);
	}

	[Symbol.dispose](): void {
		for (const namespace of this.#machines) ip('netns', 'del', namespace);
		ip('link', 'del', this.#bridge);
	}
}
