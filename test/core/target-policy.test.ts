import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { targetPolicy } from '#core/target-policy.ts';

const guarded = [
	...['127.0.0.1', '127.8.9.1', '::1', '::ffff:127.0.0.1', '0.0.0.0', '::', '64:ff9b::7f00:1', '2002:7f00:1::'],
	...['169.254.169.254', '::ffff:169.254.169.254', 'fe80::1', 'fe80::1%eth0', 'fd00:ec2::254', '100.100.100.200', '168.63.129.16'],
	...['224.0.0.1', 'ff02::1', '255.255.255.255', 'not an address'],
];
const others = ['10.1.2.3', '192.168.1.1', '203.0.113.7', '2001:db8::1', '::ffff:10.1.2.3', 'fd12::1', '100.64.0.1'];

describe('the addresses that a remote AE may have', () => {
	test('are all but those of this machine, its link and the metadata of clouds', () => {
		const policy = targetPolicy([], '0.0.0.0');
		for (const address of guarded) assert.equal(policy.permits(address), false, address);
		for (const address of others) assert.equal(policy.permits(address), true, address);
	});

	test('are those of loopback too while the service itself listens there, and none besides', () => {
		for (const host of ['127.0.0.1', '::1', 'localhost']) {
			const policy = targetPolicy([], host);
			for (const address of ['127.0.0.1', '127.8.9.1', '::1', '::ffff:127.0.0.1']) assert.equal(policy.permits(address), true, address);
			for (const address of ['169.254.169.254', 'fe80::1', '0.0.0.0']) assert.equal(policy.permits(address), false, address);
		}
	});

	test('are what ALLOWED_TARGETS says besides, and then nothing of loopback that it does not say', () => {
		const policy = targetPolicy(['127.0.0.2', '169.254.7.0/24'], '127.0.0.1');
		for (const address of ['127.0.0.2', '169.254.7.9', '10.1.2.3']) assert.equal(policy.permits(address), true, address);
		for (const address of ['127.0.0.1', '::1', '169.254.169.254']) assert.equal(policy.permits(address), false, address);
	});
});
