import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { addClient } from '#administration/clients.ts';
import { adt } from '#test/support/adt.ts';
import { eventually, testService } from '#test/support/service.ts';
import { addImagingSite, StorageScu } from '#test/support/storage-scu.ts';

for (const processes of ['1', '2']) {
	test(`a node of ${processes} process(es) leaves others their connections, whatever one address, client or site opens`, async () => {
		await using service = await testService({
			PROCESSES: processes,
			...{ MLLP_ADDRESS_CONNECTIONS_MAX: '6', MLLP_CLIENT_CONNECTIONS_MAX: '4', MLLP_SITE_CONNECTIONS_MAX: '5' },
			...{ DIMSE_CLIENT_ASSOCIATIONS_MAX: '2', DIMSE_SITE_ASSOCIATIONS_MAX: '3' },
		});
		await service.addSite('west', { allowed_ips: ['127.0.0.2', '127.0.0.3'] });
		await addClient(service.administration, {
			...{ site: 'west', name: 'second', protocols: ['hl7-mllp'], allowed_ips: ['127.0.0.4'] },
		});
		await service.addSite('east', { allowed_ips: ['127.0.0.5'] });
		const open = openAt(service.port('mllp'));
		const held: Socket[] = [];
		try {
			for (const from of ['127.0.0.2', '127.0.0.2', '127.0.0.3', '127.0.0.3']) held.push((await open(from)) ?? assert.fail(from));
			assert.equal(await open('127.0.0.3'), undefined, 'the share of the client');
			held.push((await open('127.0.0.4')) ?? assert.fail('another client'));
			assert.equal(await open('127.0.0.4'), undefined, 'the share of the site');
			for (let count = 0; count < 4; count++) held.push((await open('127.0.0.5')) ?? assert.fail('another site'));
			held[0]?.destroy();
			await eventually(async () => (await open('127.0.0.3')) !== undefined, 'room for the client');
			const metrics = await (await fetch(`http://127.0.0.1:${service.port('ops')}/metrics`)).text();
			for (const holder of ['client', 'site'])
				assert.match(metrics, new RegExp(`^tributary_mllp_connections_total\\{result="refused-${holder}-limit"\\} [1-9]`, 'm'));
		} finally {
			for (const socket of held) socket.destroy();
		}
		for (const slug of ['north', 'south']) await addImagingSite(service, slug);
		for (const [slug, calling] of [
			['north', 'CT1'],
			['north', 'CT2'],
			['south', 'CT1'],
		] as const)
			await addClient(service.administration, {
				...{ site: slug, name: calling, protocols: ['dicom'], allowed_ips: ['127.0.0.1'], calling_ae: calling },
			});
		const scus: StorageScu[] = [];
		const associate = async (called: string, calling: string) => {
			scus.push(await StorageScu.open(service.port('dimse'), { called, calling }));
		};
		for (const calling of ['CT1', 'CT1']) await associate('NORTH', calling);
		await assert.rejects(associate('NORTH', 'CT1'), /answered with PDU 3/);
		await associate('NORTH', 'CT2');
		await assert.rejects(associate('NORTH', 'CT2'), /answered with PDU 3/);
		for (const calling of ['CT1', 'CT1']) await associate('SOUTH', calling);
		const metrics = await (await fetch(`http://127.0.0.1:${service.port('ops')}/metrics`)).text();
		for (const holder of ['client', 'site'])
			assert.match(metrics, new RegExp(`^tributary_dimse_association_requests_total\\{result="rejected-${holder}-limit"\\} 1`, 'm'));
		for (const scu of scus) await scu.release();
	});
}

/** Opens MLLP connections from an address of loopback, and answers those that stay open: their message is acknowledged. */
function openAt(port: number): (from: string) => Promise<Socket | undefined> {
	return (from) =>
		new Promise((resolve) => {
			const socket = connect({ port, host: '127.0.0.1', localAddress: from });
			socket.once('data', () => resolve(socket));
			socket.on('error', () => undefined);
			socket.once('close', () => resolve(undefined));
			socket.write(`\x0b${adt('1', 'A', 1)}\x1c\r`);
		});
}
