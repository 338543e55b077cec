import type { ServiceProcess } from '#test/support/service-process.ts';

/** A site for measuring; answers a key of it, which the service knows by then. */
export async function benchKey(service: ServiceProcess): Promise<string> {
	await service.cli('site', 'add', 'bench', '--name', 'Bench');
	await service.cli('user', 'add', 'bench@example.org', '--admin');
	const { stdout } = await service.cli('key', 'create', '--site', 'bench', '--owner', 'bench@example.org', '--json');
	await new Promise((resolve) => setTimeout(resolve, 1000));
	return JSON.parse(stdout).key as string;
}
